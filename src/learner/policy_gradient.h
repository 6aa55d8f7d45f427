// Policy gradient on the Plackett-Luce distribution, for any ranker (REINFORCE, Williams 1992; the
// reward of a place is that of the clicks from it downward, as in PL-Rank, Oosterhuis, SIGIR 2021).
// It maximises the expected reward of a sampled list: the sum of its clicks, each times its rank's
// discount and, if wanted, corrected for position bias.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learner/last_list.h"
#include "plackett/learner.h"
#include "plackett/plackett_luce.h"

namespace plackett {

enum class ClickDiscount : std::uint8_t {
  kDcg = 0,   // 1 / log2(rank + 1), ranks from 1
  kNone = 1,  // 1
};

struct PolicyGradientOptions {
  double learning_rate = 0.03;       // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k
  ClickDiscount discount = ClickDiscount::kDcg;
  // A click at rank r (from 1) counts min(r^position_bias, most_weight) times: the inverse of the
  // probability that rank r is examined. 0: once.
  double position_bias = 0;
  double most_weight = 10;
};

// rewards[rank]: of the clicks from there downward. Requires: rewards.size() == clicks.size().
void reward_downward(const PolicyGradientOptions& options, std::span<const std::uint8_t> clicks,
                     std::span<double> rewards);

// The gradient of a list's log-probability, each place with a reward of its own.
class PlacementGradient {
 public:
  // With respect to the scores of all documents: the sum over ranks of rewards[rank] x d log P(its
  // document is placed there | those above). The result is valid until the next call.
  // Requires: `scores` of all candidates when `ranking` was sampled from them; a reward per rank.
  // O(documents + k^2).
  std::span<const DocWeight> weigh(const Ranking& ranking, std::span<const float> scores,
                                   std::span<const double> rewards);

 private:
  std::vector<double> log_masses_;  // of a rank's document, all below and the rest
  std::vector<bool> shown_;
  std::vector<DocWeight> weights_;
};

class PolicyGradient final : public Learner {
 public:
  PolicyGradient(std::unique_ptr<Ranker> ranker, const PolicyGradientOptions& options);

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  // Each rank's reward is that from there downward, less the rank's baseline. Ignores clicks on any
  // ranking but the last, whose candidates' scores it keeps: those not shown have weights too.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }

  // The memory is the baseline: per rank, the mean reward from it downward over past lists, the
  // last hundred or so. Since it does not depend on the list, it changes no expectation.
  [[nodiscard]] LearnerState state() const override { return state_; }
  // Memory of the wrong length is reset.
  void restore(const LearnerState& state) override;

 private:
  std::unique_ptr<Ranker> ranker_;
  PolicyGradientOptions options_;
  LearnerState state_;
  SamplingScratch sampling_;
  std::vector<float> scores_;  // of the last candidates
  LastList last_;
  std::vector<double> rewards_;
  PlacementGradient gradient_;
};

}  // namespace plackett
