#include "plackett/learn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "learner/learner_samples.h"
#include "logs.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::parameters_of;

std::unique_ptr<Ranker> new_ranker(RankerKind kind = RankerKind::kLinear) {
  Rng rng({.seed = 1, .purpose = Purpose::kInitialise});
  return take(make_ranker({.kind = kind, .feature_count = 3, .hidden = {8}}, rng));
}

// The second feature decides what is clicked, and the logged policy does not know it.
void fill(MemoryLog& log, std::uint32_t lists = 12'000, double keep = 1) {
  LogMaker{.lists = lists, .scale = 0.5, .keep = keep}.fill(log);
}

const ValueEstimate& robust(const LearnReport& report) {
  return report.measured.policies.front().estimates.at(2);
}

TEST(Learn, FindsWhatTheLoggedPolicyDoesNotKnow) {
  for (const char* method : {"doubly-robust", "prefix-ips"}) {
    for (const double keep : {1.0, 0.5}) {
      MemoryLog log(3);
      fill(log, 12'000, keep);
      const auto ranker = new_ranker();
      LearnOptions options;
      options.method = method;
      const auto report = learn(log, *ranker, options);
      ASSERT_TRUE(report.ok()) << report.error().message;
      const auto parameters = parameters_of(*ranker);
      EXPECT_GT(parameters[1], 0.7) << method << keep;
      EXPECT_GT(parameters[1], 3 * std::abs(parameters[2]));
      EXPECT_EQ(robust(*report).refused, "");
      EXPECT_GT(robust(*report).difference->low, 0);
      EXPECT_EQ(std::count_if(report->stages.begin(), report->stages.end(),
                              [](const LearnStage& stage) { return stage.chosen; }),
                1);
      EXPECT_FALSE(report->stages.front().chosen);
    }
  }
}

TEST(Learn, LearnsFromLogsWithFewLongerLists) {
  LogMaker maker{.lists = 6000, .shown = 3, .scale = 0.5};
  MemoryLog log(3);
  maker.fill(log);
  maker.shown = 4;
  maker.lists = 8;
  // In this order: of units that measure, that decide, and that are learned from.
  for (const std::uint32_t first : {10'000U, 11'000U, 13'000U}) {
    maker.first = first;
    maker.fill(log);
  }
  const auto ranker = new_ranker();
  const auto report = learn(log, *ranker, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_GT(report->stages.front().effective_lists, 1000);
  EXPECT_GT(parameters_of(*ranker)[1], 0.7);
  EXPECT_EQ(robust(*report).refused, "");
}

// The lists of the units that the result is measured on.
void copy_measured(LoggedLists& log, MemoryLog& measured) {
  for (std::size_t part = 0; part < log.parts(); ++part) {
    take(log.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      if (list.unit / 5 % 1000 < 200) take(measured.add(list));
    }));
  }
}

TEST(Learn, LearnsAndMeasuresThePolicyAtItsTemperature) {
  MemoryLog log(3);
  fill(log, 12'000, 0.5);
  MemoryLog measured(3);
  copy_measured(log, measured);
  LearnOptions options;
  options.ridge = 0;
  const auto plain = new_ranker();
  ASSERT_TRUE(learn(log, *plain, options).ok());
  options.temperature = 0.25;
  const auto ranker = new_ranker();
  const auto report = learn(log, *ranker, options);
  ASSERT_TRUE(report.ok()) << report.error().message;
  // The same policy, so parameters that are smaller by the temperature.
  EXPECT_NEAR(parameters_of(*ranker)[1] / 0.25, parameters_of(*plain)[1],
              0.1 * parameters_of(*plain)[1]);
  const auto value_at = [&](float temperature) {
    const auto policy = ranker_policy(*ranker, temperature);
    const std::vector<NamedPolicy> policies{{"served", policy.get()}};
    return take(off_policy(measured, policies, {})).policies[0].estimates[2].value;
  };
  EXPECT_NEAR(value_at(0.25), robust(*report).value, 1e-9);
  EXPECT_GT(std::abs(value_at(1) - robust(*report).value), 1e-3);  // proves that it can fail
}

TEST(Learn, TeachesANetworkToo) {
  MemoryLog log(3);
  fill(log);
  const auto ranker = new_ranker(RankerKind::kNeural);
  const auto report = learn(log, *ranker, {});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_GT(robust(*report).difference->low, 0);
}

// Proves that the gains above are not found in everything.
TEST(Learn, StaysWhereClicksSayNothing) {
  MemoryLog log(3);
  LogMaker{
      .lists = 12'000, .scale = 0.5, .click_chance = [](std::size_t, const float*) { return 0.3; }}
      .fill(log);
  const auto ranker = new_ranker();
  const auto report = learn(log, *ranker, {});
  ASSERT_TRUE(report.ok());
  EXPECT_LT(robust(*report).difference->low, 0.01);
  EXPECT_LT(std::abs(robust(*report).value - report->measured.logged), 0.05);
}

// Each list ten times, for the same unit, says no more than once.
TEST(Learn, CountsUnitsInItsStandardErrors) {
  const auto stages = [](int times) {
    MemoryLog log(3);
    LogMaker maker{.lists = 1, .scale = 0.5};
    for (maker.first = 0; maker.first < 3000; ++maker.first) {
      for (int time = 0; time < times; ++time) maker.fill(log);
    }
    const auto ranker = new_ranker();
    LearnOptions options;
    options.iterations = 5;
    const auto report = learn(log, *ranker, options);
    EXPECT_TRUE(report.ok()) << (report ? "" : report.error().message);
    return report->stages;
  };
  const auto once = stages(1);
  const auto tenfold = stages(10);
  EXPECT_NEAR(once[0].error, 0.0215, 0.002);  // the lists' deviation over the root of their number
  for (std::size_t at = 0; at < std::min(once.size(), tenfold.size()); ++at) {
    EXPECT_NEAR(tenfold[at].value, once[at].value, 0.01);
    EXPECT_NEAR(tenfold[at].error, once[at].error, 0.1 * once[at].error);
  }
}

TEST(Learn, HasTheSameBitsForAnyNumberOfThreads) {
  MemoryLog log(3);
  fill(log, 4000, 0.7);
  LearnOptions options;
  options.threads = 1;
  const auto one = new_ranker(RankerKind::kLinearPlusNeural);
  ASSERT_TRUE(learn(log, *one, options).ok());
  options.threads = 3;
  const auto three = new_ranker(RankerKind::kLinearPlusNeural);
  ASSERT_TRUE(learn(log, *three, options).ok());
  EXPECT_EQ(parameters_of(*one), parameters_of(*three));
}

TEST(Learn, RefusesWhatItCantDo) {
  MemoryLog log(3);
  fill(log, 100);
  const auto ranker = new_ranker();
  const auto before = parameters_of(*ranker);
  const auto refusal = [&](const LearnOptions& options, MemoryLog& from) {
    const auto report = learn(from, *ranker, options);
    return report ? std::string() : report.error().message;
  };
  EXPECT_THAT(refusal({}, log), HasSubstr("lists with their candidates to learn from"));
  LearnOptions options;
  options.method = "pdgd";
  EXPECT_THAT(refusal(options, log), HasSubstr("unbiased only for lists that they sampled"));
  options = {};
  options.held_out = 0.5;
  EXPECT_THAT(refusal(options, log), HasSubstr("held-out: \"0.5\"; expected a number from 0.05"));
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::infinity()}) {
    options = {};
    options.temperature = wrong;
    EXPECT_THAT(refusal(options, log), HasSubstr("; expected a finite number above 0"));
  }
  MemoryLog other(4);
  EXPECT_THAT(refusal({}, other), HasSubstr("4 features; the ranker reads 3"));
  options = {};
  options.stop = [] { return true; };
  EXPECT_THAT(refusal(options, log), HasSubstr("stopped"));
  EXPECT_EQ(parameters_of(*ranker), before);
}

}  // namespace
}  // namespace plackett
