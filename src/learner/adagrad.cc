#include "learner/adagrad.h"

#include <cassert>
#include <cmath>

namespace plackett {
namespace {

constexpr float kLeastRoot = 1e-6F;  // nothing is divided by 0

}  // namespace

AdaGrad::AdaGrad(const Ranker& ranker)
    : linear_count_(ranker.linear_count()),
      before_(ranker.parameter_count()),
      after_(ranker.parameter_count()) {}

void AdaGrad::step(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights,
                   float rate, std::span<float> sums) {
  assert(sums.size() == sum_count() && rate > 0);
  if (sums.empty()) return ranker.step(docs, weights, rate);
  // The gradient is what a plain step adds: exact for the linear part, which keeps it, and to a
  // rounding of the parameter for the others.
  ranker.get_parameters(before_);
  ranker.step(docs, weights, rate);
  ranker.get_parameters(after_);
  const float* before = before_.data() + linear_count_;
  float* after = after_.data() + linear_count_;
  for (std::size_t at = 0; at < sums.size(); ++at) {
    const float moved = after[at] - before[at];
    const float gradient = moved / rate;
    sums[at] += gradient * gradient;
    after[at] = before[at] + moved / (std::sqrt(sums[at]) + kLeastRoot);
  }
  ranker.set_parameters(after_);
}

}  // namespace plackett
