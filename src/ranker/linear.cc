#include "ranker/linear.h"

#include <algorithm>
#include <cassert>

#include "base/kernels.h"

namespace plackett {

void LinearRanker::score(const FeatureView& docs, std::span<float> scores) {
  assert(docs.feature_count() == feature_count_ && scores.size() == docs.doc_count());
  // Padded rows are read with their zeros: no tail, and the sums are the same.
  kernels().dot_rows({docs.data(), docs.doc_count(), docs.stride(), docs.readable_width()},
                     weights_.data(), scores.data());
}

void LinearRanker::add_weighted(const FeatureView& docs, std::span<const DocWeight> weights,
                                float rate, AlignedVector<float>& sums) {
  assert(docs.feature_count() == feature_count_);
  rows_.clear();
  scales_.clear();
  for (const DocWeight& weight : weights) {
    rows_.push_back(docs.row(weight.doc).data());
    scales_.push_back(rate * weight.weight);
  }
  kernels().add_scaled_rows(rows_.data(), scales_.data(), rows_.size(), docs.readable_width(),
                            sums.data());
}

void LinearRanker::gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                            std::span<float> out) {
  assert(out.size() == feature_count_);
  gradient_.assign(weights_.size(), 0.0F);
  add_weighted(docs, weights, 1.0F, gradient_);
  std::copy_n(gradient_.begin(), feature_count_, out.begin());
}

void LinearRanker::step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) {
  add_weighted(docs, weights, rate, weights_);
}

void LinearRanker::get_parameters(std::span<float> out) const {
  assert(out.size() == feature_count_);
  std::copy_n(weights_.begin(), feature_count_, out.begin());
}

void LinearRanker::set_parameters(std::span<const float> parameters) {
  assert(parameters.size() == feature_count_);
  std::copy(parameters.begin(), parameters.end(), weights_.begin());
}

}  // namespace plackett
