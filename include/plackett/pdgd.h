// Pairwise Differentiable Gradient Descent (paper, algorithm 1), for any ranker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/pairs.h"
#include "plackett/plackett_luce.h"

namespace plackett {

class DropDetector;
class Optimiser;

// The step size of a network's parameters.
enum class Steps : std::uint8_t {
  kConstant = 0,  // the learning rate for all
  kAdaGrad =
      1,  // the learning rate divided by the root of the parameter's summed squared gradients
  kForgetting = 2,  // the same with sums that forget: old gradients count less and less
};

// Hyper-parameters, as plain data.
struct PdgdOptions {
  double learning_rate = 0.1;        // eta
  double learning_rate_decay = 1.0;  // factor after each update
  std::uint32_t shown = 10;          // k: documents shown, or all if there are fewer
  Steps steps = Steps::kConstant;    // of a network's parameters
  PairRules pairs = {};              // how clicks become pairs
  // What follows is for worlds that change (docs/drift.md).
  double step_memory = 10'000;  // kForgetting: sums shrink by 1 - 1 / step_memory before an update
  double weight_decay = 0;      // the part of every parameter that is lost with each list; below 1
  // Above 0: once the clicks per list have dropped by this much (DropDetector), all parameters are
  // multiplied by 0.1, and steps, rate and detector start over. 0: never.
  double restart = 0;
};

// Samples rankings from its ranker's scores and steps by inferred preferences. Owns the ranker.
// The same options, parameters, candidates and clicks give the same bits. Allocates only for a
// longer list than ever before.
class PLACKETT_EXPORT Pdgd final : public Learner {
 public:
  // Requires: a ranker; learning_rate and decay finite and above 0; shown > 0; step_memory >= 1;
  // 0 <= weight_decay < 1; restart >= 0.
  Pdgd(std::unique_ptr<Ranker> ranker, const PdgdOptions& options);
  ~Pdgd() override;

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override;
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return *ranker_; }
  // As given, but for the steps, which set_steps() changes.
  [[nodiscard]] const PdgdOptions& options() const { return options_; }
  // Steps taken so far. Clicks from which no preference can be inferred take none.
  [[nodiscard]] std::uint64_t updates() const { return state_.updates; }

  // From the next update on. A change resets the optimiser's memory.
  void set_steps(Steps steps);
  // Nothing without PdgdOptions::restart.
  [[nodiscard]] std::optional<std::uint64_t> restarts() const override;

  void start_from_fit(std::span<const float> parameters,
                      std::span<const float> mean_squares) override;

  [[nodiscard]] LearnerState state() const override { return state_; }
  // Memory of the wrong length, which other steps left, is reset.
  void restore(const LearnerState& state) override;

 private:
  void step(const FeatureView& docs, const Ranking& ranking, std::span<const std::uint8_t> clicks);
  void scale_parameters(float factor);
  [[nodiscard]] std::size_t memory_size() const;

  std::unique_ptr<Ranker> ranker_;
  PdgdOptions options_;
  LearnerState state_;
  std::unique_ptr<Optimiser> optimiser_;    // its memory is the state's, up to the detector's
  std::unique_ptr<DropDetector> detector_;  // likewise, from there on; null: it never restarts
  std::uint64_t restarts_ = 0;
  PairInference inference_;
  SamplingScratch sampling_;
  std::vector<float> scores_;
  std::vector<double> rank_weights_;
  std::vector<DocWeight> doc_weights_;
  std::vector<float> parameters_;
};

}  // namespace plackett
