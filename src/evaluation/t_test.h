// Whether two means differ by more than chance, and by how much: two-tailed t-tests.
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

// Of confidence intervals.
inline constexpr double kConfidence = 0.95;

struct TTestResult {
  double t = std::numeric_limits<double>::quiet_NaN();        // above 0 if the first mean is higher
  double degrees = std::numeric_limits<double>::quiet_NaN();  // of freedom
  // Two-tailed: the probability of a t at least this far from 0 by chance.
  double p = std::numeric_limits<double>::quiet_NaN();
  double difference = std::numeric_limits<double>::quiet_NaN();  // the first mean minus the other
  // The confidence interval is difference - half_width to difference + half_width.
  double half_width = std::numeric_limits<double>::quiet_NaN();
};

// Student's test pools one variance from both sides and has n1 + n2 - 2 degrees of freedom;
// Welch's gives each side its own variance, and degrees by Welch and Satterthwaite.
//
// p is exact to about 12 digits, down to 1e-300, and 0 below what a double holds. Swapping the
// sides negates t and the difference and changes nothing else.
//
// All are NaN if a side has fewer than two values, a mean or deviation is not finite, or a
// deviation is below 0. If neither side varies, equal means give t = 0 and p = 1, and different
// ones an infinite t and p = 0; degrees are n1 + n2 - 2, and the interval has no width.
TTestResult student_t_test(const SampleSummary& one, const SampleSummary& other);
TTestResult welch_t_test(const SampleSummary& one, const SampleSummary& other);

// The paired test: whether the mean of `differences`, one for each pair, differs from 0; n - 1
// degrees of freedom. What a pair has in common does not count, so it sees differences that the
// tests above can't tell from the spread between pairs.
//
// Precision as above. All are NaN for fewer than two differences, or if one is not finite. If all
// are equal, 0 gives t = 0 and p = 1, anything else an infinite t and p = 0.
TTestResult paired_t_test(std::span<const double> differences);

}  // namespace plackett
