#include "sampling/click_credit.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/chi_square.h"

namespace plackett {
namespace {

struct Chances {
  std::vector<double> candidate;
  std::vector<double> current;
};

Chances random_chances(std::uint32_t clicks, std::uint32_t run) {
  Rng rng({.seed = 21, .run = run});
  Chances chances;
  for (std::uint32_t click = 0; click < clicks; ++click) {
    const double a = rng.uniform();
    const double b = rng.uniform();
    const double c = rng.uniform();
    chances.candidate.push_back(a / (a + b + c));
    chances.current.push_back(b / (a + b + c));
  }
  return chances;
}

// Every assignment of every click to candidate, current or another: 3^clicks of them.
double enumerated_sign(const Chances& chances, std::size_t click = 0, int difference = 0) {
  if (click == chances.current.size()) return (difference > 0) - (difference < 0);
  const double up = chances.candidate[click];
  const double down = chances.current[click];
  return up * enumerated_sign(chances, click + 1, difference + 1) +
         down * enumerated_sign(chances, click + 1, difference - 1) +
         (1 - up - down) * enumerated_sign(chances, click + 1, difference);
}

TEST(ClickCredit, ExpectedSignEqualsEnumeration) {
  ClickCredit credit;
  for (std::uint32_t clicks = 1; clicks <= 10; ++clicks) {
    for (std::uint32_t run = 0; run < (clicks < 8 ? 20U : 2U); ++run) {
      const Chances chances = random_chances(clicks, 100 * clicks + run);
      EXPECT_NEAR(credit.expected_sign(chances.candidate, chances.current),
                  enumerated_sign(chances), 1e-12);
    }
  }
}

// The plain way, as the published code had it: assign, compare, average.
TEST(ClickCredit, ExpectedSignAgreesWithSamplingAssignments) {
  constexpr int kDraws = 200'000;
  ClickCredit credit;
  for (std::uint32_t clicks : {1U, 3U, 10U}) {
    const Chances chances = random_chances(clicks, clicks);
    Rng rng({.seed = 22, .run = clicks});
    double sum = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      int difference = 0;
      for (std::uint32_t click = 0; click < clicks; ++click) {
        const double u = rng.uniform();
        if (u < chances.candidate[click]) {
          ++difference;
        } else if (u < chances.candidate[click] + chances.current[click]) {
          --difference;
        }
      }
      sum += (difference > 0) - (difference < 0);
    }
    // Five standard errors of a variable between -1 and 1: a false alarm in 10^6.
    EXPECT_NEAR(credit.expected_sign(chances.candidate, chances.current), sum / kDraws,
                5 / std::sqrt(kDraws));
  }
}

TEST(ClickCredit, AsManyChancesEachIsExactlyATie) {
  ClickCredit credit;
  for (std::uint32_t run = 0; run < 200; ++run) {
    Chances chances = random_chances(1 + run % 10, run);
    for (std::size_t click = 0; click < chances.current.size(); ++click) {
      chances.current[click] = chances.candidate[click] / 2;
    }
    EXPECT_GT(credit.expected_sign(chances.candidate, chances.current), 0);
    EXPECT_LT(credit.expected_sign(chances.current, chances.candidate), 0);
    EXPECT_EQ(credit.expected_sign(chances.current, chances.current), 0);
  }
}

TEST(ClickCredit, NoClicksAreATie) {
  ClickCredit credit;
  EXPECT_EQ(credit.expected_sign({}, {}), 0);
}

// Two candidates against the current ranker, by 10,000 literal samples: which of them win?
constexpr int kPatterns = 4;
std::size_t literal_pattern(const std::vector<std::array<double, 3>>& clicks, Rng& rng) {
  std::array<int, 2> sums{};
  for (int sample = 0; sample < 10'000; ++sample) {
    std::array<int, 4> counts{};
    for (const auto& click : clicks) {
      const double u = rng.uniform();
      ++counts[u < click[0] ? 0 : u < click[0] + click[1] ? 1 : u < 1 - click[2] ? 3 : 2];
    }
    for (std::size_t candidate = 0; candidate < 2; ++candidate) {
      sums[candidate] += (counts[candidate + 1] > counts[0]) - (counts[candidate + 1] < counts[0]);
    }
  }
  return (sums[0] > 0 ? 1U : 0U) + (sums[1] > 0 ? 2U : 0U);
}

// The chance of each pattern by literal sampling against `draw`, as a p-value of a chi-square
// test for equality of two sets of counts.
template <typename Draw>
double equality_p(const std::vector<std::array<double, 3>>& clicks, Draw draw) {
  constexpr std::uint64_t kRepeats = 1'500;
  std::array<std::uint64_t, kPatterns> literal{};
  std::array<std::uint64_t, kPatterns> fast{};
  for (std::uint64_t repeat = 0; repeat < kRepeats; ++repeat) {
    Rng rng({.seed = 31, .impression = repeat});
    ++literal[literal_pattern(clicks, rng)];
    ++fast[draw(rng)];
  }
  double statistic = 0;
  double cells = 0;
  for (std::size_t at = 0; at < kPatterns; ++at) {
    const double both = static_cast<double>(literal[at] + fast[at]);
    if (both == 0) continue;
    const double difference = static_cast<double>(literal[at]) - static_cast<double>(fast[at]);
    statistic += difference * difference / both;
    cells += 1;
  }
  return cells < 2 ? 1 : boost::math::gamma_q((cells - 1) / 2, statistic / 2);
}

struct Case {
  const char* name;
  std::vector<std::array<double, 3>> clicks;  // to current, first, second candidate
};

const std::array kCases{
    Case{"one click, all tied", {{0.02, 0.02, 0.02}}},
    Case{"three clicks, all tied", {{0.3, 0.3, 0.3}, {0.1, 0.1, 0.1}, {0.02, 0.02, 0.02}}},
    Case{"near ties", {{0.30, 0.303, 0.298}, {0.2, 0.2, 0.2}}},
    Case{"one clear, one tied", {{0.2, 0.5, 0.2}, {0.2, 0.3, 0.2}}},
};

std::size_t fast_pattern(const std::vector<std::array<double, 3>>& clicks, bool shared, Rng& rng) {
  std::array<std::vector<double>, 3> chances;
  for (const auto& click : clicks) {
    for (std::size_t who = 0; who < 3; ++who) chances[who].push_back(click[who]);
  }
  ClickCredit exact;
  SampledCredit sampled;
  sampled.reset(chances[0], rng);
  std::size_t pattern = 0;
  for (std::size_t candidate = 1; candidate < 3; ++candidate) {
    if (!shared) sampled.reset(chances[0], rng);
    const double expected = exact.expected_sign(chances[candidate], chances[0]);
    if (sampled.won(expected, chances[candidate], rng)) pattern += candidate;
  }
  return pattern;
}

TEST(SampledCredit, WinsAsOftenAndAsTogetherAsTenThousandSamplesWould) {
  for (const Case& one : kCases) {
    EXPECT_GT(equality_p(one.clicks, [&](Rng& rng) { return fast_pattern(one.clicks, true, rng); }),
              testing::kFalseAlarmRate)
        << one.name;
  }
}

TEST(SampledCredit, TheCheckRejectsCandidatesThatDoNotShareTheirSamples) {
  const Case& tied = kCases.front();
  EXPECT_LT(
      equality_p(tied.clicks, [&](Rng& rng) { return fast_pattern(tied.clicks, false, rng); }),
      testing::kFalseAlarmRate);
}

TEST(SampledCredit, WhatIsClearIsNotLeftToChance) {
  SampledCredit sampled;
  Rng rng({.seed = 5});
  const std::vector<double> current{0.2};
  const std::vector<double> candidate{0.5};
  sampled.reset(current, rng);
  Rng before = rng;
  EXPECT_TRUE(sampled.won(0.3, candidate, rng));
  EXPECT_FALSE(sampled.won(-0.3, candidate, rng));
  EXPECT_EQ(rng.next_u64(), before.next_u64());
}

}  // namespace
}  // namespace plackett
