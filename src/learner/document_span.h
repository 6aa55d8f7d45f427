// The span of some documents' features, as an orthonormal basis.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/aligned.h"

namespace plackett {

// Requires: padded with zeros to a multiple of kLanes, and aligned.
float length(const AlignedVector<float>& vector);

class DocumentSpan {
 public:
  explicit DocumentSpan(std::size_t features);

  // The span of nothing.
  void clear() { rank_ = 0; }
  // Adds a document by classical Gram-Schmidt, twice, which keeps the basis orthogonal to rounding
  // (Giraud, Langou, Rozloznik & van den Eshof, 2005). A row that lies in the span, to within
  // kDependent of its length, adds nothing. O(rank x features). Requires: row.size() == features.
  void add(std::span<const float> row);
  [[nodiscard]] std::size_t rank() const { return rank_; }

  // In place: the part of `direction` that lies in the span.
  // Requires: padded with zeros to a multiple of kLanes, and aligned.
  void project(AlignedVector<float>& direction);

  static constexpr float kDependent = 1e-4F;

 private:
  // to += sign * the projection of `vector`.
  void add_projection(const AlignedVector<float>& vector, float sign, AlignedVector<float>& to);

  std::size_t features_;
  std::size_t width_;  // of a row of the basis, padded
  std::size_t rank_ = 0;
  AlignedVector<float> basis_;  // [rank][width]
  AlignedVector<float> row_;
  AlignedVector<float> products_;  // with each row of the basis
  std::vector<const float*> rows_;
};

}  // namespace plackett
