// Team-draft multileaving (Schuth et al., "Multileaved Comparisons for Fast Online Evaluation",
// CIKM 2014; with one candidate it is Radlinski's team-draft interleaving): in each round the
// rankers, in random order, each add their best document that is not yet placed, and own the
// clicks on it.
#pragma once

#include "sampling/multileaving.h"
#include "sampling/random_ranks.h"

namespace plackett {

class TeamDraftMultileaving final : public Multileaving {
 public:
  void show(const ScoreTable& scores, Rng& rng, std::span<Doc> shown) override;
  // Credit is certain here: `expected` is the sign itself, and nothing is drawn.
  std::span<const Duel> judge(std::span<const std::uint8_t> clicks, Rng& rng) override;

  // Per rank of the list shown last, the ranker that added its document.
  [[nodiscard]] std::span<const std::uint32_t> owners() const { return owner_; }

 private:
  std::uint32_t rankers_ = 0;
  RandomRanks ranks_;
  std::vector<std::uint32_t> order_;   // of the rankers in a round
  std::vector<Doc> best_first_;        // [ranker][doc], of rankers that had a turn
  std::vector<std::uint8_t> drafted_;  // per ranker: whether it had a turn
  std::vector<std::uint32_t> next_;    // per ranker: its first document that may be unplaced
  std::vector<std::uint8_t> placed_;   // per document
  std::vector<std::uint32_t> owner_;   // per rank
  std::vector<std::uint32_t> credit_;  // per ranker
  std::vector<Duel> duels_;
};

}  // namespace plackett
