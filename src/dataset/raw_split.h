// Unscaled documents by query: what parsed text and the generator have in common, and what
// build_fold turns into a Split.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/index.h"

namespace plackett {

// Where each source feature goes: columns[id - 1] is its column, or kDropped. Ids beyond the
// end are dropped too.
inline constexpr std::uint32_t kDropped = ~std::uint32_t{0};
using ColumnMap = std::vector<std::uint32_t>;

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

}  // namespace plackett
