// Do counted outcomes come from the stated distribution? For statistical tests, which use fixed
// seeds and one false-alarm rate.
#pragma once

#include <gtest/gtest.h>

#include <boost/math/special_functions/gamma.hpp>
#include <cstdint>
#include <span>

namespace plackett::testing {

inline constexpr double kFalseAlarmRate = 1e-6;

// Pearson's chi-square probability of counts at least this far from `expected` (probabilities
// that sum to 1). Outcomes expected fewer than five times are pooled; an outcome of
// probability 0 that was seen gives 0.
inline double chi_square_p(std::span<const std::uint64_t> counts,
                           std::span<const double> expected) {
  EXPECT_EQ(counts.size(), expected.size());
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  double statistic = 0;
  double cells = 0;
  double rare_seen = 0;
  double rare_expected = 0;
  for (std::size_t at = 0; at < counts.size(); ++at) {
    const auto seen = static_cast<double>(counts[at]);
    const double wanted = expected[at] * total;
    if (expected[at] == 0 && seen > 0) return 0;
    if (wanted < 5) {
      rare_seen += seen;
      rare_expected += wanted;
      continue;
    }
    statistic += (seen - wanted) * (seen - wanted) / wanted;
    cells += 1;
  }
  if (rare_expected >= 5) {
    statistic += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
    cells += 1;
  }
  return cells < 2 ? 1 : boost::math::gamma_q((cells - 1) / 2, statistic / 2);
}

}  // namespace plackett::testing
