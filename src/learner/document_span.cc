#include "learner/document_span.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/kernels.h"
#include "plackett/feature_view.h"

namespace plackett {

float length(const AlignedVector<float>& vector) {
  float square = 0;
  kernels().dot_rows({vector.data(), 1, vector.size(), vector.size()}, vector.data(), &square);
  return std::sqrt(square);
}

DocumentSpan::DocumentSpan(std::size_t features)
    : features_(features),
      width_(padded_width(static_cast<std::uint32_t>(features))),
      row_(width_) {}

void DocumentSpan::add_projection(const AlignedVector<float>& vector, float sign,
                                  AlignedVector<float>& to) {
  kernels().dot_rows({basis_.data(), rank_, width_, width_}, vector.data(), products_.data());
  for (std::size_t at = 0; at < rank_; ++at) products_[at] *= sign;
  kernels().add_scaled_rows(rows_.data(), products_.data(), rank_, width_, to.data());
}

void DocumentSpan::add(std::span<const float> row) {
  assert(row.size() == features_);
  if (rank_ == features_) return;
  std::copy(row.begin(), row.end(), row_.begin());
  const float before = length(row_);
  if (!(before > 0)) return;
  add_projection(row_, -1, row_);
  if (!(length(row_) > kDependent * before)) return;
  add_projection(row_, -1, row_);
  const float after = length(row_);
  if (rows_.size() == rank_) {
    basis_.resize((rank_ + 1) * width_);
    products_.resize(rank_ + 1);
    rows_.resize(rank_ + 1);
    for (std::size_t at = 0; at <= rank_; ++at) rows_[at] = &basis_[at * width_];
  }
  for (std::size_t at = 0; at < width_; ++at) basis_[rank_ * width_ + at] = row_[at] / after;
  ++rank_;
}

void DocumentSpan::project(AlignedVector<float>& direction) {
  assert(direction.size() == width_);
  std::copy(direction.begin(), direction.end(), row_.begin());
  std::fill(direction.begin(), direction.end(), 0.0F);
  add_projection(row_, 1, direction);
}

}  // namespace plackett
