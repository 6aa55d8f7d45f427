// LETOR text: any bytes parse or fail, and do the same however the text is cut and however many
// threads parse it.
#include <algorithm>
#include <cmath>
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

// What a text may hold besides documents with labels and values in range.
struct Allowed {
  plackett::OutOfRange out_of_range;
  plackett::Unlabelled unlabelled;
};

plackett::Result<std::unique_ptr<LetorText>> parse(std::string_view text, const Allowed& allowed,
                                                   unsigned threads, std::size_t chunk_bytes) {
  plackett::LetorOptions options;
  options.path = "input";
  options.max_feature_id = kMostFeatures;
  options.out_of_range = allowed.out_of_range;
  options.unlabelled = allowed.unlabelled;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  return plackett::parse_letor(text, options);
}

void require_same_changes(const LetorText& left, const LetorText& right) {
  require(left.unlabelled_documents() == right.unlabelled_documents());
  require(left.unlabelled_queries() == right.unlabelled_queries());
  require(left.unlabelled_queries() <= left.unlabelled_documents());
  require(left.out_of_range().size() == right.out_of_range().size());
  for (std::size_t feature = 0; feature < left.out_of_range().size(); ++feature) {
    const auto& one = left.out_of_range()[feature];
    const auto& other = right.out_of_range()[feature];
    require(one.count == other.count && one.first_line == other.first_line);
    require((one.count > 0) == (one.first_line > 0));
  }
}

void require_same_ids(const LetorText& left, const LetorText& right) {
  require(left.has_doc_ids() == right.has_doc_ids());
  bool any = false;
  for (std::uint64_t doc = 0; doc < left.query_begin().back(); ++doc) {
    const std::string_view id = left.doc_id(doc);
    require(id == right.doc_id(doc));
    require(std::all_of(id.begin(), id.end(), plackett::is_doc_id_byte));
    any = any || !id.empty();
  }
  require(any == left.has_doc_ids());
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
    for (const float value : rows[0]) require(std::isfinite(value));
    require(rows[0].empty() ||
            std::memcmp(rows[0].data(), rows[1].data(), rows[0].size() * sizeof(float)) == 0);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMostBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using plackett::OutOfRange;
  using plackett::Unlabelled;
  for (const Allowed& allowed : {Allowed{OutOfRange::kRefuse, Unlabelled::kRefuse},
                                 Allowed{OutOfRange::kClamp, Unlabelled::kSkip},
                                 Allowed{OutOfRange::kMissing, Unlabelled::kSkip}}) {
    const auto whole = parse(text, allowed, 1, std::size_t{4} << 20);
    for (const auto& [threads, chunk_bytes] : {std::pair{1U, 1}, std::pair{3U, 24}}) {
      const auto pieces = parse(text, allowed, threads, static_cast<std::size_t>(chunk_bytes));
      require(whole.ok() == pieces.ok());
      if (whole.ok()) {
        require_same_documents(**whole, **pieces);
        require_same_ids(**whole, **pieces);
        require_same_changes(**whole, **pieces);
      } else {
        require(whole.error().message == pieces.error().message);
      }
    }
  }
  return 0;
}
