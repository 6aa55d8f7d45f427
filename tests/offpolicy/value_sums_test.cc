#include "offpolicy/value_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

std::vector<double> counts_of(std::uint64_t seed, std::uint64_t unit, std::size_t logs) {
  std::vector<double> counts(logs);
  resample(seed, unit, counts);
  return counts;
}

TEST(Resample, DrawsPoissonNumbersWithMeanOne) {
  constexpr std::size_t kDraws = 200'000;
  const auto counts = counts_of(7, 3, kDraws);
  std::vector<std::uint64_t> seen(6);
  for (const double count : counts)
    ++seen[std::min<std::size_t>(static_cast<std::size_t>(count), 5)];
  std::vector<double> expected;
  double chance = std::exp(-1.0);
  double left = 1;
  for (int count = 0; count < 5; ++count) {
    expected.push_back(chance * kDraws);
    left -= chance;
    chance /= count + 1;
  }
  expected.push_back(left * kDraws);
  double statistic = 0;
  for (std::size_t at = 0; at < seen.size(); ++at) {
    const double difference = static_cast<double>(seen[at]) - expected[at];
    statistic += difference * difference / expected[at];
  }
  EXPECT_LT(statistic, 35.9);  // 5 degrees of freedom, alpha 1e-6
}

TEST(Resample, GivesAllListsOfAUnitTheSameCounts) {
  EXPECT_EQ(counts_of(7, 3, 101), counts_of(7, 3, 101));
  EXPECT_NE(counts_of(7, 3, 101), counts_of(7, 4, 101));
  EXPECT_NE(counts_of(7, 3, 101), counts_of(8, 3, 101));
}

TEST(Moments, AreThoseOfAllValuesAfterAMerge) {
  Moments all;
  Moments parts[2];
  Rng rng({.seed = 1});
  std::vector<double> values(1000);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = std::exp(rng.normal());
    all.add(values[at]);
    parts[at % 2].add(values[at]);
  }
  Moments merged;
  merged.merge(parts[0]);
  merged.merge(parts[1]);
  double mean = 0;
  for (const double value : values) mean += value / 1000;
  double variance = 0;
  double cubes = 0;
  for (const double value : values) {
    variance += (value - mean) * (value - mean) / 999;
    cubes += std::pow(value - mean, 3) / 1000;
  }
  for (const Moments& moments : {all, merged}) {
    EXPECT_NEAR(moments.mean(), mean, 1e-12);
    EXPECT_NEAR(moments.variance(), variance, 1e-10);
    EXPECT_NEAR(moments.skewness(), cubes / std::pow(variance, 1.5), 1e-8);
    EXPECT_EQ(moments.least, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(moments.greatest, *std::max_element(values.begin(), values.end()));
  }
}

TEST(Moments, HaveAsManyEffectiveValuesAsDecide) {
  Moments moments;
  for (int at = 0; at < 1000; ++at) moments.add(at < 70 ? 1 : 0);
  EXPECT_EQ(moments.effective(), 70);
  EXPECT_EQ(moments.deciding(), 70);
  for (int at = 0; at < 3; ++at) moments.add(100);
  EXPECT_NEAR(moments.effective(), 370 * 370 / 30070.0, 1e-9);
  EXPECT_NEAR(moments.deciding(), 3, 0.02);
  EXPECT_EQ(Moments{}.effective(), 0);
  EXPECT_EQ(Moments{}.deciding(), 0);
}

TEST(BernsteinInterval, IsThatOfTheFormula) {
  Moments moments;
  for (const double value : {0.0, 1.0, 1.0, 0.0, 1.0}) moments.add(value);
  const Interval interval = bernstein_interval(moments, 0.9);
  const double log = std::log(40.0);
  const double radius = std::sqrt(2 * 0.3 * log / 5) + 7 * log / 12;
  EXPECT_NEAR(interval.low, 0.6 - radius, 1e-12);
  EXPECT_NEAR(interval.high, 0.6 + radius, 1e-12);
}

TEST(BootstrapInterval, OfSymmetricValuesHasTheirQuantiles) {
  std::vector<double> values;
  for (int at = 0; at <= 1000; ++at) values.push_back(at);
  const Interval interval = bootstrap_interval(500, values, 0, 100, 0.9);
  EXPECT_NEAR(interval.low, 50, 1.5);
  EXPECT_NEAR(interval.high, 950, 1.5);
}

TEST(BootstrapInterval, MovesUpWithSkewness) {
  std::vector<double> values;
  for (int at = 0; at <= 1000; ++at) values.push_back(at);
  const Interval interval = bootstrap_interval(500, values, 5, 100, 0.9);
  EXPECT_GT(interval.low, 55);
  EXPECT_GT(interval.high, 960);
}

}  // namespace
}  // namespace plackett
