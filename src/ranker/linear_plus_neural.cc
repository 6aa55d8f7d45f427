#include "ranker/linear_plus_neural.h"

#include <algorithm>
#include <cassert>

namespace plackett {

void LinearPlusNeuralRanker::score(const FeatureView& docs, std::span<float> scores) {
  linear_.score(docs, scores);
  if (!network_on_) return;
  if (network_scores_.size() < scores.size()) network_scores_.resize(scores.size());
  network_.score(docs, {network_scores_.data(), scores.size()});
  for (std::size_t doc = 0; doc < scores.size(); ++doc) scores[doc] += network_scores_[doc];
}

void LinearPlusNeuralRanker::gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                                      std::span<float> out) {
  gradient(docs, weights, weights, out);
}

void LinearPlusNeuralRanker::gradient(const FeatureView& docs, std::span<const DocWeight> linear,
                                      std::span<const DocWeight> network, std::span<float> out) {
  assert(out.size() == parameter_count());
  linear_.gradient(docs, linear, out.first(linear_.parameter_count()));
  const std::span<float> rest = out.subspan(linear_.parameter_count());
  if (network_on_) {
    network_.gradient(docs, network, rest);
  } else {
    std::fill(rest.begin(), rest.end(), 0.0F);
  }
}

void LinearPlusNeuralRanker::step(const FeatureView& docs, std::span<const DocWeight> weights,
                                  float rate) {
  linear_.step(docs, weights, rate);
  if (network_on_) network_.step(docs, weights, rate);
}

void LinearPlusNeuralRanker::get_parameters(std::span<float> out) const {
  assert(out.size() == parameter_count());
  linear_.get_parameters(out.first(linear_.parameter_count()));
  network_.get_parameters(out.subspan(linear_.parameter_count()));
}

void LinearPlusNeuralRanker::set_parameters(std::span<const float> parameters) {
  assert(parameters.size() == parameter_count());
  linear_.set_parameters(parameters.first(linear_.parameter_count()));
  network_.set_parameters(parameters.subspan(linear_.parameter_count()));
}

}  // namespace plackett
