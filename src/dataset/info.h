// What a split holds, in a few numbers, for a person.
#pragma once

#include <cstdint>
#include <vector>

#include "plackett/dataset.h"

namespace plackett {

struct SplitInfo {
  std::uint32_t queries = 0;
  std::uint64_t documents = 0;
  // Documents a query; the median of an even number of queries is the mean of the middle two.
  std::uint32_t min_docs = 0;
  double median_docs = 0;
  std::uint32_t max_docs = 0;
  std::uint32_t queries_without_relevant = 0;  // whose labels are all 0
  std::vector<std::uint64_t> label_counts;     // of label 0, 1, ..., at least up to max_label
};

// Cost: one pass over the labels.
SplitInfo describe(const Split& split, std::uint32_t max_label);

}  // namespace plackett
