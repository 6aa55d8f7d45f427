#include "plackett/ranker.h"

namespace plackett {

void Ranker::step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) {
  parameters_.resize(parameter_count());
  gradient_.resize(parameter_count());
  gradient(docs, weights, gradient_);
  get_parameters(parameters_);
  for (std::size_t at = 0; at < parameters_.size(); ++at) parameters_[at] += rate * gradient_[at];
  set_parameters(parameters_);
}

bool Ranker::divide_scores(double divisor) {
  if (!is_linear()) return false;
  parameters_.resize(parameter_count());
  get_parameters(parameters_);
  for (float& parameter : parameters_) parameter = static_cast<float>(parameter / divisor);
  set_parameters(parameters_);
  return true;
}

}  // namespace plackett
