#include "learner/optimiser.h"

#include <cassert>
#include <cmath>
#include <vector>

namespace plackett {
namespace {

class ConstantSteps final : public Optimiser {
 public:
  [[nodiscard]] std::size_t memory_size() const override { return 0; }
  void step(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights, float rate,
            std::span<float> /*memory*/) override {
    ranker.step(docs, weights, rate);
  }
};

class AdaGrad final : public Optimiser {
 public:
  // `kept`: the part of a sum that is left when a gradient is added.
  AdaGrad(const Ranker& ranker, double kept)
      : kept_(static_cast<float>(kept)),
        linear_count_(ranker.linear_count()),
        parameters_(ranker.parameter_count()),
        gradient_(ranker.parameter_count()) {}

  [[nodiscard]] std::size_t memory_size() const override {
    return parameters_.size() - linear_count_;
  }

  void step(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights, float rate,
            std::span<float> memory) override {
    assert(memory.size() == memory_size());
    if (memory.empty()) return ranker.step(docs, weights, rate);
    ranker.get_parameters(parameters_);
    ranker.gradient(docs, weights, gradient_);
    adagrad_step(gradient_, {.constant = rate, .rate = rate, .kept = kept_}, memory, parameters_);
    ranker.set_parameters(parameters_);
  }

 private:
  float kept_;
  std::size_t linear_count_;
  std::vector<float> parameters_;
  std::vector<float> gradient_;
};

}  // namespace

void adagrad_step(std::span<const float> gradient, const AdaGradRates& rates,
                  std::span<float> squares, std::span<float> parameters) {
  constexpr float kLeastRoot = 1e-6F;  // nothing is divided by 0
  const std::size_t constant = parameters.size() - squares.size();
  for (std::size_t at = 0; at < constant; ++at) parameters[at] += rates.constant * gradient[at];
  for (std::size_t at = 0; at < squares.size(); ++at) {
    const float slope = gradient[constant + at];
    squares[at] = rates.kept * squares[at] + slope * slope;
    parameters[constant + at] += rates.rate * slope / (std::sqrt(squares[at]) + kLeastRoot);
  }
}

void fill_squares(std::span<const float> mean_squares, double updates, std::span<float> squares) {
  const auto of_network = mean_squares.last(squares.size());
  for (std::size_t at = 0; at < squares.size(); ++at) {
    squares[at] = static_cast<float>(updates * of_network[at]);
  }
}

std::unique_ptr<Optimiser> make_optimiser(Steps steps, const Ranker& ranker, double step_memory) {
  if (steps == Steps::kAdaGrad) return std::make_unique<AdaGrad>(ranker, 1);
  if (steps == Steps::kForgetting) return std::make_unique<AdaGrad>(ranker, 1 - 1 / step_memory);
  return std::make_unique<ConstantSteps>();
}

}  // namespace plackett
