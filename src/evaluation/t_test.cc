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

// Both sides in units of the larger deviation, so that no square overflows or vanishes.
struct Scaled {
  double difference = 0;
  double variance_one = 0;
  double variance_other = 0;
};

Scaled scaled(const SampleSummary& one, const SampleSummary& other) {
  const double unit = std::max(one.std, other.std);
  const double spread_one = one.std / unit;
  const double spread_other = other.std / unit;
  return {one.mean / unit - other.mean / unit, spread_one * spread_one,
          spread_other * spread_other};
}

TTestResult without_spread(const SampleSummary& one, const SampleSummary& other) {
  const double degrees = static_cast<double>(one.count) + static_cast<double>(other.count) - 2;
  if (one.mean == other.mean) return {0, degrees, 1};
  return {one.mean > other.mean ? HUGE_VAL : -HUGE_VAL, degrees, 0};
}

TTestResult verdict(double t, double degrees) {
  if (std::isnan(t)) return {};
  return {t, degrees, two_tailed(t, degrees)};
}

}  // namespace

TTestResult student_t_test(const SampleSummary& one, const SampleSummary& other) {
  if (!testable(one) || !testable(other)) return {};
  if (one.std == 0 && other.std == 0) return without_spread(one, other);
  const auto count_one = static_cast<double>(one.count);
  const auto count_other = static_cast<double>(other.count);
  const double degrees = count_one + count_other - 2;
  const auto [difference, variance_one, variance_other] = scaled(one, other);
  const double pooled =
      ((count_one - 1) * variance_one + (count_other - 1) * variance_other) / degrees;
  return verdict(difference / std::sqrt(pooled * (1 / count_one + 1 / count_other)), degrees);
}

TTestResult welch_t_test(const SampleSummary& one, const SampleSummary& other) {
  if (!testable(one) || !testable(other)) return {};
  if (one.std == 0 && other.std == 0) return without_spread(one, other);
  const auto count_one = static_cast<double>(one.count);
  const auto count_other = static_cast<double>(other.count);
  const auto [difference, variance_one, variance_other] = scaled(one, other);
  const double error_one = variance_one / count_one;  // squared standard errors of the means
  const double error_other = variance_other / count_other;
  const double error = error_one + error_other;
  const double degrees =
      error * error /
      (error_one * error_one / (count_one - 1) + error_other * error_other / (count_other - 1));
  return verdict(difference / std::sqrt(error), degrees);
}

}  // namespace plackett
