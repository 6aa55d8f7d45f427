// What a dataset consists of, counted.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset/dataset.h"

namespace plackett {

struct SplitInfo {
  std::uint32_t queries = 0;
  std::uint64_t docs = 0;
  std::uint32_t features = 0;
  std::vector<std::uint64_t> docs_of_label;  // by label, from 0 to the dataset's highest
  std::uint32_t min_docs = 0;                // documents a query
  double median_docs = 0;
  std::uint32_t max_docs = 0;
  std::uint32_t queries_without_relevant = 0;  // all labels 0
};

// Requires: max_label at least the split's highest. Cost: a pass over the labels.
SplitInfo summarise(const Split& split, std::uint32_t max_label);

}  // namespace plackett
