#include "offpolicy/value_sums.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "plackett/rng.h"

namespace plackett {
namespace {

// Poisson(1) as thresholds of 16 bits: count c where the draw is below kUpTo[c] and not before.
const std::array<std::uint32_t, 9>& poisson_thresholds() {
  static const std::array<std::uint32_t, 9> thresholds = [] {
    std::array<std::uint32_t, 9> made{};
    double chance = std::exp(-1.0);
    double sum = 0;
    for (std::uint32_t count = 0; count < made.size(); ++count) {
      sum += chance;
      made[count] = static_cast<std::uint32_t>(std::lround(sum * 65536));
      chance /= count + 1;
    }
    return made;
  }();
  return thresholds;
}

double poisson(std::uint32_t bits) {
  const auto& thresholds = poisson_thresholds();
  std::uint32_t count = 0;
  while (count < thresholds.size() && bits >= thresholds[count]) ++count;
  return count;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double normal_quantile(double p) {
  constexpr double kLeast = 1e-12;
  return boost::math::quantile(boost::math::normal(), std::clamp(p, kLeast, 1 - kLeast));
}

}  // namespace

void resample(std::uint64_t seed, std::uint64_t unit, std::span<double> counts) {
  Rng rng({.seed = seed,
           .impression = unit & ((std::uint64_t{1} << 56) - 1),
           .purpose = Purpose::kBootstrap});
  for (std::size_t at = 0; at < counts.size(); at += 2) {
    const std::uint32_t bits = rng.next_u32();
    counts[at] = poisson(bits & 0xFFFFU);
    if (at + 1 < counts.size()) counts[at + 1] = poisson(bits >> 16);
  }
}

void Moments::add(double value) {
  least = count == 0 ? value : std::min(least, value);
  greatest = count == 0 ? value : std::max(greatest, value);
  count += 1;
  sum += value;
  squares += value * value;
  cubes += value * value * value;
  fourths += value * value * value * value;
}

void Moments::merge(const Moments& other) {
  if (other.count == 0) return;
  least = count == 0 ? other.least : std::min(least, other.least);
  greatest = count == 0 ? other.greatest : std::max(greatest, other.greatest);
  count += other.count;
  sum += other.sum;
  squares += other.squares;
  cubes += other.cubes;
  fourths += other.fourths;
}

double Moments::variance() const {
  if (count < 2) return 0;
  return std::max(0.0, (squares - sum * mean()) / (count - 1));
}

double Moments::skewness() const {
  const double deviation = std::sqrt(variance());
  if (!(deviation > 0)) return 0;
  const double at = mean();
  const double central = cubes / count - 3 * at * squares / count + 2 * at * at * at;
  return central / (deviation * deviation * deviation);
}

Interval bernstein_interval(const Moments& moments, double level) {
  const double log = std::log(4 / (1 - level));
  const double radius = std::sqrt(2 * moments.variance() * log / moments.count) +
                        7 * (moments.greatest - moments.least) * log / (3 * (moments.count - 1));
  return {moments.mean() - radius, moments.mean() + radius};
}

Interval bootstrap_interval(double value, std::vector<double>& values, double skewness,
                            double count, double level) {
  std::sort(values.begin(), values.end());
  const auto size = static_cast<double>(values.size());
  const auto below = std::lower_bound(values.begin(), values.end(), value) - values.begin();
  const auto up_to = std::upper_bound(values.begin(), values.end(), value) - values.begin();
  // Half a count keeps the correction finite.
  const double bias = normal_quantile(
      std::clamp((static_cast<double>(below + up_to) / 2) / size, 0.5 / size, 1 - 0.5 / size));
  const double acceleration = skewness / (6 * std::sqrt(std::max(1.0, count)));
  const auto end = [&](double tail) {
    const double z = bias + normal_quantile(tail);
    const double share = normal_cdf(bias + z / (1 - acceleration * z));
    // Between the order statistics.
    const double at = std::clamp(share * size - 0.5, 0.0, size - 1);
    const auto lower = static_cast<std::size_t>(at);
    const std::size_t upper = std::min(lower + 1, values.size() - 1);
    const double part = at - static_cast<double>(lower);
    return values[lower] + part * (values[upper] - values[lower]);
  };
  return {end((1 - level) / 2), end((1 + level) / 2)};
}

}  // namespace plackett
