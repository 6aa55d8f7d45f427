// Counterfactual online learning to rank (Zhuang & Zuccon, ECIR 2020), for any ranker. The list is
// sampled from the current ranker's scores. Its clicks also tell how well candidates would have
// done: by inverse propensities, without showing anything of theirs. The current ranker moves
// towards the mean of those that would have done better.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "learner/candidates.h"
#include "learner/last_list.h"
#include "plackett/learner.h"
#include "plackett/plackett_luce.h"

namespace plackett {

struct ColtrOptions {
  std::uint32_t candidates = 499;    // at least 1
  double temperature = 0.1;          // tau: lists are sampled from softmax(scores / tau)
  double penalty = 1;                // gamma: of an estimate's standard deviation
  double learning_rate = 0.1;        // eta: the fraction of the way to the winners' mean
  double learning_rate_decay = 1.0;  // factor after each update ...
  double least_learning_rate = 0;    // ... as long as the rate is above this
  std::uint32_t shown = 10;          // k
};

class Coltr final : public Learner {
 public:
  Coltr(std::unique_ptr<Ranker> ranker, const ColtrOptions& options);

  // The ranking's scores are divided by the temperature.
  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  // Ignores clicks on any ranking but the last: the numbers after its own draw the candidates.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  [[nodiscard]] LearnerState state() const override { return state_; }
  void restore(const LearnerState& state) override { state_ = state; }

 private:
  // What the candidate's list would have cost, estimated by self-normalised inverse propensities,
  // and the penalty. Candidate 0 is the current ranker.
  [[nodiscard]] double cost(std::uint32_t candidate, std::span<const std::uint8_t> clicks,
                            std::size_t examined);

  std::unique_ptr<Ranker> ranker_;
  ColtrOptions options_;
  LearnerState state_;
  Candidates candidates_;
  ScoreTable scores_;  // of the shown documents, by rank
  std::vector<float> sampled_;
  AlignedVector<float> shown_rows_;  // [rank][padded width]
  std::vector<float> differences_;   // of a candidate's scores from the current ranker's
  std::vector<double> weights_;
  std::vector<float> parameters_;
  std::vector<std::uint32_t> winners_;
  SamplingScratch sampling_;
  LastList last_;
};

}  // namespace plackett
