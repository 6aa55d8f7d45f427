// Raw documents -> a fold: features chosen by the training file, values scaled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/dataset.h"
#include "plackett/index.h"
#include "plackett/result.h"

namespace plackett {

// Where each source feature goes: columns[id - 1] is its column, or kDropped. Ids beyond the
// end are dropped too.
inline constexpr std::uint32_t kDropped = ~std::uint32_t{0};
using ColumnMap = std::vector<std::uint32_t>;

// Unscaled documents by query: what parsed text and the generator have in common.
class RawSplit {
 public:
  RawSplit() = default;
  RawSplit(const RawSplit&) = delete;
  RawSplit& operator=(const RawSplit&) = delete;
  virtual ~RawSplit() = default;

  // Query q's documents are [query_begin()[q], query_begin()[q + 1]); never empty.
  [[nodiscard]] virtual std::span<const std::uint64_t> query_begin() const = 0;

  // The largest feature id in it; 0 if no document has a feature.
  [[nodiscard]] virtual std::uint32_t max_id() const = 0;

  // For each id from 1 to max_id(), whether two documents differ in it. A missing value counts as
  // 0.
  [[nodiscard]] virtual std::vector<bool> varying(unsigned threads) const = 0;

  // The source's id of each query, in order; empty if it has none.
  [[nodiscard]] virtual std::span<const std::uint64_t> query_ids() const { return {}; }

  // Whether any document has an id in the source.
  [[nodiscard]] virtual bool has_doc_ids() const { return false; }
  // A document's, by its place in query_begin()'s order; empty if it has none.
  [[nodiscard]] virtual std::string_view doc_id(std::uint64_t /*doc*/) const { return {}; }

  // One query's rows, `stride` floats apart, and labels. Writes only the columns that its
  // documents have. Safe from any number of threads at once.
  // Requires: rows zeroed; columns below stride.
  struct Target {
    float* rows = nullptr;
    std::uint32_t stride = 0;
    std::uint8_t* labels = nullptr;
  };
  virtual void fill(Query query, const ColumnMap& columns, const Target& target) const = 0;
};

struct RawFold {
  std::string name;
  std::string place;  // named in errors: the training file
  std::unique_ptr<const RawSplit> train = {}, validation = {}, test = {};  // null: none
  LoadChanges changes = {};

  // The largest feature id in any of them.
  [[nodiscard]] std::uint32_t max_id() const;
};

// `source_feature_count` is the largest id of the dataset, as far as it is known; it matters only
// if constant features are kept. constant_feature_ids goes up to the larger of it and the files'
// own largest id. Requires: train and test.
Result<Fold> build_fold(const RawFold& raw, const LoadOptions& options,
                        std::uint32_t source_feature_count);

// Floats, all 0, at a 64-byte boundary. Large buffers use huge pages if the system has them, since
// a learner jumps between queries all over the rows.
Result<std::shared_ptr<float>> zeroed_rows(std::size_t size);

// Train, validation if there is one, and test. Valid as long as the fold.
std::vector<std::pair<std::string_view, const Split*>> splits_of(const Fold& fold);

// Requires: the split has documents.
std::uint32_t largest_label(const Split& split);

// Why these can't be feature ids, or an empty string.
std::string ids_complaint(std::vector<std::uint32_t> ids);

// Why this can't be a split's query_begin, or an empty string.
std::string queries_complaint(std::span<const std::uint64_t> query_begin);

// What a document's id is made of: no blanks, no control characters.
constexpr bool is_doc_id_byte(char byte) { return static_cast<unsigned char>(byte) > ' '; }

// Why these can't be the ids of a split's documents, or an empty string. Requires: `begin` is not
// empty.
std::string doc_ids_complaint(std::span<const std::uint64_t> begin, std::string_view ids);

}  // namespace plackett
