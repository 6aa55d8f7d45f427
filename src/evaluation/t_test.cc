#include "evaluation/t_test.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace plackett {
namespace {

// Nothing here may throw: underflow gives 0, and the arguments are checked before.
namespace policies = boost::math::policies;
using Policy = policies::policy<policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;

bool testable(const SampleSummary& side) {
  return side.count >= 2 && std::isfinite(side.mean) && std::isfinite(side.std) && side.std >= 0;
}

double two_tailed(double t, double degrees) {
  if (t == 0) return 1;
  if (std::isinf(t)) return 0;
  const boost::math::students_t_distribution<double, Policy> distribution(degrees);
  return std::min(1.0, 2 * cdf(complement(distribution, std::fabs(t))));
}

// What is known of the difference of the means.
struct Difference {
  double error;    // its squared standard error
  double degrees;  // of freedom
};

// `difference_of` gives it from the counts and variances of both sides. Those come in units of the
// larger deviation, so that no square overflows or vanishes.
template <typename DifferenceOf>
TTestResult t_test(const SampleSummary& one, const SampleSummary& other,
                   DifferenceOf difference_of) {
  if (!testable(one) || !testable(other)) return {};
  const auto count_one = static_cast<double>(one.count);
  const auto count_other = static_cast<double>(other.count);
  const double unit = std::max(one.std, other.std);
  if (unit == 0) {
    const double degrees = count_one + count_other - 2;
    if (one.mean == other.mean) return {0, degrees, 1};
    return {one.mean > other.mean ? HUGE_VAL : -HUGE_VAL, degrees, 0};
  }
  const double spread_one = one.std / unit;
  const double spread_other = other.std / unit;
  const auto [error, degrees] =
      difference_of(count_one, spread_one * spread_one, count_other, spread_other * spread_other);
  const double t = (one.mean / unit - other.mean / unit) / std::sqrt(error);
  if (std::isnan(t)) return {};
  return {t, degrees, two_tailed(t, degrees)};
}

}  // namespace

TTestResult student_t_test(const SampleSummary& one, const SampleSummary& other) {
  return t_test(one, other, [](double n1, double variance1, double n2, double variance2) {
    const double degrees = n1 + n2 - 2;
    const double pooled = ((n1 - 1) * variance1 + (n2 - 1) * variance2) / degrees;
    return Difference{pooled * (1 / n1 + 1 / n2), degrees};
  });
}

TTestResult welch_t_test(const SampleSummary& one, const SampleSummary& other) {
  return t_test(one, other, [](double n1, double variance1, double n2, double variance2) {
    const double error1 = variance1 / n1;  // squared standard errors of the means
    const double error2 = variance2 / n2;
    const double error = error1 + error2;
    return Difference{error,
                      error * error / (error1 * error1 / (n1 - 1) + error2 * error2 / (n2 - 1))};
  });
}

PairedTTest paired_t_test(std::span<const double> differences, double level) {
  const bool finite = std::all_of(differences.begin(), differences.end(),
                                  [](double one) { return std::isfinite(one); });
  if (differences.size() < 2 || !finite) return {};
  const auto count = static_cast<double>(differences.size());
  const double degrees = count - 1;
  // In units of the largest, so that no square overflows or vanishes.
  double unit = 0;
  for (const double one : differences) unit = std::max(unit, std::fabs(one));
  if (unit == 0) return {{0, degrees, 1}, 0, 0};
  double mean = 0;
  for (const double one : differences) mean += one / unit / count;
  double squares = 0;
  for (const double one : differences) squares += (one / unit - mean) * (one / unit - mean);
  if (std::equal(differences.begin() + 1, differences.end(), differences.begin())) {
    return {{mean > 0 ? HUGE_VAL : -HUGE_VAL, degrees, 0}, differences.front(), 0};
  }
  const double error = std::sqrt(squares / degrees / count);  // of the mean
  const double t = mean / error;
  const boost::math::students_t_distribution<double, Policy> distribution(degrees);
  const double reach = quantile(complement(distribution, (1 - level) / 2));
  return {{t, degrees, two_tailed(t, degrees)}, mean * unit, reach * error * unit};
}

}  // namespace plackett
