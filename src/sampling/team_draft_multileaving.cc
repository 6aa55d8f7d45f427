#include "sampling/team_draft_multileaving.h"

#include <cassert>
#include <numeric>
#include <utility>

namespace plackett {

void TeamDraftMultileaving::show(const ScoreTable& scores, Rng& rng, std::span<Doc> shown) {
  assert(!shown.empty() && shown.size() <= scores.docs() && scores.rankers() >= 2);
  rankers_ = scores.rankers();
  const std::uint32_t docs = scores.docs();
  if (best_first_.size() < std::size_t{rankers_} * docs) {
    best_first_.resize(std::size_t{rankers_} * docs);
  }
  order_.resize(rankers_);
  std::iota(order_.begin(), order_.end(), 0U);
  drafted_.assign(rankers_, 0);
  next_.assign(rankers_, 0);
  placed_.assign(docs, 0);
  owner_.resize(shown.size());

  std::uint32_t turn = 0;
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    // One draw per turn: which of the rankers that had no turn in this round is next.
    std::swap(order_[turn], order_[turn + rng.below(rankers_ - turn)]);
    const std::uint32_t ranker = order_[turn];
    Doc* const best_first = best_first_.data() + std::size_t{ranker} * docs;
    if (drafted_[ranker] == 0) {
      drafted_[ranker] = 1;
      const auto ranks = ranks_.rank(scores.row(ranker), rng);
      for (std::uint32_t doc = 0; doc < docs; ++doc) best_first[ranks[doc]] = Doc{doc};
    }
    while (placed_[index(best_first[next_[ranker]])] != 0) ++next_[ranker];
    shown[rank] = best_first[next_[ranker]];
    placed_[index(shown[rank])] = 1;
    owner_[rank] = ranker;
    turn = (turn + 1) % rankers_;
  }
}

std::span<const Duel> TeamDraftMultileaving::judge(std::span<const std::uint8_t> clicks,
                                                   Rng& /*rng*/) {
  credit_.assign(rankers_, 0);
  for (std::size_t rank = 0; rank < clicks.size(); ++rank) credit_[owner_[rank]] += clicks[rank];
  duels_.assign(rankers_ - 1, {});
  for (std::uint32_t ranker = 1; ranker < rankers_; ++ranker) {
    Duel& duel = duels_[ranker - 1];
    duel.won = credit_[ranker] > credit_[0];
    duel.expected = duel.won ? 1.0 : (credit_[ranker] < credit_[0] ? -1.0 : 0.0);
  }
  return duels_;
}

}  // namespace plackett
