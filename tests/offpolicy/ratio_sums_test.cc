#include "offpolicy/ratio_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

RatioSums sums_of(const std::vector<UnitTotals>& units) {
  RatioSums sums;
  for (const UnitTotals& unit : units) sums.change({}, unit);
  return sums;
}

// `changes` lists of `units` units, worth what `value` draws. `all` gets the units' totals.
template <typename Value>
RatioSums after_changes(int changes, std::uint32_t units, std::vector<UnitTotals>& all,
                        Value value) {
  Rng rng({.seed = 3});
  RatioSums sums;
  all.assign(units, {});
  for (int change = 0; change < changes; ++change) {
    UnitTotals& unit = all[rng.below(units)];
    const UnitTotals before = unit;
    unit = {before.x + 1, before.y + value(rng)};
    sums.change(before, unit);
  }
  return sums;
}

// v is a quotient, which rounds.
RatioSums without_v(RatioSums sums) {
  sums.v = sums.vv = 0;
  return sums;
}

TEST(RatioSums, OfCountsAreExactAfterAMillionChanges) {
  std::vector<UnitTotals> all;
  RatioSums sums = after_changes(1'000'000, 5000, all, [](Rng& rng) { return rng.below(4); });
  EXPECT_EQ(without_v(sums), without_v(sums_of(all)));
  EXPECT_NEAR(sums.v / sums_of(all).v, 1, 1e-9);
  EXPECT_NEAR(sums.vv / sums_of(all).vv, 1, 1e-9);
  for (const UnitTotals& unit : all) sums.change(unit, {});
  EXPECT_EQ(without_v(sums), RatioSums{});
}

TEST(RatioSums, HaveSquaredValuesPerList) {
  const RatioSums sums = sums_of({{1, 0}, {2, 3}, {4, -2}, {0, 5}});
  EXPECT_EQ(sums.v, 4.5 + 1);
  EXPECT_EQ(sums.vv, 4.5 * 4.5 + 1);
}

TEST(RatioSums, OfRealsDriftLessThanAMillionthOfABillionthPerChange) {
  std::vector<UnitTotals> all;
  const RatioSums sums = after_changes(1'000'000, 5000, all, [](Rng& rng) {
    return rng.below(3) == 0 ? 1 / std::log2(rng.below(10) + 2.0) : 0.0;
  });
  const RatioSums expected = sums_of(all);
  EXPECT_EQ(sums.units, expected.units);
  EXPECT_EQ(sums.y_units, expected.y_units);
  constexpr double kDrift = 1e-15 * 1e6;
  EXPECT_NEAR(sums.y / expected.y, 1, kDrift);
  EXPECT_NEAR(sums.xy / expected.xy, 1, kDrift);
  EXPECT_NEAR(sums.yy / expected.yy, 1, kDrift);
  EXPECT_NEAR(log_ratio(sums).variance / log_ratio(expected).variance, 1, 1e-8);
}

TEST(RatioSums, CountUnitsWithEitherTotal) {
  RatioSums sums = sums_of({{0, 0}, {1, 0}, {0, 2}, {3, 4}});
  EXPECT_EQ(sums.units, 3);
  EXPECT_EQ(sums.x_units, 2);
  EXPECT_EQ(sums.y_units, 2);
  sums.change({1, 0}, {1, 1});
  EXPECT_EQ(sums.units, 3);
  EXPECT_EQ(sums.y_units, 3);
}

TEST(RatioSums, MergedAreThoseOfAllUnits) {
  RatioSums sums = sums_of({{1, 0}, {2, 3}});
  sums.merge(sums_of({{0, 2}, {3, 4}}));
  EXPECT_EQ(sums, sums_of({{1, 0}, {2, 3}, {0, 2}, {3, 4}}));
}

TEST(LogRatio, HasTheVarianceOfTheFormula) {
  const std::vector<UnitTotals> units{{3, 1}, {1, 0}, {4, 2.5}, {2, 2}};
  const LogRatio ratio = log_ratio(sums_of(units));
  double squares = 0;
  for (const UnitTotals& unit : units) squares += std::pow(unit.y / 5.5 - unit.x / 10, 2);
  EXPECT_NEAR(ratio.value, std::log(0.55), 1e-15);
  EXPECT_NEAR(ratio.variance, squares * 4 / 3, 1e-15);
}

TEST(LogRatio, OfUnitsThatAreAlikeHasNoVariance) {
  std::vector<UnitTotals> units;
  for (int unit = 1; unit <= 70; ++unit) units.push_back({unit * 1.0, unit / std::log2(3.0)});
  EXPECT_EQ(log_ratio(sums_of(units)).variance, 0);
}

TEST(LogRatio, HasTheVarianceOfManyRepetitions) {
  // Units with 1 to 4 lists and a click rate of their own. The tolerance is four standard errors
  // of the variance of 4,000 repetitions.
  Rng rng({.seed = 8});
  constexpr int kRuns = 4000;
  double sum = 0;
  double squares = 0;
  double stated = 0;
  for (int run = 0; run < kRuns; ++run) {
    RatioSums sums;
    for (int at = 0; at < 200; ++at) {
      UnitTotals unit{1.0 + rng.below(4), 0};
      const double rate = 0.1 + 0.8 * rng.uniform();
      for (int list = 0; list < unit.x; ++list) unit.y += rng.uniform() < rate ? 1 : 0;
      sums.change({}, unit);
    }
    const LogRatio ratio = log_ratio(sums);
    sum += ratio.value;
    squares += ratio.value * ratio.value;
    stated += ratio.variance / kRuns;
  }
  const double variance = (squares - sum * sum / kRuns) / (kRuns - 1);
  EXPECT_NEAR(stated / variance, 1, 4 * std::sqrt(2.0 / kRuns));
}

}  // namespace
}  // namespace plackett
