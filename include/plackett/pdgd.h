// Pairwise Differentiable Gradient Descent (paper, algorithm 1), for any ranker.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"

namespace plackett {

class AdaGrad;

// How far a network's parameters step: all by the learning rate, or each by its own.
enum class Steps : std::uint8_t {
  kConstant = 0,  // all by the learning rate
  kAdaGrad = 1,   // each by the learning rate over the root of its squared gradients' sum
};

// Hyper-parameters, as plain data.
struct PdgdOptions {
  double learning_rate = 0.1;        // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k: documents shown, fewer where there are fewer
  Steps steps = Steps::kConstant;    // of a network's parameters
};

// Samples rankings from its ranker's scores and steps by inferred preferences. Owns the ranker.
// Same bits for the same options, parameters, candidates and clicks. No allocation an impression
// once it has met a list as long.
class PLACKETT_EXPORT Pdgd final : public Learner {
 public:
  // Requires: a ranker; learning_rate and decay finite and above 0; shown > 0.
  Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options);
  ~Pdgd() override;

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }
  // Steps taken so far; clicks that prefer nothing to anything take none.
  [[nodiscard]] std::uint64_t updates() const { return state_.updates; }

  // From the next update on; their memory starts anew where the steps change.
  void set_steps(Steps steps);

  [[nodiscard]] LearnerState state() const override { return state_; }
  // A memory of another length is none of these steps', and theirs starts anew.
  void restore(const LearnerState& state) override;

 private:
  std::unique_ptr<Ranker> ranker_;
  PdgdOptions options_;
  LearnerState state_;
  std::unique_ptr<AdaGrad> adagrad_;  // null for constant steps; its sums are the state's memory
  PairInference inference_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> rank_weights_;
  std::vector<DocWeight> doc_weights_;
};

}  // namespace plackett
