// Pairwise Differentiable Gradient Descent (paper, algorithm 1), for any ranker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learner/learner.h"
#include "learner/pairs.h"
#include "sampling/plackett_luce.h"

namespace plackett {

struct PdgdOptions {
  double learning_rate = 0.1;        // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k: documents shown, fewer where there are fewer
};

class Pdgd final : public Learner {
 public:
  Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options);

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  [[nodiscard]] LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override { state_ = state; }

 private:
  std::unique_ptr<Ranker> ranker_;
  PdgdOptions options_;
  LearnerState state_;
  PairInference inference_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> rank_weights_;
  std::vector<DocWeight> doc_weights_;
};

}  // namespace plackett
