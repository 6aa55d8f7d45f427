// Sums over a log from which values and their intervals follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "plackett/off_policy.h"

namespace plackett {

// How often a unit's lists are in each of many resampled logs: independent Poisson numbers with
// mean 1 (a bootstrap that needs no second look at the log). A function of (seed, unit).
void resample(std::uint64_t seed, std::uint64_t unit, std::span<double> counts);

// Of one number per list.
struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;
  double cubes = 0;
  double fourths = 0;
  double least = 0;
  double greatest = 0;

  void add(double value);
  // Values between these are possible, whether they were seen or not. Requires: one was added.
  void allow(double low, double high) {
    least = std::min(least, low);
    greatest = std::max(greatest, high);
  }
  // As many equal values other than 0 have a sum, or squares, that are as uncertain: the second
  // counts large values more.
  [[nodiscard]] double effective() const { return squares > 0 ? sum * sum / squares : 0; }
  [[nodiscard]] double deciding() const { return fourths > 0 ? squares * squares / fourths : 0; }
  void merge(const Moments& other);
  [[nodiscard]] double mean() const { return count > 0 ? sum / count : 0.0; }
  [[nodiscard]] double variance() const;  // of the sample
  [[nodiscard]] double skewness() const;
};

// mean +- (sqrt(2 variance log(4 / delta) / n) + 7 range log(4 / delta) / (3 (n - 1))), where delta
// is 1 - level (Maurer & Pontil, 2009). Requires: at least two numbers.
Interval bernstein_interval(const Moments& moments, double level);

// BCa (Efron, 1987): `values` of the resampled logs, in any order; `skewness` of the numbers whose
// mean the value is, `count` of them. Sorts `values`. Requires: not empty.
Interval bootstrap_interval(double value, std::vector<double>& values, double skewness,
                            double count, double level);

}  // namespace plackett
