// The Plackett-Luce distribution over rankings (paper, eq. 1 and 2): each place goes to one of
// the documents still unplaced in proportion to exp(score). And rho (eq. 5), which makes
// preferences inferred from such rankings unbiased.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/index.h"
#include "plackett/mass.h"
#include "plackett/rng.h"

namespace plackett {

// Scratch of sampling. Grows to the largest candidate set.
struct SamplingScratch {
  std::vector<double> masses = {};      // exp(score - highest); 0 once drawn
  std::vector<double> block_sums = {};  // each of 16 masses
};

// Draws ranking.size() documents without replacement and returns the mass of those not drawn.
// Requires: scores finite; 0 < ranking.size() <= scores.size().
// Cost: O(n + k n / 16); allocates only if `scratch` never saw as many documents. Draws one
// uniform per place; deterministic in `rng`.
PLACKETT_EXPORT Mass sample_ranking(std::span<const float> scores, Rng& rng,
                                    SamplingScratch& scratch, std::span<Doc> ranking);

// The mass of the documents not shown. O(n + k).
// Requires: shown holds distinct docs of `scores`.
PLACKETT_EXPORT Mass rest_mass(std::span<const double> scores, std::span<const Doc> shown);

// log P(R): shown_scores in shown order, `rest` the mass of the documents not shown. O(k).
PLACKETT_EXPORT double log_probability(std::span<const double> shown_scores, const Mass& rest);

// rho for pairs of ranks of one shown list. Swapping two documents changes only the
// denominators between their places, so a pair costs O(distance) after O(k) set-up. Keeps no
// references; reset() starts another list and reuses the memory.
class PLACKETT_EXPORT SwapOdds {
 public:
  // Requires: finite scores, not empty.
  void reset(std::span<const double> shown_scores, const Mass& rest);

  // P(R*) / (P(R) + P(R*)), where R* has the documents at the two ranks swapped. Symmetric in
  // its arguments, and in [0, 1].
  [[nodiscard]] double rho(std::uint32_t rank, std::uint32_t other_rank) const;

 private:
  std::vector<double> scores_;
  std::vector<Mass> from_;          // from_[rank]: mass of that rank, all below and the rest
  std::vector<double> plain_;       // exp(score - reference), if no product leaves double's range
  std::vector<double> plain_from_;  // from_ on that scale
  bool plain_in_range_ = false;
};

}  // namespace plackett
