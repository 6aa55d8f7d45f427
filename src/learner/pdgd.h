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
  // What besides the ranker's parameters changes as it learns.
  struct State {
    double learning_rate = 0;
    std::uint64_t updates = 0;
  };

  Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options);

  void rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  [[nodiscard]] const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

 private:
  std::unique_ptr<Ranker> ranker_;
  PdgdOptions options_;
  State state_;
  PairInference inference_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> rank_weights_;
  std::vector<DocWeight> doc_weights_;
};

}  // namespace plackett
