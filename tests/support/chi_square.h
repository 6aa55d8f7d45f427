// Pearson's statistic, for tests of frequencies.
#pragma once

#include <cstdint>
#include <span>

namespace plackett::testing {

// Requires: every expected probability above 0.
inline double chi_square(std::span<const std::uint64_t> counts,
                         std::span<const double> probabilities) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    const double difference = static_cast<double>(counts[i]) - expected;
    statistic += difference * difference / expected;
  }
  return statistic;
}

}  // namespace plackett::testing
