#include "evaluation/t_test.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

struct Known {
  SampleSummary one;
  SampleSummary other;
  TTestResult student;
  TTestResult welch;
};

// At 60 digits, from the regularised incomplete beta function (mpmath); the summaries are mostly
// the paper's.
constexpr std::array<Known, 8> kKnown{{
    {{0.511, 0.017, 125},
     {0.483, 0.023, 125},
     {10.9455196760133372, 248, 5.24606367338285979e-23},
     {10.9455196760133372, 228.343569222978737, 1.08859647185614657e-22}},
    {{560.9, 14.6, 125},
     {573.7, 68.4, 125},
     {-2.04613451381162193, 248, 0.0417978820752619416},
     {-2.04613451381162193, 135.275728537905553, 0.0426804764502435632}},
    {{0.483, 0.022, 125},
     {0.478, 0.022, 125},
     {1.79674867055021553, 248, 0.0735923059375044561},
     {1.79674867055021553, 248, 0.0735923059375044561}},
    {{818.3, 39.6, 125},
     {815.1, 44.5, 125},
     {0.600603816514449426, 248, 0.548652370095926341},
     {0.600603816514449426, 244.699725641983865, 0.548659762204246904}},
    {{1.5, 0.5, 2},
     {1.0, 2.0, 3},
     {0.330289129537908182, 3, 0.762902550440757012},
     {0.414039335605412531, 2.35124760076775432, 0.713619355334000987}},
    {{20, 3, 10},
     {15, 1, 4},
     {3.19438282499969957, 12, 0.00771252334172895599},
     {4.66252404120156883, 11.9323308270676692, 0.000556758948582021119}},
    // Student's p is 5.4e-453, below what a double holds.
    {{957.5, 9.4, 125},
     {64.5, 2.1, 125},
     {1036.5796703373913, 248, 0},
     {1036.5796703373913, 136.34679110835391, 1.54288894127756639e-267}},
    {{5, 0, 10},
     {4, 1.5, 6},
     {2.16024689946928674, 14, 0.0485802888870239258},
     {1.63299316185545207, 5, 0.16339868711766825}},
}};

void expect_same(const TTestResult& found, const TTestResult& expected) {
  EXPECT_NEAR(found.t, expected.t, 1e-12 * std::fabs(expected.t));
  EXPECT_NEAR(found.degrees, expected.degrees, 1e-12 * expected.degrees);
  EXPECT_NEAR(found.p, expected.p, 1e-11 * expected.p);
}

// The density of Student's t, integrated from |t| by Simpson's rule on t = tan(u).
double plain_p(double t, double degrees) {
  const double constant = std::exp(std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2)) /
                          std::sqrt(degrees * std::acos(-1.0));
  const auto density = [&](double u) {
    const double at = std::tan(u);
    return constant * std::pow(1 + at * at / degrees, -(degrees + 1) / 2) * (1 + at * at);
  };
  const double first = std::atan(std::fabs(t));
  const double last = std::acos(-1.0) / 2 - 1e-9;
  const int steps = 20'000;
  const double width = (last - first) / steps;
  double sum = density(first) + density(last);
  for (int step = 1; step < steps; ++step) {
    sum += (step % 2 == 1 ? 4 : 2) * density(first + step * width);
  }
  return 2 * sum * width / 3;
}

SampleSummary summary_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1)), values.size()};
}

TEST(TTest, MatchesValuesOfHighPrecision) {
  for (const Known& known : kKnown) {
    expect_same(student_t_test(known.one, known.other), known.student);
    expect_same(welch_t_test(known.one, known.other), known.welch);
  }
}

TEST(TTest, MatchesTheIntegratedDensity) {
  for (const double mean : {0.01, 0.3, 1.0, 2.5}) {
    for (const std::uint64_t count : {4U, 9U, 125U}) {
      const TTestResult student = student_t_test({mean, 1, count}, {0, 2, 7});
      EXPECT_NEAR(student.p, plain_p(student.t, student.degrees), 1e-8);
      const TTestResult welch = welch_t_test({mean, 1, count}, {0, 2, 7});
      EXPECT_NEAR(welch.p, plain_p(welch.t, welch.degrees), 1e-8);
    }
  }
}

