// From clicks to weighted preferences between shown documents (paper, section 3.1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/plackett_luce.h"
#include "plackett/ranking.h"

namespace plackett {

// How many places from the top the user is assumed to have seen: all up to the last click, and one
// more. 0 if nothing was clicked.
PLACKETT_EXPORT std::uint32_t seen_places(std::span<const std::uint8_t> clicks);

// An inferred preference: the document at winner_rank over the one at loser_rank.
struct WeightedPair {
  std::uint32_t winner_rank = 0;  // clicked
  std::uint32_t loser_rank = 0;   // seen, not clicked
  double rho = 0;                 // what makes it unbiased (eq. 5)
  double weight = 0;  // rho times the gradient of the pair's probability (algorithm 1, line 9)
};

// Which unclicked documents a clicked one is preferred to.
enum class PairKind : std::uint8_t {
  kSeen = 0,   // those above the last click, and the first below it (the paper's)
  kAbove = 1,  // those above the clicked one
};

// How clicks become pairs.
struct PairRules {
  PairKind kind = PairKind::kSeen;  // which are inferred
  // Above 1: a pair's gradient is taken at the difference of its scores divided by this, so pairs
  // that the list already orders well still count. rho is always that of the shown list.
  double sharpness = 1;
};

// Turns clicks into pairs. Allocates only for a longer list than ever before.
class PLACKETT_EXPORT PairInference {
 public:
  // By the paper's rules, or others. Requires: sharpness > 0.
  explicit PairInference(const PairRules& rules = {}) : rules_(rules) {}

  // Every clicked document is preferred to every unclicked one that the user is assumed to have
  // seen: those above the last click, and the first below it. Ordered by winner, then by loser.
  // Requires: clicks.size() == ranking.shown.size() == ranking.scores.size(). The result is
  // valid until the next call. Cost: O(clicked x unclicked x seen), which is cubic in the shown
  // documents if half of them are clicked. `stop` is asked before each clicked document; once it
  // returns true, the pairs so far are returned.
  std::span<const WeightedPair> infer(const Ranking& ranking, std::span<const std::uint8_t> clicks,
                                      const std::function<bool()>* stop = nullptr);

 private:
  PairRules rules_;
  SwapOdds odds_;
  std::vector<WeightedPair> pairs_;
  std::vector<double> ratios_;  // exp of minus each pair's difference of scores
};

// The pairs' weights summed per shown rank: plus for winners, minus for losers.
// Requires: rank_weights.size() is the shown list's length.
PLACKETT_EXPORT void sum_by_rank(std::span<const WeightedPair> pairs,
                                 std::span<double> rank_weights);

}  // namespace plackett
