// Whether two means differ by more than chance: two-tailed t-tests from summaries.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace plackett {

// One side: the mean and the sample standard deviation (n - 1) of `count` independent values.
struct SampleSummary {
  double mean = 0;
  double std = 0;
  std::uint64_t count = 0;
};

struct TTestResult {
  double t = std::numeric_limits<double>::quiet_NaN();        // above 0 if the first mean is higher
  double degrees = std::numeric_limits<double>::quiet_NaN();  // of freedom
  // Two-tailed: the probability of a t at least this far from 0 by chance.
  double p = std::numeric_limits<double>::quiet_NaN();
};

// Student's test pools one variance from both sides and has n1 + n2 - 2 degrees of freedom;
// Welch's gives each side its own variance, and degrees by Welch and Satterthwaite.
//
// p is exact to about 12 digits, down to 1e-300, and 0 below what a double holds. Swapping the
// sides negates t and changes nothing else.
//
// All three are NaN if a side has fewer than two values, a mean or deviation is not finite, or a
// deviation is below 0. If neither side varies, equal means give t = 0 and p = 1, and different
// ones an infinite t and p = 0; degrees are n1 + n2 - 2.
TTestResult student_t_test(const SampleSummary& one, const SampleSummary& other);
TTestResult welch_t_test(const SampleSummary& one, const SampleSummary& other);

// The test of whether the mean of differences, one per pair, is 0.
struct PairedTTest : TTestResult {
  double mean = std::numeric_limits<double>::quiet_NaN();  // of the differences
  // The confidence interval of the mean reaches this far to both sides.
  double half_width = std::numeric_limits<double>::quiet_NaN();
};

// Student's paired test, with n - 1 degrees of freedom, and the interval at `level`, in (0, 1). All
// are NaN if there are fewer than two differences or one is not finite. Differences that are all
// equal have an interval of width 0; t and p are then as above.
PairedTTest paired_t_test(std::span<const double> differences, double level = 0.95);

}  // namespace plackett
