// LETOR text: any bytes parse or fail, and do the same however the text is cut and however many
// threads parse it.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "dataset/letor_parser.h"

namespace {

using plackett::LetorText;

// Rows are dense and there may be as many pieces as lines: both are kept small.
constexpr std::size_t kMostBytes = 4096;
constexpr std::uint32_t kMostFeatures = 200;

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
bool same(std::span<const T> left, std::span<const T> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

plackett::Result<std::unique_ptr<LetorText>> parse(std::string_view text, unsigned threads,
                                                   std::size_t chunk_bytes) {
  plackett::LetorOptions options;
  options.path = "input";
  options.max_feature_id = kMostFeatures;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  return plackett::parse_letor(text, options);
}

void require_same_documents(const LetorText& left, const LetorText& right) {
  require(same(left.query_begin(), right.query_begin()));
  require(same(left.query_ids(), right.query_ids()));
  require(left.max_id() == right.max_id());
  require(left.varying(1) == right.varying(2));
  const std::uint32_t width = left.max_id();
  plackett::ColumnMap columns(width);
  for (std::uint32_t feature = 0; feature < width; ++feature) columns[feature] = feature;
  for (std::uint32_t query = 0; query + 1 < left.query_begin().size(); ++query) {
    const std::uint64_t docs = left.query_begin()[query + 1] - left.query_begin()[query];
    require(docs > 0);
    std::vector<float> rows[2];
    std::vector<std::uint8_t> labels[2];
    for (const int side : {0, 1}) {
      rows[side].resize(docs * width);
      labels[side].resize(docs);
      (side == 0 ? left : right)
          .fill(plackett::Query{query}, columns, {rows[side].data(), width, labels[side].data()});
    }
    require(labels[0] == labels[1]);
    require(rows[0].empty() ||
            std::memcmp(rows[0].data(), rows[1].data(), rows[0].size() * sizeof(float)) == 0);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = parse(text, 1, std::size_t{4} << 20);
  for (const auto& [threads, chunk_bytes] : {std::pair{1U, 1}, std::pair{3U, 24}}) {
    const auto pieces = parse(text, threads, static_cast<std::size_t>(chunk_bytes));
    require(whole.ok() == pieces.ok());
    if (whole.ok()) {
      require_same_documents(**whole, **pieces);
    } else {
      require(whole.error().message == pieces.error().message);
    }
  }
  return 0;
}
