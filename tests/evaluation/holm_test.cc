#include "evaluation/holm.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The procedure as Holm wrote it: reject the smallest p if it is at most alpha / m, then the next
// if it is at most alpha / (m - 1), and so on up to the first that is not.
std::vector<bool> plain_rejections(const std::vector<double>& p, double alpha) {
  std::vector<bool> rejected(p.size(), false);
  for (std::size_t left = p.size(); left > 0; --left) {
    std::size_t least = p.size();
    for (std::size_t at = 0; at < p.size(); ++at) {
      if (!rejected[at] && (least == p.size() || p[at] < p[least])) least = at;
    }
    if (p[least] > alpha / static_cast<double>(left)) break;
    rejected[least] = true;
  }
  return rejected;
}

TEST(Holm, MultipliesTheSmallestByTheNumberOfTests) {
  EXPECT_THAT(holm(std::vector{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
  EXPECT_THAT(holm(std::vector{0.5, 0.9}), ElementsAre(1, 1));
  EXPECT_THAT(holm(std::vector{0.03}), ElementsAre(0.03));
  EXPECT_THAT(holm(std::vector<double>{}), IsEmpty());
}

TEST(Holm, RejectsWhatTheProcedureRejects) {
  Rng rng({.seed = 3});
  for (int family = 0; family < 500; ++family) {
    std::vector<double> p(1 + rng.below(12));
    for (double& value : p) value = std::pow(rng.uniform(), 4);
    const std::vector<double> corrected = holm(p);
    for (const double alpha : {0.01, 0.05, 0.2}) {
      const std::vector<bool> rejected = plain_rejections(p, alpha);
      for (std::size_t at = 0; at < p.size(); ++at) {
        EXPECT_EQ(corrected[at] <= alpha, rejected[at]);
        EXPECT_GE(corrected[at], p[at]);
      }
    }
  }
}

TEST(Holm, WhatWasNotTestedDoesNotCount) {
  const std::vector<double> corrected = holm(std::vector{0.01, std::nan(""), 0.02});
  EXPECT_EQ(corrected[0], 0.02);
  EXPECT_TRUE(std::isnan(corrected[1]));
  EXPECT_EQ(corrected[2], 0.02);
}

// 10,000 families of 20 tests with nothing to find. By chance one of a family is below 0.05 in
// 1 - 0.95^20 = 64 % of them, and below 0.05 after correction in 1 - (1 - 0.05/20)^20 = 4.9 %.
TEST(Holm, KeepsFalseAlarmsOfAFamilyBelowFivePercent) {
  Rng rng({.seed = 11});
  int raw = 0;
  int corrected = 0;
  for (int family = 0; family < 10'000; ++family) {
    std::vector<double> p(20);
    for (double& value : p) value = rng.uniform();
    raw += *std::min_element(p.begin(), p.end()) < 0.05 ? 1 : 0;
    const std::vector<double> after = holm(p);
    corrected += *std::min_element(after.begin(), after.end()) < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(raw, 6415, 150);
  EXPECT_NEAR(corrected, 488, 65);
}

}  // namespace
}  // namespace plackett
