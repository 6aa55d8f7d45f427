// The pairwise baseline (Hofmann, Whiteson, de Rijke, "Balancing exploration and exploitation",
// 2013): an epsilon-greedy list, and an unweighted step for every inferred pair.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learner/last_list.h"
#include "plackett/learner.h"

namespace plackett {

struct PairwiseOptions {
  double epsilon = 0.8;              // probability that a place is filled at random
  double learning_rate = 0.01;       // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k
  bool worst_first = false;          // exploit by taking the lowest scores, as published
};

class Pairwise final : public Learner {
 public:
  Pairwise(std::unique_ptr<Ranker> ranker, const PairwiseOptions& options);

  // Each place: with probability epsilon a document drawn uniformly from those left, otherwise the
  // one with the best score, ties broken at random. `ranking.rest` is empty.
  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  // Ignores clicks on any ranking but the last.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  [[nodiscard]] LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override { state_ = state; }
  [[nodiscard]] const PairwiseOptions& options() const { return options_; }

 private:
  // The position in left_ of the best score.
  std::uint32_t best(std::span<const float> scores, Rng& rng) const;

  std::unique_ptr<Ranker> ranker_;
  PairwiseOptions options_;
  LearnerState state_;
  std::vector<float> scores_;
  std::vector<Doc> left_;  // not yet placed
  std::vector<DocWeight> doc_weights_;
  LastList last_;
};

}  // namespace plackett
