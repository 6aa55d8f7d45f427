#include "evaluation/t_test.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

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

// Hours of sleep gained with one drug over another (Student, Biometrika 1908); R's manual shows the
// test's result: t = 4.0621, p = 0.002833, 0.7001142 to 2.4598858.
const std::vector<double> kSleep{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(PairedTTest, AgreesWithWhatIsPublished) {
  const PairedTTest found = paired_t_test(kSleep);
  EXPECT_NEAR(found.t, 4.0621, 5e-5);
  EXPECT_EQ(found.degrees, 9);
  EXPECT_NEAR(found.p, 0.002833, 5e-7);
  EXPECT_NEAR(found.p, plain_p(found.t, 9), 1e-8);
  EXPECT_NEAR(found.mean, 1.58, 1e-15);
  EXPECT_NEAR(found.mean - found.half_width, 0.7001142, 5e-8);
  EXPECT_NEAR(found.mean + found.half_width, 2.4598858, 5e-8);
}

TEST(PairedTTest, TheIntervalEndsWhereTheTestReachesItsLevel) {
  for (const double level : {0.5, 0.95, 0.999}) {
    const PairedTTest found = paired_t_test(kSleep, level);
    std::vector<double> shifted = kSleep;
    for (double& one : shifted) one -= found.mean - found.half_width;
    EXPECT_NEAR(paired_t_test(shifted).p, 1 - level, 1e-12);
  }
}

TEST(PairedTTest, ScalesWithItsDifferences) {
  const PairedTTest plain = paired_t_test(kSleep);
  for (const double unit : {-1.0, 1e-300, 1e300}) {
    std::vector<double> scaled = kSleep;
    for (double& one : scaled) one *= unit;
    const PairedTTest found = paired_t_test(scaled);
    EXPECT_NEAR(found.t, std::copysign(plain.t, unit), 1e-12);
    EXPECT_NEAR(found.p, plain.p, 1e-14);
    EXPECT_NEAR(found.half_width / std::fabs(unit), plain.half_width, 1e-12);
  }
}

TEST(PairedTTest, KnowsItsLimits) {
  EXPECT_TRUE(std::isnan(paired_t_test({}).p));
  EXPECT_TRUE(std::isnan(paired_t_test(std::array{1.0}).mean));
  EXPECT_TRUE(std::isnan(paired_t_test(std::array{1.0, 2.0, HUGE_VAL}).t));
  const PairedTTest none = paired_t_test(std::array{0.0, 0.0, 0.0});
  EXPECT_EQ(none.t, 0);
  EXPECT_EQ(none.p, 1);
  EXPECT_EQ(none.half_width, 0);
  const PairedTTest same = paired_t_test(std::array{-0.1, -0.1, -0.1});
  EXPECT_EQ(same.t, -HUGE_VAL);
  EXPECT_EQ(same.p, 0);
  EXPECT_EQ(same.mean, -0.1);
}

}  // namespace
}  // namespace plackett
