#include "base/cholesky.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace plackett {

void factorise(std::span<double> matrix, std::size_t size) {
  assert(matrix.size() == size * size);
  const double rounding = static_cast<double>(size) * std::numeric_limits<double>::epsilon();
  for (std::size_t row = 0; row < size; ++row) {
    const double least = rounding * matrix[row * size + row];
    for (std::size_t column = 0; column <= row; ++column) {
      double sum = matrix[row * size + column];
      for (std::size_t at = 0; at < column; ++at) {
        sum -= matrix[row * size + at] * matrix[column * size + at];
      }
      matrix[row * size + column] =
          row == column ? std::sqrt(std::max(sum, least)) : sum / matrix[column * size + column];
    }
  }
}

void add_to_factor(std::span<double> factor, std::span<double> row) {
  const std::size_t size = row.size();
  assert(factor.size() == size * size);
  for (std::size_t at = 0; at < size; ++at) {
    double* const diagonal = &factor[at * size + at];
    const double radius = std::hypot(*diagonal, row[at]);
    const double cosine = radius / *diagonal;
    const double sine = row[at] / *diagonal;
    *diagonal = radius;
    for (std::size_t below = at + 1; below < size; ++below) {
      double& entry = factor[below * size + at];
      entry = (entry + sine * row[below]) / cosine;
      row[below] = cosine * row[below] - sine * entry;
    }
  }
}

void solve_lower(std::span<const double> factor, std::span<double> x) {
  const std::size_t size = x.size();
  for (std::size_t row = 0; row < size; ++row) {
    double sum = x[row];
    for (std::size_t at = 0; at < row; ++at) sum -= factor[row * size + at] * x[at];
    x[row] = sum / factor[row * size + row];
  }
}

void solve_upper(std::span<const double> factor, std::span<double> x) {
  const std::size_t size = x.size();
  for (std::size_t row = size; row-- > 0;) {
    double sum = x[row];
    for (std::size_t at = row + 1; at < size; ++at) sum -= factor[at * size + row] * x[at];
    x[row] = sum / factor[row * size + row];
  }
}

}  // namespace plackett
