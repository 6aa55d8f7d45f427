// A cascade of models (named in the paper's conclusion): PDGD with a linear ranker until its
// progress stalls, then with a network added to it. The ranker is linear+neural: its network is off
// at first, and the linear part is kept. What it was measured against:
// docs/decisions/0004-cascade.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "plackett/pdgd.h"
#include "ranker/linear_plus_neural.h"

namespace plackett {

struct CascadeOptions {
  PdgdOptions pdgd;  // `steps` is ignored: the cascade chooses them
  // Progress is checked after every `window` updates u of the linear part. It has stalled if
  //   |sum of u| / sqrt(sum of |u|^2) <= threshold.
  // The quotient is about 1 for independent directions and up to sqrt(window) for equal ones.
  std::uint32_t window = 100;
  double threshold = 1;
};

class Cascade final : public Learner {
 public:
  // Switches the ranker's network off.
  Cascade(std::unique_ptr<LinearPlusNeuralRanker> ranker, const CascadeOptions& options);

  [[nodiscard]] bool rank(const FeatureView& docs, Rng& rng, Ranking& ranking) override {
    return pdgd_.rank(docs, rng, ranking);
  }
  // Allocates only when it switches the network on, and with the update after.
  void learn(const FeatureView& docs, const Ranking& ranking,
             std::span<const std::uint8_t> clicks) override;
  [[nodiscard]] Ranker& ranker() override { return pdgd_.ranker(); }
  [[nodiscard]] bool network_on() const { return ranker_->network_on(); }
  // Switches the network on: it was fitted together with the linear part.
  void start_from_fit(std::span<const float> parameters,
                      std::span<const float> mean_squares) override;

  // The length of the memory says whether the network is on. Off: the linear weights at the start
  // of the window and the sum of its squared updates. On: AdaGrad's sums, which are always more.
  // Any other length is off, with a window that starts now.
  [[nodiscard]] LearnerState state() const override;
  void restore(const LearnerState& state) override;

 private:
  void switch_network(bool on);
  // |linear weights - from|^2. Requires: `from` padded as the weights are.
  [[nodiscard]] float squared_distance(const AlignedVector<float>& from);

  LinearPlusNeuralRanker* ranker_;  // pdgd_'s
  Pdgd pdgd_;
  CascadeOptions options_;
  AlignedVector<float> start_;   // the linear weights at the window's start
  AlignedVector<float> before_;  // the linear weights before the update
  AlignedVector<float> moved_;
  float squares_ = 0;  // sum of |u|^2 in the window
};

}  // namespace plackett
