// score = weights . features + network(features). The linear part learns what a linear ranker
// learns, as fast; the network, whose output starts at 0, learns the rest. When to choose it:
// docs/rankers.md. What it was measured against: docs/decisions/0004-cascade.md.
#pragma once

#include "ranker/linear.h"
#include "ranker/neural.h"

namespace plackett {

class LinearPlusNeuralRanker final : public Ranker {
 public:
  // All parameters 0. Requires: hidden not empty, no layer of 0 units.
  LinearPlusNeuralRanker(std::uint32_t feature_count, std::span<const std::uint32_t> hidden,
                         Activation activation)
      : linear_(feature_count), network_(feature_count, hidden, activation) {}

  // Draws the network's parameters; the linear part stays. After Initialisation::kSilent the scores
  // are the linear part's, bit by bit, until the first step.
  void initialise(Initialisation initialisation, Rng& rng) {
    network_.initialise(initialisation, rng);
  }

  // While the network is off it costs nothing, its gradient is 0, and scores and steps are those of
  // the linear part, bit by bit. Its parameters stay among the parameters. Initially on.
  void set_network_on(bool on) { network_on_ = on; }
  [[nodiscard]] bool network_on() const { return network_on_; }
  // As LinearRanker::padded_weights().
  [[nodiscard]] std::span<const float> linear_weights() const { return linear_.padded_weights(); }

  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<LinearPlusNeuralRanker>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return linear_.feature_count(); }
  [[nodiscard]] std::size_t linear_count() const override { return linear_.parameter_count(); }
  void score(const FeatureView& docs, std::span<float> scores) override;
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override;
  // The same, with weights of their own for the network's parameters.
  void gradient(const FeatureView& docs, std::span<const DocWeight> linear,
                std::span<const DocWeight> network, std::span<float> out);
  void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) override;

  // Divides both parts' scores, the network's also while it is off.
  bool divide_scores(double divisor) override {
    return linear_.divide_scores(divisor) && network_.divide_scores(divisor);
  }

  // The linear part's weights, then the network's parameters.
  [[nodiscard]] std::size_t parameter_count() const override {
    return linear_.parameter_count() + network_.parameter_count();
  }
  void get_parameters(std::span<float> out) const override;
  void set_parameters(std::span<const float> parameters) override;

 private:
  LinearRanker linear_;
  NeuralRanker network_;
  bool network_on_ = true;
  std::vector<float> network_scores_;
};

}  // namespace plackett
