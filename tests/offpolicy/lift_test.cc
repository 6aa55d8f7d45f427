#include "offpolicy/lift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

namespace plackett {
namespace {

constexpr ArmNames kNames{"old", "learned"};

// Units with one list each, `clicked` of them worth `worth`.
RatioSums arm(int units, int clicked, double worth = 1) {
  RatioSums sums;
  for (int unit = 0; unit < units; ++unit) sums.change({}, {1, unit < clicked ? worth : 0});
  return sums;
}

// One click per unit.
RatioSums duels(int baseline, int challenger) {
  RatioSums sums;
  for (int unit = 0; unit < baseline; ++unit) sums.change({}, {1, 0});
  for (int unit = 0; unit < challenger; ++unit) sums.change({}, {0, 1});
  return sums;
}

double half_width(double variance, double alpha) {
  constexpr double kMixture = 0.0025;
  return std::sqrt(variance * (variance + kMixture) / kMixture *
                   (std::log((variance + kMixture) / variance) + 2 * std::log(1 / alpha)));
}

TEST(Lift, OfASplitIsThatOfTheFormula) {
  const ArmComparison found = compare_split(arm(1000, 300), arm(1000, 360), kNames, {});
  ASSERT_TRUE(found.lift);
  EXPECT_EQ(found.no_lift, "");
  // The variance of a share p of n units, relative: (1 - p) / (p (n - 1)).
  const double before = 0.7 / (0.3 * 999);
  const double after = 0.64 / (0.36 * 999);
  const double ratio = std::log(1.2);
  EXPECT_NEAR(found.lift->value, 0.2, 1e-12);
  EXPECT_NEAR(found.variance, 2 * before, 1e-12);  // the greater of both
  const double half = half_width(2 * before, 0.05);
  EXPECT_NEAR(found.lift->low, std::exp(ratio - half) - 1, 1e-12);
  EXPECT_NEAR(found.lift->high, std::exp(ratio + half) - 1, 1e-12);
  EXPECT_NEAR(found.lift->p_value, std::erfc(ratio / std::sqrt(2 * (before + after))), 1e-12);
  const double variance = found.variance;
  const double likelihood = std::sqrt(variance / (variance + 0.0025)) *
                            std::exp(0.0025 * ratio * ratio / (2 * variance * (variance + 0.0025)));
  EXPECT_NEAR(found.lift->anytime_p_value, std::min(1.0, 1 / likelihood), 1e-12);
}

TEST(Lift, OfAnInterleavingComparesTheCredits) {
  const ArmComparison found = compare_interleaved(duels(1000, 1100), kNames, {});
  ASSERT_TRUE(found.lift);
  EXPECT_NEAR(found.lift->value, 0.1, 1e-12);
  EXPECT_NEAR(found.variance, (1 / 1000.0 + 1 / 1100.0) * 2100 / 2099, 1e-12);
}

TEST(Lift, ExcludesZeroExactlyWhenTheAnytimePValueIsBelowTheLevelsRest) {
  int excluded = 0;
  for (const std::uint32_t challengers : {1U, 3U}) {
    for (int clicked = 1500; clicked <= 2500; clicked += 20) {
      const auto lift = compare_split(arm(5000, 2000), arm(5000, clicked), kNames,
                                      {.level = 0.9, .challengers = challengers})
                            .lift;
      ASSERT_TRUE(lift);
      const bool outside = lift->low > 0 || lift->high < 0;
      EXPECT_EQ(outside, lift->anytime_p_value < 0.1);
      excluded += outside;
    }
  }
  EXPECT_GT(excluded, 20);
  EXPECT_LT(excluded, 90);
}

TEST(Lift, OfOneOfManyChallengersIsWider) {
  const auto one = compare_split(arm(1000, 300), arm(1000, 330), kNames, {}).lift;
  const auto of_four =
      compare_split(arm(1000, 300), arm(1000, 330), kNames, {.challengers = 4}).lift;
  EXPECT_LT(of_four->low, one->low);
  EXPECT_GT(of_four->high, one->high);
  EXPECT_EQ(of_four->p_value, 4 * one->p_value);
}

TEST(Lift, SwapsSignWithTheArms) {
  const auto one = compare_split(arm(900, 300), arm(1000, 360), kNames, {}).lift;
  const auto other = compare_split(arm(1000, 360), arm(900, 300), kNames, {}).lift;
  EXPECT_NEAR((1 + one->low) * (1 + other->high), 1, 1e-12);
  EXPECT_EQ(one->anytime_p_value, other->anytime_p_value);
}

TEST(Lift, IsNoneUntilEnoughUnitsHaveAValue) {
  EXPECT_EQ(compare_split({}, {}, kNames, {}).no_lift,
            "0 units with a value in old; 50 are needed");
  EXPECT_EQ(compare_split(arm(400, 200), arm(100, 31), kNames, {}).no_lift,
            "31 units with a value in learned; 50 are needed");
  EXPECT_EQ(compare_interleaved(duels(49, 70), kNames, {}).no_lift,
            "49 units with a value for old; 50 are needed");
  EXPECT_TRUE(compare_split(arm(100, 50), arm(100, 50), kNames, {}).lift);
  EXPECT_TRUE(compare_interleaved(duels(50, 50), kNames, {}).lift);
}

TEST(Lift, IsNoneWhileFewUnitsSeeMostLists) {
  RatioSums sums = arm(100, 60);
  sums.change({}, {40, 20});
  EXPECT_EQ(compare_split(arm(100, 60), sums, kNames, {}).no_lift,
            "lists of learned come from few units, as many as 11 equal ones; 50 are needed");
  RatioSums credits = duels(100, 100);
  credits.change({}, {40, 20});
  EXPECT_EQ(compare_interleaved(credits, kNames, {}).no_lift,
            "values come from few units, as many as 17 equal ones; 50 are needed");
}

TEST(Lift, IsNoneWithoutVarianceOrWithNegativeValues) {
  EXPECT_EQ(compare_split(arm(100, 100), arm(100, 100, 0.63), kNames, {}).no_lift,
            "all units are alike: no variance is known yet");
  EXPECT_EQ(compare_split(arm(100, 60), arm(100, 60, -1), kNames, {}).no_lift,
            "the value of learned is -60; it must be above 0");
}

TEST(Lift, OfAnArmWithoutRareOutcomesTakesTheOthersVariance) {
  // All of the challenger's units clicked: its own variance is 0, but it can't be known so well.
  const auto lift = compare_split(arm(2000, 1980), arm(100, 100), kNames, {}).lift;
  ASSERT_TRUE(lift);
  EXPECT_LT(lift->p_value, 1e-4);
  EXPECT_LT(lift->low, 0);
}

// Units with one list each that clicked, and some that bought something.
RatioSums buyers(int units, int clicked, int bought, double weight) {
  RatioSums sums = arm(units - bought, clicked);
  for (int unit = 0; unit < bought; ++unit) sums.change({}, {1, weight});
  return sums;
}

TEST(Lift, IsNoneWhileAFewLargeValuesDecide) {
  const SequenceOptions options{.largest_event = 1000};
  const RatioSums known = buyers(9000, 900, 60, 1000);
  EXPECT_EQ(
      compare_split(known, buyers(9000, 900, 9, 1000), kNames, options).no_lift,
      "values of learned depend on rare large events, as many as 10 equal ones; 50 are needed");
  EXPECT_TRUE(compare_split(known, buyers(9000, 900, 55, 1000), kNames, options).lift);
}

TEST(Lift, IsNoneWhileAnEventThatIsYetToComeCouldDecide) {
  const SequenceOptions options{.largest_event = 100};
  EXPECT_EQ(compare_split(arm(9000, 900), arm(9000, 990), kNames, options).no_lift,
            "values of old depend on rare large events, as many as 1 equal ones; 50 are needed");
  EXPECT_EQ(compare_interleaved(duels(900, 990), kNames, options).no_lift,
            "values depend on rare large events, as many as 0 equal ones; 50 are needed");
  EXPECT_FALSE(greatest_lift_of_interleaved(duels(900, 90), options));
  EXPECT_TRUE(compare_split(arm(900, 600), arm(900, 630), kNames, {.largest_event = 2}).lift);
  EXPECT_TRUE(
      compare_split(buyers(9000, 900, 60, 100), buyers(9000, 990, 60, 100), kNames, options).lift);
}

TEST(Lift, IsThereThoughOneUnitComesOften) {
  const SequenceOptions options{.largest_event = 2};
  RatioSums sums = arm(5000, 2500);
  sums.change({}, {100, 70});
  EXPECT_TRUE(compare_split(arm(5000, 2500), sums, kNames, options).lift);
}

TEST(Lift, OfSumsThatDontSayHowUnevenTheyAreIsThere) {
  RatioSums old = buyers(9000, 900, 9, 1000);
  old.v = old.vv = 0;
  EXPECT_TRUE(compare_split(old, old, kNames, {.largest_event = 1000}).lift);
}

double greatest(const RatioSums& baseline, const RatioSums& challenger) {
  return greatest_lift_of_split(baseline, challenger, {}).value();
}

TEST(GreatestLift, IsTheIntervalsEndWhereThereIsALift) {
  EXPECT_EQ(greatest(arm(1000, 300), arm(1000, 280)),
            compare_split(arm(1000, 300), arm(1000, 280), kNames, {}).lift->high);
  EXPECT_EQ(greatest_lift_of_interleaved(duels(100, 90), {}),
            compare_interleaved(duels(100, 90), kNames, {}).lift->high);
}

TEST(GreatestLift, OfAnArmWithoutClicksFallsBelowAnyLimit) {
  EXPECT_GT(greatest(arm(1000, 500), arm(60, 0)), 0);
  EXPECT_LT(greatest(arm(1000, 500), arm(400, 0)), -0.05);
  EXPECT_LT(greatest(arm(1000, 500), arm(4000, 40)), -0.8) << "clicks of 1 %";
  EXPECT_GT(greatest_lift_of_interleaved(duels(60, 0), {}), 0);
  EXPECT_LT(greatest_lift_of_interleaved(duels(300, 3), {}), -0.05);
}

TEST(GreatestLift, OfAnArmBelowZeroFallsBelowAnyLimit) {
  EXPECT_LT(greatest(arm(1000, 500), arm(600, 100, -1)), -0.05);
  EXPECT_LT(greatest(arm(9000, 4500), arm(4000, 2000, -1)), -0.05);
  EXPECT_GT(greatest(arm(1000, 500), arm(60, 30, -1)), 0);
}

TEST(GreatestLift, NeverFallsWithAnotherClick) {
  double last = -1;
  for (int clicked = 0; clicked <= 50; ++clicked) {
    const double now = greatest(arm(1000, 500), arm(400, clicked));
    EXPECT_GE(now, last) << clicked;
    last = now;
  }
}

TEST(GreatestLift, IsNoneUntilTheBaselineIsKnownAndTheChallengerWasSeen) {
  EXPECT_FALSE(greatest_lift_of_split(arm(400, 49), arm(400, 0), {}));
  EXPECT_FALSE(greatest_lift_of_split(arm(400, 200), arm(49, 0), {}));
  EXPECT_FALSE(greatest_lift_of_split(arm(400, 200, -1), arm(400, 0), {}));
  EXPECT_FALSE(
      greatest_lift_of_split(buyers(9000, 900, 20, 1000), arm(4000, 0), {.largest_event = 1000}));
  EXPECT_FALSE(greatest_lift_of_interleaved(duels(49, 0), {}));
}

TEST(SequenceHalfWidth, IsAtMostTwiceThatOfAFixedIntervalWhereAnEffectShows) {
  for (const double effect : {0.01, 0.02, 0.05, 0.1, 0.2}) {
    double variance = 1;
    while (sequence_half_width(variance, {}) > std::log1p(effect)) variance *= 0.999;
    const double ratio = sequence_half_width(variance, {}) / (1.96 * std::sqrt(variance));
    std::cout << effect << ": " << ratio << "\n";
    EXPECT_GT(ratio, 1.5);
    EXPECT_LT(ratio, 2);
  }
}

TEST(SecondsUntilShown, AreWhenTheHalfWidthFallsToTheEffect) {
  const ArmComparison found = compare_split(arm(1000, 300), arm(1000, 310), kNames, {});
  for (const double effect : {0.01, 0.05, 0.1}) {
    const auto seconds = seconds_until_shown(effect, 3600, found, {});
    ASSERT_TRUE(seconds);
    const double later = found.variance * 3600 / (3600 + *seconds);
    EXPECT_NEAR(sequence_half_width(later, {}), std::log1p(effect), 1e-9);
  }
}

TEST(SecondsUntilShown, AreZeroForEffectsThatShowByNowAndNoneWithoutALift) {
  const ArmComparison found = compare_split(arm(1000, 300), arm(1000, 310), kNames, {});
  EXPECT_EQ(seconds_until_shown(5, 3600, found, {}), 0.0);
  EXPECT_EQ(seconds_until_shown(0.1, 3600, compare_split({}, {}, kNames, {}), {}), std::nullopt);
}

}  // namespace
}  // namespace plackett
