// Sums of exp(score) for scores of any size.
#pragma once

#include <cmath>
#include <limits>

namespace plackett {

// The sum of exp(score) over some documents, kept as sum * exp(shift), where shift is one of
// the scores: nothing overflows, vanishes or cancels, however far the scores lie apart.
struct Mass {
  double shift = -std::numeric_limits<double>::infinity();  // one of the scores
  double sum = 0;                                           // of exp(score - shift)

  // Whether no score was added.
  [[nodiscard]] bool empty() const { return sum == 0; }

  // One document more. Requires: a finite score.
  void add(double score) {
    if (score <= shift) {
      sum += std::exp(score - shift);
    } else {
      sum = empty() ? 1.0 : sum * std::exp(shift - score) + 1.0;
      shift = score;
    }
  }

  // log of the sum. Requires: !empty().
  [[nodiscard]] double log() const { return shift + std::log(sum); }
};

}  // namespace plackett
