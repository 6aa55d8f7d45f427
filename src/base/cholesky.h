// Cholesky factors: A = L L^T with L lower triangular, for a positive definite A. Matrices are
// square, by rows; what is above the diagonal is neither read nor written.
#pragma once

#include <span>

namespace plackett {

// In place: A becomes L. O(n^3). A pivot that rounding could have made, so that it might even be
// negative, counts as the smallest that it could not: L then belongs to a matrix that is A to
// within rounding, and exists for every A whose diagonal is positive.
// Requires: matrix.size() == size^2.
void factorise(std::span<double> matrix, std::size_t size);

// In place: L becomes the factor of A + row row^T (Gill, Golub, Murray & Saunders, 1974). O(n^2).
// `row` is overwritten. Requires: factor.size() == row.size()^2.
void add_to_factor(std::span<double> factor, std::span<double> row);

// In place: x becomes L^-1 x. O(n^2).
void solve_lower(std::span<const double> factor, std::span<double> x);

// In place: x becomes L^-T x. O(n^2).
void solve_upper(std::span<const double> factor, std::span<double> x);

}  // namespace plackett
