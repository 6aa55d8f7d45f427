// Probabilistic multileaving (Oosterhuis, Schuth, de Rijke, "Probabilistic Multileave Gradient
// Descent", ECIR 2016): each ranker is a distribution over documents, its document at rank r in
// proportion to 1 / r^3; each place is drawn from the mean of these distributions over the
// documents not yet placed. A click is then due to each of the rankers with a known probability.
#pragma once

#include <memory>

#include "sampling/click_credit.h"
#include "sampling/multileaving.h"
#include "sampling/random_ranks.h"

namespace plackett {

class ProbabilisticMultileaving final : public Multileaving {
 public:
  // The outcome of duels whose expected sign is 0 or nearly 0.
  enum class Ties : std::uint8_t {
    kLost,      // the candidate must be ahead
    kByChance,  // as an estimate from SampledCredit::kSamples samples decides
  };

  explicit ProbabilisticMultileaving(Ties ties) : ties_(ties) {}
  [[nodiscard]] Ties ties() const { return ties_; }

  void show(const ScoreTable& scores, Rng& rng, std::span<Doc> shown) override;
  std::span<const Duel> judge(std::span<const std::uint8_t> clicks, Rng& rng) override;

  // P(ranker | the document shown at `rank`), of the list shown last.
  [[nodiscard]] double credit(std::uint32_t rank, std::uint32_t ranker) const {
    return credits_[rank * rankers_ + ranker];
  }

 private:
  Ties ties_;
  std::uint32_t rankers_ = 0;
  RandomRanks ranks_;
  AlignedVector<float> weights_;    // [ranker][stride]: 1 / rank^3, 0 beyond the documents
  std::vector<const float*> rows_;  // of weights_
  AlignedVector<float> unplaced_;   // per document: 1, or 0 once placed
  AlignedVector<float> chances_;    // per document, at the next place, times `rankers`
  std::vector<float> totals_;       // per ranker: its weight of the unplaced documents
  std::vector<float> scales_;       // 1 / that
  std::vector<double> credits_;     // [rank][ranker]

  ClickCredit exact_;
  SampledCredit sampled_;
  std::vector<std::uint32_t> clicked_;  // ranks
  std::vector<double> to_current_;
  std::vector<double> to_candidate_;
  std::vector<Duel> duels_;
};

}  // namespace plackett
