#include "base/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

// Sums of outer products of `rows` random rows, with `ridge` on the diagonal.
std::vector<double> positive(std::size_t size, int rows, double ridge, double scale = 1) {
  Rng rng({.seed = 4});
  std::vector<double> matrix(size * size);
  for (std::size_t at = 0; at < size; ++at) matrix[at * size + at] = ridge;
  for (int row = 0; row < rows; ++row) {
    std::vector<double> values(size);
    for (double& value : values) value = scale * rng.normal();
    for (std::size_t one = 0; one < size; ++one) {
      for (std::size_t other = 0; other < size; ++other) {
        matrix[one * size + other] += values[one] * values[other];
      }
    }
  }
  return matrix;
}

std::vector<double> factor_of(std::vector<double> matrix, std::size_t size) {
  factorise(matrix, size);
  return matrix;
}

// factor factor^T, from the lower triangle alone.
std::vector<double> squared(const std::vector<double>& factor, std::size_t size) {
  std::vector<double> product(size * size);
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column < size; ++column) {
      for (std::size_t at = 0; at <= std::min(row, column); ++at) {
        product[row * size + column] += factor[row * size + at] * factor[column * size + at];
      }
    }
  }
  return product;
}

void expect_near(const std::vector<double>& one, const std::vector<double>& other, double within) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t at = 0; at < one.size(); ++at) EXPECT_NEAR(one[at], other[at], within) << at;
}

TEST(Cholesky, TheFactorTimesItsTransposeIsTheMatrix) {
  for (const std::size_t size : {1U, 2U, 7U, 40U}) {
    const auto matrix = positive(size, 50, 0.1);
    expect_near(squared(factor_of(matrix, size), size), matrix, 1e-12 * 100);
  }
}

TEST(Cholesky, ARowAddedToTheFactorIsAddedToTheMatrix) {
  constexpr std::size_t kSize = 9;
  auto matrix = positive(kSize, 5, 0.1);
  auto factor = factor_of(matrix, kSize);
  Rng rng({.seed = 5});
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<double> row(kSize);
    for (double& value : row) value = rng.normal();
    for (std::size_t one = 0; one < kSize; ++one) {
      for (std::size_t other = 0; other < kSize; ++other) {
        matrix[one * kSize + other] += row[one] * row[other];
      }
    }
    add_to_factor(factor, row);
  }
  expect_near(squared(factor, kSize), matrix, 1e-11);
}

TEST(Cholesky, SolvesBothTriangles) {
  constexpr std::size_t kSize = 12;
  const auto matrix = positive(kSize, 30, 0.1);
  const auto factor = factor_of(matrix, kSize);
  std::vector<double> x(kSize);
  for (std::size_t at = 0; at < kSize; ++at) x[at] = static_cast<double>(at) - 3;
  std::vector<double> right(kSize);
  for (std::size_t row = 0; row < kSize; ++row) {
    for (std::size_t at = 0; at < kSize; ++at) right[row] += matrix[row * kSize + at] * x[at];
  }
  solve_lower(factor, right);
  solve_upper(factor, right);
  expect_near(right, x, 1e-11);
}

TEST(Cholesky, AMatrixThatRoundingMadeSingularStillHasAFactor) {
  // The ridge is lost beside 1e18, and three rows don't span 12 dimensions.
  constexpr std::size_t kSize = 12;
  const auto matrix = positive(kSize, 3, 0.1, 1e9);
  const auto factor = factor_of(matrix, kSize);
  for (std::size_t at = 0; at < kSize; ++at) EXPECT_GT(factor[at * kSize + at], 0);
  double largest = 0;
  for (const double entry : matrix) largest = std::max(largest, std::abs(entry));
  expect_near(squared(factor, kSize), matrix, 1e-13 * largest);
}

}  // namespace
}  // namespace plackett
