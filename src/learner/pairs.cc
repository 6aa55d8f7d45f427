#include "plackett/pairs.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"
#include "sampling/swap_odds.h"

namespace plackett {
std::uint32_t seen_places(std::span<const std::uint8_t> clicks) {
  const auto shown = static_cast<std::uint32_t>(clicks.size());
  std::uint32_t after_last_click = shown;
  while (after_last_click > 0 && clicks[after_last_click - 1] == 0) --after_last_click;
  return after_last_click == 0 ? 0 : std::min(after_last_click + 1, shown);
}

std::span<const WeightedPair> PairInference::infer(const Ranking& ranking,
                                                   std::span<const std::uint8_t> clicks,
                                                   const std::function<bool()>* stop) {
  assert(clicks.size() == ranking.shown.size() && clicks.size() == ranking.scores.size());
  pairs_.clear();
  ratios_.clear();
  const std::uint32_t seen = seen_places(clicks);
  if (seen == 0) return {};
  odds_.reset(ranking.scores, ranking.rest);
  for (std::uint32_t winner = 0; winner < seen; ++winner) {
    if (clicks[winner] == 0) continue;
    if (stop != nullptr && (*stop)()) break;
    const std::uint32_t end = rules_.kind == PairKind::kAbove ? winner : seen;
    for (std::uint32_t loser = 0; loser < end; ++loser) {
      if (clicks[loser] != 0) continue;
      const double difference = ranking.scores[winner] - ranking.scores[loser];
      ratios_.push_back(-std::abs(difference / rules_.sharpness));
      pairs_.push_back({winner, loser, odds_.rho(winner, loser)});
    }
  }
  kernels().exp_each(ratios_.data(), ratios_.size());
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    pairs_[at].weight = pairs_[at].rho * swap_odds::pair_gradient(ratios_[at]);
  }
  return pairs_;
}

void sum_by_rank(std::span<const WeightedPair> pairs, std::span<double> rank_weights) {
  std::fill(rank_weights.begin(), rank_weights.end(), 0.0);
  for (const WeightedPair& pair : pairs) {
    rank_weights[pair.winner_rank] += pair.weight;
    rank_weights[pair.loser_rank] -= pair.weight;
  }
}

}  // namespace plackett
