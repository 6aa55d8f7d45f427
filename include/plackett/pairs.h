// From clicks to weighted preferences between shown documents (paper, section 3.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranking.h"

namespace plackett {

// How many places from the top the user is taken to have seen: all up to the last click, and one
// more. 0 where nothing was clicked.
PLACKETT_EXPORT std::uint32_t seen_places(std::span<const std::uint8_t> clicks);

// An inferred preference: the document at winner_rank over the one at loser_rank.
struct WeightedPair {
  std::uint32_t winner_rank = 0;  // clicked
  std::uint32_t loser_rank = 0;   // seen, not clicked
  double rho = 0;                 // what makes it unbiased (eq. 5)
  double weight = 0;  // rho times the gradient of the pair's probability (algorithm 1, line 9)
};

// Turns clicks into pairs. Reuses its memory: no allocation once it has met a list as long.
class PLACKETT_EXPORT PairInference {
 public:
  // Every clicked document is preferred to every unclicked one that the user is taken to have
  // seen: those above the last click, and the first below it. By winner, then by loser.
  // Requires: clicks.size() == ranking.shown.size() == ranking.scores.size(). The result is
  // valid until the next call. Cost: O(clicked x unclicked x seen), which is cubic in the shown
  // documents where half of them are clicked.
  std::span<const WeightedPair> infer(const Ranking& ranking, std::span<const std::uint8_t> clicks);

 private:
  SwapOdds odds_;
  std::vector<WeightedPair> pairs_;
};

// The pairs' weights summed for each shown rank: plus for winners, minus for losers.
// Requires: rank_weights.size() is the shown list's length.
PLACKETT_EXPORT void sum_by_rank(std::span<const WeightedPair> pairs,
                                 std::span<double> rank_weights);

}  // namespace plackett
