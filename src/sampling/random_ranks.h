// The ranks that scores give to documents, equal scores in random order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "plackett/rng.h"

namespace plackett {

class RandomRanks {
 public:
  // ranks[doc] counts from 0, best score first. `scores` is a row of a ScoreTable: finite, and
  // followed by +infinity up to a multiple of kLanes. The result has that length and is valid until
  // the next call. Draws from `rng` only if scores are equal, uniformly over their orders. Cost:
  // O(docs^2 / kLanes).
  std::span<std::uint32_t> rank(std::span<const float> scores, Rng& rng);

 private:
  void order_equals(std::size_t docs, Rng& rng);

  AlignedVector<std::uint32_t> ranks_;
  std::vector<std::uint32_t> first_;  // of the documents at a rank; next_ leads to the others
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> equals_;
};

}  // namespace plackett