// The interval is where a test of "the difference is this" would have p >= 0.05.
TEST(TTest, IntervalsEndWherePIsFivePercent) {
  for (const Known& known : kKnown) {
    for (const auto test : {student_t_test, welch_t_test}) {
      const TTestResult result = test(known.one, known.other);
      EXPECT_DOUBLE_EQ(result.difference, known.one.mean - known.other.mean);
      SampleSummary moved = known.other;
      moved.mean += result.difference + result.half_width;
      EXPECT_NEAR(test(known.one, moved).p, 0.05, 1e-9);
    }
  }
}

TEST(PairedTTest, MatchesThePlainFormula) {
  Rng rng({.seed = 5});
  for (const std::size_t count : {2U, 3U, 10U, 125U}) {
    for (const double shift : {-0.3, 0.0, 0.1, 2.0}) {
      std::vector<double> differences;
      for (std::size_t at = 0; at < count; ++at) differences.push_back(shift + rng.normal());
      double mean = 0;
      for (const double one : differences) mean += one / static_cast<double>(count);
      double squares = 0;
      for (const double one : differences) squares += (one - mean) * (one - mean);
      const auto n = static_cast<double>(count);
      const double error = std::sqrt(squares / (n - 1) / n);
      const TTestResult result = paired_t_test(differences);
      EXPECT_DOUBLE_EQ(result.degrees, n - 1);
      EXPECT_NEAR(result.t, mean / error, 1e-10 * std::fabs(mean / error));
      EXPECT_NEAR(result.p, plain_p(mean / error, n - 1), 1e-8);
      EXPECT_NEAR(result.difference, mean, 1e-12);
      EXPECT_NEAR(plain_p(result.half_width / error, n - 1), 0.05, 1e-8);
    }
  }
}

TEST(PairedTTest, SwappingTheSidesNegatesTAndTheDifference) {
  const TTestResult there = paired_t_test(std::vector{0.1, -0.2, 0.5});
  const TTestResult back = paired_t_test(std::vector{-0.1, 0.2, -0.5});
  EXPECT_EQ(there.t, -back.t);
  EXPECT_EQ(there.difference, -back.difference);
  EXPECT_EQ(there.p, back.p);
  EXPECT_EQ(there.half_width, back.half_width);
}

TEST(PairedTTest, WithoutSpreadOnlyZeroIsNoDifference) {
  // 0.1 + 0.1 + 0.1 is not 3 * 0.1.
  for (const auto& [differences, t, p] : {std::tuple{std::vector{0.0, 0.0, 0.0}, 0.0, 1.0},
                                          {std::vector{0.1, 0.1, 0.1}, HUGE_VAL, 0.0},
                                          {std::vector{-0.1, -0.1, -0.1}, -HUGE_VAL, 0.0}}) {
    const TTestResult result = paired_t_test(differences);
    EXPECT_EQ(result.t, t);
    EXPECT_EQ(result.p, p);
    EXPECT_EQ(result.degrees, 2);
    EXPECT_EQ(result.difference, differences[0]);
    EXPECT_EQ(result.half_width, 0);
  }
}

