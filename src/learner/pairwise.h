// The pairwise baseline (Hofmann, Whiteson, de Rijke, "Balancing exploration and exploitation",
// 2013): an epsilon-greedy list, and a step along the difference of features for every inferred
// pair, unweighted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plackett/learner.h"

namespace plackett {

struct PairwiseOptions {
  double epsilon = 0.8;              // how often a place is filled at random
  double learning_rate = 0.01;       // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k
  bool worst_first = false;          // exploit by taking the lowest scores, as was published
};

class Pairwise final : public Learner {
 public:
  Pairwise(std::unique_ptr<Ranker> ranker, const PairwiseOptions& options);

  // Each place: with probability epsilon a document drawn uniformly from those left (which is
  // what the next of a random order comes to), else the one with the best score, equal scores at
  // random. `ranking.rest` is empty.
  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  [[nodiscard]] LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override { state_ = state; }

 private:
  // Where in left_ the best score is.
  std::uint32_t best(std::span<const float> scores, Rng& rng) const;

  std::unique_ptr<Ranker> ranker_;
  PairwiseOptions options_;
  LearnerState state_;
  std::vector<float> scores_;
  std::vector<Doc> left_;  // not yet placed
  std::vector<DocWeight> doc_weights_;
};

}  // namespace plackett
