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

}  // namespace plackett
