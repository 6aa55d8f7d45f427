// Files of observed orders: any bytes are read or refused with a line and a reason, and lists that
// are read hold what the fit counts on.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apps/plackett/order_file.h"

namespace {

using namespace plackett;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void require_sound(const ObservedOrders& orders) {
  require(orders.size() > 0 && orders.feature_count() > 0);
  for (std::size_t list = 0; list < orders.size(); ++list) {
    const FeatureView docs = orders.docs(list);
    require(docs.doc_count() > 0 && docs.feature_count() == orders.feature_count());
    require(orders.shown(list) > 0 && orders.shown(list) <= docs.doc_count());
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      for (const float value : docs.row(Doc{doc})) require(std::isfinite(value));
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plain = command::parse_orders(text, "input", Scaling::kNone);
  const auto scaled = command::parse_orders(text, "input", Scaling::kQueryMinMax);
  require(plain.ok() == scaled.ok());
  if (plain) {
    require_sound(*plain);
    require_sound(*scaled);
    require(plain->size() == scaled->size());
  } else {
    require(plain.error().message.starts_with("input:"));
    require(plain.error().message == scaled.error().message);
  }
  return 0;
}
