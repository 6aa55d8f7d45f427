// Orders for off-policy evaluation: any bytes are read or refused with a line and a reason, and
// what is chosen for a list are its own candidates, each once.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "serving/order_policy.h"

namespace {

using namespace plackett;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = serving::parse_order_policy(text, "input");
  if (!policy) {
    require(policy.error().message.starts_with("input:"));
    return 0;
  }
  const std::vector<std::string_view> ids{"a", "b", "c"};
  const std::vector<std::uint8_t> pinned{0, 0};
  LoggedList list;
  list.name = "i-1";
  list.ids = ids;
  list.pinned = pinned;
  PolicyChoice choice;
  if (!(*policy)->choose(list, choice)) return 0;
  std::set<Doc> seen;
  for (const Doc doc : choice.order) require(index(doc) < ids.size() && seen.insert(doc).second);
  require(!choice.sampled && seen.size() >= pinned.size());
  return 0;
}
