#include "learner/candidates.h"

#include <algorithm>
#include <cmath>

#include "base/kernels.h"
#include "ranker/linear.h"

namespace plackett {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Candidates::Candidates(const Ranker& ranker, std::uint32_t count)
    : linear_(dynamic_cast<const LinearRanker*>(&ranker) != nullptr),
      count_(count),
      parameter_count_(ranker.parameter_count()),
      stride_(round_up(parameter_count_, kLanes)),
      directions_(round_up(count * stride_, Rng::kNormalGroup)),
      scales_(count),
      probe_(ranker.clone()),
      parameters_(parameter_count_),
      moved_(parameter_count_) {}

void Candidates::draw(Rng& rng) {
  rng.fill_normals(directions_.data(), directions_.size());
  for (std::uint32_t candidate = 0; candidate < count_; ++candidate) {
    float* direction = directions_.data() + candidate * stride_;
    std::fill(direction + parameter_count_, direction + stride_, 0.0F);
    float square = 0;
    kernels().dot_rows({direction, 1, stride_, stride_}, direction, &square);
    scales_[candidate] = square > 0 ? 1.0F / std::sqrt(square) : 0.0F;
  }
}

void Candidates::score(Ranker& current, const FeatureView& docs, ScoreTable& table) {
  table.resize(count_ + 1, docs.doc_count());
  const std::span<float> own = table.row(0);
  current.score(docs, own);
  if (linear_) {
    kernels().dot_rows_each({docs.data(), docs.doc_count(), docs.stride(), docs.readable_width()},
                            {directions_.data(), count_, stride_, stride_}, table.row(1).data(),
                            table.stride());
    for (std::uint32_t candidate = 0; candidate < count_; ++candidate) {
      const std::span<float> scores = table.row(candidate + 1);
      for (std::size_t doc = 0; doc < scores.size(); ++doc) {
        scores[doc] = own[doc] + scales_[candidate] * scores[doc];
      }
    }
    return;
  }
  current.get_parameters(parameters_);
  for (std::uint32_t candidate = 0; candidate < count_; ++candidate) {
    const float* direction = directions_.data() + candidate * stride_;
    for (std::size_t at = 0; at < parameter_count_; ++at) {
      moved_[at] = parameters_[at] + scales_[candidate] * direction[at];
    }
    probe_->set_parameters(moved_);
    probe_->score(docs, table.row(candidate + 1));
  }
}

void Candidates::add_direction(std::size_t candidate, double scale, std::span<float> to) const {
  const float* direction = directions_.data() + candidate * stride_;
  const auto factor = static_cast<float>(scale * scales_[candidate]);
  for (std::size_t at = 0; at < parameter_count_; ++at) to[at] += factor * direction[at];
}

}  // namespace plackett
