// The LETOR parser on any bytes: it gives documents or an error with a line, the same for one
// thread and for small pieces. Bytes that begin as gzip does go through the unpacker first.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "dataset/letor_files.h"
#include "dataset/letor_parser.h"

namespace {

using namespace plackett;

// Aborts, so that the fuzzer sees it in any build.
void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::uint32_t kMaxFeatureId = 300;

void read_all(const LetorText& text) {
  ColumnMap columns(text.max_id());
  for (std::uint32_t feature = 0; feature < columns.size(); ++feature) columns[feature] = feature;
  require(text.max_id() <= kMaxFeatureId);
  require(text.varying(1).size() == text.max_id());
  const auto begin = text.query_begin();
  const std::uint32_t stride = std::max(text.max_id(), 1U);
  std::vector<float> rows;
  std::vector<std::uint8_t> labels;
  for (std::uint32_t query = 0; query + 1 < begin.size(); ++query) {
    require(begin[query] < begin[query + 1]);
    rows.assign((begin[query + 1] - begin[query]) * stride, 0.0F);
    labels.assign(begin[query + 1] - begin[query], 0);
    text.fill(Query{query}, columns, {rows.data(), stride, labels.data()});
    for (const float value : rows) require(std::isfinite(value));
    for (const std::uint8_t label : labels) require(label <= 31);
  }
}

void parse(std::string_view text) {
  LetorOptions whole{.path = "text", .max_feature_id = kMaxFeatureId};
  LetorOptions pieces = whole;
  pieces.chunk_bytes = 16;
  const auto once = parse_letor(text, whole);
  const auto again = parse_letor(text, pieces);
  require(once.ok() == again.ok());
  if (!once) {
    require(once.error().message == again.error().message);
    require(once.error().message.starts_with("text:"));
    return;
  }
  read_all(**once);
  read_all(**again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("\x1f\x8b")) {
    const auto unpacked = unpack_gzip(std::as_bytes(std::span(data, size)), "text.gz");
    if (unpacked && unpacked->size() < (1U << 20)) parse(*unpacked);
    return 0;
  }
  parse(text);
  return 0;
}