TEST(PairedTTest, HasNoVerdictOnWhatItCanNotJudge) {
  for (const std::vector<double>& differences :
       {std::vector<double>{}, {1.0}, {1.0, std::nan("")}, {HUGE_VAL, 1.0}}) {
    const TTestResult result = paired_t_test(differences);
    for (const double value :
         {result.t, result.degrees, result.p, result.difference, result.half_width}) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST(PairedTTest, ScaleDoesNotMatter) {
  const TTestResult plain = paired_t_test(std::vector{1.0, 2.0, 4.0});
  for (const double scale : {1e-300, 1e-160, 1e160, 1e300}) {
    const TTestResult result = paired_t_test(std::vector{1.0 * scale, 2.0 * scale, 4.0 * scale});
    EXPECT_NEAR(result.t, plain.t, 1e-12);
    EXPECT_NEAR(result.p, plain.p, 1e-12);
    EXPECT_NEAR(result.half_width / scale, plain.half_width, 1e-12);
  }
}

// 10,000 comparisons of a method with itself: two sets of runs that share folds and queries by
// number and differ by chance only, as the learner's own randomness does. The standard error of the
// share is 0.22 %, so another seed would be outside 0.5 % once in 45 times.
TEST(PairedTTest, FindsADifferenceInFivePercentOfComparisonsOfAMethodWithItself) {
  constexpr int kComparisons = 10'000;
  constexpr std::size_t kRuns = 25;
  constexpr std::size_t kFolds = 5;
  int paired = 0;
  int welch = 0;
  int covered = 0;
  Rng rng({.seed = 7});
  for (int comparison = 0; comparison < kComparisons; ++comparison) {
    std::array<double, kFolds> fold{};
    for (double& effect : fold) effect = 0.02 * rng.normal();
    std::vector<double> one, other, differences;
    for (std::size_t run = 0; run < kRuns; ++run) {
      const double shared = 0.68 + fold[run % kFolds] + 0.005 * rng.normal();
      one.push_back(shared + 0.003 * rng.normal());
      other.push_back(shared + 0.003 * rng.normal());
      differences.push_back(one.back() - other.back());
    }
    const TTestResult result = paired_t_test(differences);
    paired += result.p < 0.05 ? 1 : 0;
    covered += std::fabs(result.difference) <= result.half_width ? 1 : 0;
    welch += welch_t_test(summary_of(one), summary_of(other)).p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(paired, 0.05 * kComparisons, 0.005 * kComparisons);
  EXPECT_EQ(covered, kComparisons - paired);
  // The check can fail: Welch's test takes what the runs share for chance.
  EXPECT_LT(welch, 0.001 * kComparisons);
}

TEST(TTest, SwappingTheSidesNegatesT) {
  for (const Known& known : kKnown) {
    for (const auto test : {student_t_test, welch_t_test}) {
      const TTestResult there = test(known.one, known.other);
      const TTestResult back = test(known.other, known.one);
      EXPECT_EQ(there.t, -back.t);
      EXPECT_DOUBLE_EQ(there.degrees, back.degrees);
      EXPECT_DOUBLE_EQ(there.p, back.p);
    }
  }
}

TEST(TTest, TestsAgreeForEqualVariancesAndCounts) {
  const TTestResult student = student_t_test({3, 0.5, 20}, {2.8, 0.5, 20});
  const TTestResult welch = welch_t_test({3, 0.5, 20}, {2.8, 0.5, 20});
  EXPECT_DOUBLE_EQ(student.t, welch.t);
  EXPECT_DOUBLE_EQ(student.degrees, welch.degrees);
  EXPECT_DOUBLE_EQ(student.p, welch.p);
}

TEST(TTest, WithoutSpreadOnlyEqualMeansAgree) {
  for (const auto test : {student_t_test, welch_t_test}) {
    EXPECT_EQ(test({0.5, 0, 5}, {0.5, 0, 5}).p, 1);
    EXPECT_EQ(test({0.5, 0, 5}, {0.5, 0, 5}).t, 0);
    EXPECT_EQ(test({0.6, 0, 5}, {0.5, 0, 5}).p, 0);
    EXPECT_EQ(test({0.6, 0, 5}, {0.5, 0, 5}).t, HUGE_VAL);
    EXPECT_EQ(test({0.4, 0, 5}, {0.5, 0, 5}).t, -HUGE_VAL);
    EXPECT_EQ(test({0.4, 0, 5}, {0.5, 0, 5}).degrees, 8);
  }
}

TEST(TTest, HasNoVerdictOnWhatItCanNotJudge) {
  const double nan = std::nan("");
  for (const auto test : {student_t_test, welch_t_test}) {
    for (const SampleSummary& odd :
         {SampleSummary{1, 0, 0}, SampleSummary{1, 0, 1}, SampleSummary{nan, 1, 9},
          SampleSummary{HUGE_VAL, 1, 9}, SampleSummary{1, nan, 9}, SampleSummary{1, -1, 9}}) {
      for (const TTestResult& result : {test(odd, {0, 1, 9}), test({0, 1, 9}, odd)}) {
        EXPECT_TRUE(std::isnan(result.t));
        EXPECT_TRUE(std::isnan(result.degrees));
        EXPECT_TRUE(std::isnan(result.p));
      }
    }
  }
}

TEST(TTest, ScaleDoesNotMatter) {
  for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    for (const auto test : {student_t_test, welch_t_test}) {
      const TTestResult result = test({2.0 * scale, 0.5 * scale, 7}, {1.5 * scale, 1.0 * scale, 5});
      const TTestResult plain = test({2.0, 0.5, 7}, {1.5, 1.0, 5});
      EXPECT_NEAR(result.t, plain.t, 1e-12);
      EXPECT_NEAR(result.p, plain.p, 1e-12);
    }
  }
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(welch_t_test({1, tiny, 5}, {0, tiny, 5}).p, 0);
}

}  // namespace
}  // namespace plackett
