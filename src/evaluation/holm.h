// Holm's correction for many tests.
#pragma once

#include <span>
#include <vector>

namespace plackett {

// The p-values corrected for their number (Holm, 1979): if none of the tests had anything to find,
// the smallest corrected p is below 0.05 in at most 5 % of such families, however the tests depend
// on each other. Each is at least as large as the p it comes from, at most 1, and in the same
// order. NaN stays NaN and counts as no test.
std::vector<double> holm(std::span<const double> p);

}  // namespace plackett
