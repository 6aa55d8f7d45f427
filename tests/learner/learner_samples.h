// What tests of learners share.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "plackett/feature_view.h"
#include "plackett/ranker.h"
#include "plackett/rng.h"

namespace plackett::testing {

// Features uniform on [0, 1).
inline AlignedVector<float> random_rows(std::uint32_t docs, std::uint32_t features,
                                        std::uint64_t seed = 9) {
  Rng rng({.seed = seed});
  AlignedVector<float> rows(std::size_t{docs} * padded_width(features));
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    for (std::uint32_t f = 0; f < features; ++f) {
      rows[doc * padded_width(features) + f] = static_cast<float>(rng.uniform());
    }
  }
  return rows;
}

inline std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

using Matrix = std::vector<std::vector<double>>;

// Solves matrix x = right by elimination with pivots.
inline std::vector<double> solved(Matrix matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < size; ++row) {
      if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
    }
    std::swap(matrix[column], matrix[pivot]);
    std::swap(right[column], right[pivot]);
    for (std::size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = matrix[row][column] / matrix[column][column];
      for (std::size_t at = 0; at < size; ++at) matrix[row][at] -= factor * matrix[column][at];
      right[row] -= factor * right[column];
    }
  }
  for (std::size_t at = 0; at < size; ++at) right[at] /= matrix[at][at];
  return right;
}

}  // namespace plackett::testing
