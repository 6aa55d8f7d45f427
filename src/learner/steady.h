// The default method: PDGD that can be left alone. Six things distinguish it from the paper's, each
// measured in docs/decisions/0012-default.md.
// - A linear ranker plus a network, whose parameters take AdaGrad's steps.
// - Sharper lists: a pair's gradient is taken at a quarter of the difference of the scores that are
//   served, so scores go on growing where PDGD's would settle.
// - An update changes scores by a bounded amount through the linear part: with many features a few
//   unlucky steps must not make lists so sharp that nothing else is shown for thousands of
//   impressions.
// - A document's weight in the network's gradient falls with the number of times that it was
//   learned from: few documents, met often, teach the network little.
// - What is evaluated and saved is an average over the updates so far, most of all the last ones.
//   Lists are sampled from the parameters themselves.
// - It forgets: parameters shrink a little with each update, and the average and the sums that set
//   the network's steps are of the last few thousand updates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learner/visits.h"
#include "plackett/learner.h"
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"

namespace plackett {

class LinearPlusNeuralRanker;

struct SteadyOptions {
  double learning_rate = 0.12;
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k
  PairRules pairs = {.sharpness = 4};
  double step_limit = 0.5;     // mean change of the documents' scores by a step of the linear part
  double novelty = 20;         // visits from which on a document's weight for the network falls
  double memory = 4000;        // updates after which the average and the squares forget
  double weight_decay = 3e-5;  // the part of every parameter that an update takes away
};

class Steady final : public Learner {
 public:
  Steady(std::unique_ptr<Ranker> ranker, const SteadyOptions& options);

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  // The average.
  [[nodiscard]] Ranker& ranker() override { return *average_ranker_; }
  [[nodiscard]] Ranker& explorer() override { return *ranker_; }
  void set_parameters(std::span<const float> parameters) override;
  void start_from_fit(std::span<const float> parameters,
                      std::span<const float> mean_squares) override;

  // Its memory: the explorer's parameters, the optimiser's memory, the visits.
  [[nodiscard]] LearnerState state() const override { return state_; }
  // Without memory it goes on from the parameters of ranker().
  void restore(const LearnerState& state) override;

 private:
  [[nodiscard]] std::size_t memory_size() const;
  // Of the weighted scores by the explorer's parameters. Counts a visit of each weighted document.
  void find_gradient(const FeatureView& docs, std::span<const Doc> shown);
  // The learning rate, or less: a step of the linear part changes the scores of the documents that
  // it is learned from by at most step_limit, in the mean by their weights' sizes.
  [[nodiscard]] double linear_rate() const;

  std::unique_ptr<Ranker> ranker_;
  LinearPlusNeuralRanker* both_;  // the same, or null
  std::unique_ptr<Ranker> average_ranker_;
  SteadyOptions options_;
  LearnerState state_;
  std::vector<float> average_;  // the parameters of average_ranker_
  // Views of the state's memory.
  std::span<float> parameters_;
  std::span<float> squares_;
  Visits visits_;

  // Scratch.
  PairInference inference_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> rank_weights_;
  std::vector<DocWeight> weights_;
  std::vector<DocWeight> network_weights_;
  std::vector<float> gradient_;
};

}  // namespace plackett
