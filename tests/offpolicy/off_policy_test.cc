#include "plackett/off_policy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "logs.h"
#include "offpolicy/list_chances.h"
#include "offpolicy/list_value.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Ranker> linear(std::vector<float> weights) {
  Rng rng({.seed = 1});
  auto ranker =
      take(make_ranker({.feature_count = static_cast<std::uint32_t>(weights.size())}, rng));
  ranker->set_parameters(weights);
  return ranker;
}

const std::vector<std::string> kAll{"prefix-ips", "self-normalised", "doubly-robust", "exposure"};

OffPolicyReport evaluated(MemoryLog& log, const TargetPolicy& policy,
                          OffPolicyOptions options = {}) {
  const std::vector<NamedPolicy> policies{{"policy", &policy}};
  auto report = off_policy(log, policies, options);
  EXPECT_TRUE(report.ok()) << (report ? "" : report.error().message);
  return take(std::move(report));
}

std::vector<ValueEstimate> estimates(MemoryLog& log, const TargetPolicy& policy,
                                     const OffPolicyOptions& options = {}) {
  return evaluated(log, policy, options).policies[0].estimates;
}

std::string refusal(MemoryLog& log, const TargetPolicy& policy, const OffPolicyOptions& options) {
  const std::vector<NamedPolicy> policies{{"policy", &policy}};
  const auto report = off_policy(log, policies, options);
  return report ? "" : report.error().message;
}

// The value of a policy, by showing its lists to the users of the log.
double simulated_value(LogMaker maker, double scale, ValueMetric metric,
                       std::uint32_t lists = 400'000) {
  maker.scale = scale;
  maker.keep = 1;
  maker.lists = lists;
  maker.seed += 1000;
  MemoryLog log(maker.features);
  maker.fill(log);
  OffPolicyOptions options;
  options.metric = metric;
  options.estimators = {"prefix-ips"};
  options.bootstraps = 100;
  return evaluated(log, *logged_policy(1), options).logged;
}

TEST(OffPolicy, OfTheLoggedPolicyIsWhatWasLoggedToTheBit) {
  for (const double keep : {1.0, 0.3}) {
    MemoryLog log(3);
    LogMaker{.lists = 3000, .scale = 2, .keep = keep}.fill(log);
    const auto same = linear({2, 0, 0});
    for (const ValueMetric metric : {ValueMetric::kClicks, ValueMetric::kClickThrough,
                                     ValueMetric::kDcg, ValueMetric::kEvents}) {
      OffPolicyOptions options;
      options.metric = metric;
      const auto report = evaluated(log, *ranker_policy(*same, 1), options);
      EXPECT_GT(report.logged, 0.1);
      EXPECT_EQ(report.policies[0].estimates[0].value, report.logged);
      EXPECT_EQ(report.policies[0].estimates[1].value, report.logged);
      options.estimators = {"exposure"};
      if (metric == ValueMetric::kClicks || metric == ValueMetric::kEvents) {
        EXPECT_EQ(evaluated(log, *ranker_policy(*same, 1), options).policies[0].estimates[0].value,
                  report.logged);
      }
    }
  }
}

LogMaker rare_clicks(std::uint32_t lists, double chance) {
  return {.lists = lists, .click_chance = [chance](std::size_t, const float*) { return chance; }};
}

TEST(OffPolicy, RefusesWhereTooFewListsHaveAValue) {
  OffPolicyOptions options;
  options.estimators = kAll;
  options.examination = {1, 1, 1, 1};
  const auto policy = ranker_policy(*linear({1.5, 0, 0}), 1);
  for (const double chance : {0.0, 0.002}) {
    MemoryLog log(3);
    rare_clicks(1000, chance).fill(log);
    const auto report = evaluated(log, *policy, options);
    EXPECT_FALSE(report.logged_interval);
    for (const ValueEstimate& one : report.policies[0].estimates) {
      EXPECT_THAT(one.refused, HasSubstr("what lists are worth comes from few of them"))
          << name_of(one.estimator);
      EXPECT_FALSE(one.bootstrap);
    }
  }
  MemoryLog log(3);
  rare_clicks(1000, 0.05).fill(log);
  const auto report = evaluated(log, *policy, options);
  EXPECT_TRUE(report.logged_interval);
  for (const ValueEstimate& one : report.policies[0].estimates) EXPECT_EQ(one.refused, "");
}

// Lists of one unit depend on each other, so few units say little, however many lists they have.
TEST(OffPolicy, RefusesWhereListsComeFromFewUnits) {
  OffPolicyOptions options;
  options.estimators = kAll;
  options.examination = {1, 1, 1, 1};
  const auto policy = ranker_policy(*linear({1.5, 0, 0}), 1);
  const auto of_units = [&](std::uint32_t lists_per_unit) {
    MemoryLog log(3);
    LogMaker{.lists = 2000, .lists_per_unit = lists_per_unit}.fill(log);
    return evaluated(log, *policy, options);
  };
  for (const std::uint32_t lists_per_unit : {2000, 100}) {
    const auto report = of_units(lists_per_unit);
    EXPECT_FALSE(report.logged_interval) << lists_per_unit;
    for (const ValueEstimate& one : report.policies[0].estimates) {
      EXPECT_THAT(one.refused, HasSubstr("lists come from few units, as many as "))
          << name_of(one.estimator) << lists_per_unit;
    }
  }
  const auto report = of_units(20);
  EXPECT_TRUE(report.logged_interval);
  for (const ValueEstimate& one : report.policies[0].estimates) EXPECT_EQ(one.refused, "");
}

// A unit that has half of all lists, or all of those with their candidates.
TEST(OffPolicy, RefusesWhereOneUnitDecides) {
  const auto with_one = [](double keep, std::uint32_t lists) {
    MemoryLog log(3);
    LogMaker{.lists = 2000, .keep = keep}.fill(log);
    LogMaker{.lists = lists, .lists_per_unit = 2000, .first = 2000 * 2000}.fill(log);
    return evaluated(log, *ranker_policy(*linear({1.5, 0, 0}), 1),
                     {.estimators = kAll, .examination = {1, 1, 1, 1}});
  };
  const auto half = with_one(1, 2000);
  EXPECT_FALSE(half.logged_interval);
  for (const ValueEstimate& one : half.policies[0].estimates) {
    EXPECT_THAT(one.refused, HasSubstr("lists come from few units")) << name_of(one.estimator);
  }
  const auto kept = with_one(1e-9, 150);
  EXPECT_EQ(kept.kept, 150U);
  EXPECT_TRUE(kept.logged_interval);
  for (const ValueEstimate& one : kept.policies[0].estimates) {
    EXPECT_THAT(one.refused, HasSubstr("weighted lists come from few units, as many as 1 equal"))
        << name_of(one.estimator);
  }
}

// The bound of Maurer & Pontil needs the range of what could have been seen.
TEST(OffPolicy, BernsteinIntervalsCoverWhatTheWeightsAllow) {
  MemoryLog log(3);
  rare_clicks(2000, 0.02).fill(log);
  OffPolicyOptions options;
  options.estimators = {"prefix-ips"};
  const auto report = evaluated(log, *logged_policy(1), options);
  const Interval interval = *report.policies[0].estimates[0].bernstein;
  // Weights are 1, so that a list is worth 4 clicks at most; no list has as many.
  const double logarithm = std::log(4 / 0.05);
  EXPECT_GT(interval.high - report.logged, 7 * 4 * logarithm / (3 * 1999));
}

TEST(OffPolicy, FindsTheValueOfAnotherPolicy) {
  for (const double keep : {1.0, 0.3}) {
    for (const ValueMetric metric :
         {ValueMetric::kClicks, ValueMetric::kClickThrough, ValueMetric::kEvents}) {
      const LogMaker maker{.lists = 60'000,
                           .scale = 1,
                           .keep = keep,
                           .click_chance = [](std::size_t rank, const float* features) {
                             return features[0] / static_cast<double>(rank + 1);
                           }};
      MemoryLog log(3);
      maker.fill(log);
      OffPolicyOptions options;
      options.metric = metric;
      options.estimators = kAll;
      const double value = simulated_value(maker, 3, metric);
      const auto report = evaluated(log, *ranker_policy(*linear({3, 0, 0}), 1), options);
      EXPECT_GT(value, report.logged * 1.05);
      for (const ValueEstimate& one : report.policies[0].estimates) {
        if (one.estimator == Estimator::kExposure && metric == ValueMetric::kClickThrough) {
          EXPECT_THAT(one.refused, HasSubstr("click-through depends on all of a list"));
          continue;
        }
        EXPECT_EQ(one.refused, "");
        EXPECT_NEAR(one.value, value, 0.05 * value) << name_of(one.estimator) << keep;
        EXPECT_LT(one.bootstrap->low - 0.01 * value, value);
        EXPECT_GT(one.bootstrap->high + 0.01 * value, value);
        EXPECT_GT(one.difference->low, 0);
      }
    }
  }
}

LogMaker three_ranks(std::uint32_t lists, double keep = 1) {
  return {.lists = lists, .shown = 3, .scale = 1, .keep = keep};
}
// One more list, which has four.
void add_longer(const LogMaker& before, MemoryLog& log) {
  LogMaker longer = before;
  longer.first = before.lists;
  longer.lists = 1;
  longer.shown = 4;
  longer.keep = 1;
  longer.fill(log);
}

TEST(OffPolicy, OneLongerListRefusesNothing) {
  const auto other = ranker_policy(*linear({2, 0, 0}), 1);
  for (const double keep : {1.0, 0.5}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      LogMaker maker = three_ranks(6000, keep);
      maker.seed = seed;
      MemoryLog log(3);
      maker.fill(log);
      MemoryLog longer(3);
      maker.fill(longer);
      add_longer(maker, longer);
      OffPolicyOptions options;
      options.estimators = kAll;
      const auto before = evaluated(log, *other, options);
      const auto after = evaluated(longer, *other, options);
      ASSERT_EQ(after.policies[0].ranks.size(), 4U);
      EXPECT_EQ(after.policies[0].ranks[3].lists, 1U);
      EXPECT_GT(after.policies[0].ranks[3].effective_lists, 1000);
      for (std::size_t at = 0; at < kAll.size(); ++at) {
        const ValueEstimate& one = after.policies[0].estimates[at];
        ASSERT_EQ(one.refused, "") << kAll[at] << keep;
        // A list in thousands, whose weight is moderate.
        EXPECT_NEAR(one.value, before.policies[0].estimates[at].value, 0.005) << kAll[at] << keep;
      }
      const auto same = evaluated(longer, *logged_policy(1), options);
      EXPECT_EQ(same.policies[0].estimates[0].value, same.logged);
      EXPECT_EQ(same.policies[0].estimates[1].value, same.logged);
      EXPECT_EQ(same.policies[0].estimates[3].value, same.logged);
      EXPECT_EQ(same.policies[0].estimates[2].refused, "");
    }
  }
}

TEST(OffPolicy, OneLongerListWithoutAClickRefusesNoExposure) {
  LogMaker maker = three_ranks(6000);
  MemoryLog log(3);
  maker.fill(log);
  maker.click_chance = [](std::size_t, const float*) { return 0.0; };
  add_longer(maker, log);
  const auto report = evaluated(log, *ranker_policy(*linear({2, 0, 0}), 1),
                                OffPolicyOptions{.estimators = {"exposure"}});
  EXPECT_EQ(report.policies[0].estimates[0].refused, "");
  EXPECT_EQ(report.examination.size(), 3U);
}

// Where a tenth of the lists have more ranks, how often these are examined matters.
TEST(OffPolicy, RefusesExposureWhereLongerListsAreMany) {
  LogMaker maker = three_ranks(1000);
  MemoryLog log(3);
  maker.fill(log);
  maker.first = 1000;
  maker.lists = 110;
  maker.shown = 4;
  maker.fill(log);
  const auto report = evaluated(log, *ranker_policy(*linear({2, 0, 0}), 1),
                                OffPolicyOptions{.estimators = {"exposure"}});
  EXPECT_THAT(report.policies[0].estimates[0].refused, HasSubstr("examination of rank 4"));
}

// Clicks at the first ranks are as likely in lists of any length.
LogMaker several_lengths(std::uint32_t lists) {
  return {.lists = lists,
          .docs = 30,
          .lengths = {3, 10, 24},
          .scale = 1,
          .click_chance = [](std::size_t rank, const float* row) {
            return 0.6 * row[0] / static_cast<double>(rank + 1);
          }};
}
constexpr double kNear = 1.3;  // the other policy's scale

TEST(OffPolicy, OfTheLoggedPolicyInListsOfSeveralLengthsIsWhatWasLoggedToTheBit) {
  for (const double keep : {1.0, 0.3}) {
    LogMaker maker = several_lengths(2000);
    maker.keep = keep;
    MemoryLog log(3);
    maker.fill(log);
    OffPolicyOptions options;
    options.bootstraps = 100;
    for (const ValueMetric metric : {ValueMetric::kClicks, ValueMetric::kDcg}) {
      options.metric = metric;
      const auto report = evaluated(log, *logged_policy(1), options);
      EXPECT_EQ(report.policies[0].estimates[0].value, report.logged);
      EXPECT_EQ(report.policies[0].estimates[1].value, report.logged);
    }
  }
}

TEST(OffPolicy, FindsTheValueInListsOfSeveralLengths) {
  for (const double keep : {1.0, 0.5}) {
    LogMaker maker = several_lengths(16'000);
    maker.keep = keep;
    MemoryLog log(3);
    maker.fill(log);
    OffPolicyOptions options;
    options.estimators = kAll;
    options.bootstraps = 200;
    const double value = simulated_value(maker, kNear, ValueMetric::kClicks, 60'000);
    const auto report = evaluated(log, *ranker_policy(*linear({kNear, 0, 0}), 1), options);
    EXPECT_GT(value, report.logged * 1.02);
    for (const ValueEstimate& one : report.policies[0].estimates) {
      ASSERT_EQ(one.refused, "") << name_of(one.estimator);
      EXPECT_NEAR(one.value, value, 0.02 * value) << name_of(one.estimator) << keep;
      EXPECT_LT(one.bootstrap->low - 0.01 * value, value);
      EXPECT_GT(one.bootstrap->high + 0.01 * value, value);
    }
  }
}

// Of 200 logs, as many hold the value if 95 % do, but for one time in a million: 173 or more. Of
// the policy's value, what was logged is a wrong interval, which proves that the check can fail.
TEST(OffPolicy, IntervalsInListsOfSeveralLengthsHoldTheValue) {
  constexpr int kLogs = 200;
  constexpr int kLeast = 173;
  const double value = simulated_value(several_lengths(0), kNear, ValueMetric::kClicks, 200'000);
  const auto policy = ranker_policy(*linear({kNear, 0, 0}), 1);
  OffPolicyOptions options;
  options.bootstraps = 200;
  const auto holds = [&](const Interval& interval) {
    return interval.low <= value && value <= interval.high ? 1 : 0;
  };
  int held[3] = {};
  int held_logged = 0;
  for (int at = 0; at < kLogs; ++at) {
    LogMaker maker = several_lengths(2000);
    maker.seed = 100 + at;
    MemoryLog log(3);
    maker.fill(log);
    const auto report = evaluated(log, *policy, options);
    for (std::size_t one = 0; one < 3; ++one) {
      ASSERT_EQ(report.policies[0].estimates[one].refused, "");
      held[one] += holds(*report.policies[0].estimates[one].bootstrap);
    }
    held_logged += holds(*report.logged_interval);
  }
  for (const int count : held) EXPECT_GE(count, kLeast);
  EXPECT_LT(held_logged, kLeast);
}

// Each list with the weight of its last rank below that, in plain sums.
TEST(OffPolicy, OfListsOfSeveralLengthsIsThatOfPaddedLists) {
  LogMaker maker = several_lengths(1500);
  maker.keep = 0.6;
  MemoryLog log(3);
  maker.fill(log);
  const auto policy = ranker_policy(*linear({kNear, 0, 0}), 1);
  constexpr std::size_t kRanks = 24;
  std::vector<double> weights(kRanks);
  std::vector<double> weighted(kRanks);
  std::vector<double> own_weights(kRanks);  // of lists that have the rank
  std::vector<double> own_squares(kRanks);
  std::vector<double> lists(kRanks);
  double kept = 0;
  std::vector<double> gains(kRanks);
  double keep = 0;
  double logged = 0;
  PolicyChoice choice;
  PrefixWeights prefix;
  std::vector<double> own(kRanks);
  std::vector<double> gain;
  for (std::size_t part = 0; part < log.parts(); ++part) {
    take(log.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      list_gains(list, ValueMetric::kClicks, gain);
      for (const double one : gain) logged += one / 1500;
      if (!list.kept) return;
      take(policy->choose(list, choice));
      prefix.compute(list, choice, std::span(own).first(gain.size()));
      keep += 1 / list.keep;
      for (std::size_t rank = 0; rank < kRanks; ++rank) {
        const double weight = own[std::min(rank, gain.size() - 1)] / list.keep;
        const double here = rank < gain.size() ? gain[rank] : 0.0;
        weights[rank] += weight;
        weighted[rank] += weight * here;
        gains[rank] += here / list.keep;
        if (rank >= gain.size()) continue;
        own_weights[rank] += weight;
        own_squares[rank] += weight * weight;
        lists[rank] += 1;
      }
      kept += 1;
    }));
  }
  double value = logged;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    value += weighted[rank] / weights[rank] - gains[rank] / keep;
  }
  OffPolicyOptions options;
  options.estimators = {"self-normalised"};
  options.bootstraps = 100;
  const auto report = evaluated(log, *policy, options);
  EXPECT_NEAR(report.policies[0].estimates[0].value, value, 1e-12);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const RankSupport& support = report.policies[0].ranks[rank];
    EXPECT_EQ(static_cast<double>(support.lists), lists[rank]);
    EXPECT_NEAR(support.effective_lists,
                own_weights[rank] * own_weights[rank] / own_squares[rank] * kept / lists[rank],
                1e-8);
  }
}

// A fifth of the lists have ranks at which the policy shows what the log never did.
TEST(OffPolicy, RefusesAPolicyThatLacksTheRanksOfLongerLists) {
  LogMaker maker{.lists = 2400, .docs = 24, .shown = 3, .scale = 0};
  MemoryLog log(3);
  maker.fill(log);
  maker.first = 2400;
  maker.lists = 600;
  maker.shown = 20;
  maker.fill(log);
  const auto policy = ranker_policy(*linear({3, 0, 0}), 1);
  for (const ValueEstimate& one : estimates(log, *policy)) {
    EXPECT_THAT(one.refused, HasSubstr(" 600 of 3000 lists say as much as "));
    EXPECT_THAT(one.refused, HasSubstr("; at least 20 are needed"));
  }
  for (const ValueEstimate& one : estimates(log, *policy, {.ranks = 3})) {
    EXPECT_EQ(one.refused, "");
  }
}

// What fewer than one list in a hundred lack does not matter, unless most of what lists are worth
// is there.
TEST(OffPolicy, RefusesWhereFewLongListsLackWhatTheyAreWorth) {
  for (const bool worth : {false, true}) {
    LogMaker maker{.lists = 9920,
                   .docs = 30,
                   .shown = 3,
                   .scale = 0,
                   .click_chance = [worth](std::size_t rank, const float*) {
                     return rank < 3 ? 0.1 : (worth ? 0.8 : 0.0);
                   }};
    MemoryLog log(3);
    maker.fill(log);
    maker.first = 9920;
    maker.lists = 80;
    maker.shown = 24;
    maker.fill(log);
    const auto report = evaluated(log, *ranker_policy(*linear({4, 0, 0}), 1));
    EXPECT_LT(report.policies[0].ranks[23].mean_weight, 0.1);
    for (const ValueEstimate& one : report.policies[0].estimates) {
      if (worth) {
        EXPECT_THAT(one.refused, HasSubstr("the log lacks"));
      } else {
        EXPECT_EQ(one.refused, "");
      }
    }
  }
}

TEST(OffPolicy, WithARegressionVariesLess) {
  const LogMaker maker{.lists = 20'000, .scale = 1};
  MemoryLog log(3);
  maker.fill(log);
  const auto report = evaluated(log, *ranker_policy(*linear({2, 1, 0}), 1));
  const auto& estimates = report.policies[0].estimates;
  const auto width = [](const ValueEstimate& one) {
    return one.difference->high - one.difference->low;
  };
  EXPECT_LT(width(estimates[2]), 0.9 * width(estimates[0]));
}

TEST(OffPolicy, HasTheSameBitsForAnyNumberOfThreads) {
  MemoryLog log(3);
  LogMaker{.lists = 5000, .lengths = {1, 2, 4}, .keep = 0.5}.fill(log);
  OffPolicyOptions options;
  options.estimators = kAll;
  options.threads = 1;
  const auto policy = ranker_policy(*linear({2, 1, 0}), 1);
  const auto one = evaluated(log, *policy, options);
  options.threads = 3;
  const auto three = evaluated(log, *policy, options);
  for (std::size_t at = 0; at < kAll.size(); ++at) {
    const ValueEstimate& left = one.policies[0].estimates[at];
    const ValueEstimate& right = three.policies[0].estimates[at];
    EXPECT_EQ(left.value, right.value);
    EXPECT_EQ(left.bootstrap->low, right.bootstrap->low);
    EXPECT_EQ(left.difference->high, right.difference->high);
  }
  EXPECT_EQ(one.examination, three.examination);
}

TEST(OffPolicy, ResamplesWholeUnits) {
  // All lists of a unit are the same, so that they say as much as one.
  MemoryLog alone(3);
  LogMaker{.lists = 2000}.fill(alone);
  MemoryLog repeated(3);
  for (std::size_t part = 0; part < alone.parts(); ++part) {
    take(alone.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      for (int times = 0; times < 4; ++times) take(repeated.add(list));
    }));
  }
  const auto policy = logged_policy(1);
  const auto width = [&](MemoryLog& log) {
    const auto report = evaluated(log, *policy);
    return report.logged_interval->high - report.logged_interval->low;
  };
  EXPECT_NEAR(width(repeated) / width(alone), 1, 0.1);
}

TEST(OffPolicy, RefusesAPolicyThatTheLogSaysTooLittleAbout) {
  MemoryLog log(3);
  LogMaker{.lists = 1000, .docs = 12, .scale = 3}.fill(log);
  const auto report = evaluated(log, *ranker_policy(*linear({-9, 0, 0}), 1));
  for (const ValueEstimate& one : report.policies[0].estimates) {
    EXPECT_THAT(one.refused, HasSubstr("at rank "));
    EXPECT_THAT(one.refused, HasSubstr("at least 100 are needed"));
    EXPECT_FALSE(one.bootstrap);
  }
  EXPECT_LT(report.policies[0].ranks[3].effective_lists, 100);
}

// What never came up has no weight, so that effective lists alone would not tell.
TEST(OffPolicy, RefusesAPolicyWhoseListsNeverCameUp) {
  MemoryLog log(3);
  LogMaker{.lists = 600, .scale = 60}.fill(log);
  const auto policy = ranker_policy(*linear({0, 0, 1}), 1);
  const auto report = evaluated(log, *policy, {.ranks = 1});
  EXPECT_GT(report.policies[0].ranks[0].effective_lists, 100);
  EXPECT_LT(report.policies[0].ranks[0].mean_weight, 0.5);
  for (const ValueEstimate& one : report.policies[0].estimates) {
    EXPECT_THAT(one.refused, HasSubstr("the log lacks "));
    EXPECT_THAT(one.refused, HasSubstr(" of what the policy would show up to rank 1"));
  }
  // A log that explores has it.
  MemoryLog explored(3);
  LogMaker{.lists = 600, .scale = 1}.fill(explored);
  for (const ValueEstimate& one : estimates(explored, *policy, {.ranks = 1})) {
    EXPECT_EQ(one.refused, "");
  }
}

TEST(OffPolicy, ShowsTheMeanWeightThatItRefusesBy) {
  MemoryLog log(3);
  LogMaker{.lists = 2000, .scale = 60, .keep = 0.3}.fill(log);
  const auto lacking = evaluated(log, *ranker_policy(*linear({0, 0, 1}), 1), {.ranks = 1});
  EXPECT_THAT(lacking.policies[0].estimates[0].refused,
              HasSubstr(fmt::format("(mean weight {:.2f}; expected 1)",
                                    lacking.policies[0].ranks[0].mean_weight)));
  // How many lists were kept does not change it.
  const auto same = evaluated(log, *logged_policy(1));
  for (const RankSupport& rank : same.policies[0].ranks) {
    EXPECT_NEAR(rank.mean_weight, 1, 1e-12);
  }
}

TEST(OffPolicy, RefusesExposureThatTheLogSaysTooLittleAbout) {
  MemoryLog log(3);
  LogMaker{.lists = 3000, .scale = 20}.fill(log);
  OffPolicyOptions options{.estimators = {"exposure"}};
  options.examination = {1, 0.5, 1.0 / 3, 0.25};
  const auto reverse = ranker_policy(*linear({-20, 0, 0}), 1);
  EXPECT_NE(evaluated(log, *reverse, options).policies[0].estimates[0].refused, "");
  const auto near = ranker_policy(*linear({18, 0, 0}), 1);
  EXPECT_EQ(evaluated(log, *near, options).policies[0].estimates[0].refused, "");
}

// Shows what was shown.
class Copycat final : public TargetPolicy {
 public:
  [[nodiscard]] std::unique_ptr<TargetPolicy> clone() const override {
    return std::make_unique<Copycat>();
  }
  Result<void> choose(const LoggedList& list, PolicyChoice& choice) override {
    choice.sampled = false;
    choice.order.clear();
    for (std::uint32_t doc = 0; doc < list.docs.doc_count(); ++doc)
      choice.order.push_back(Doc{doc});
    return {};
  }
};

TEST(OffPolicy, RefusesAPolicyThatKnowsWhatWasShown) {
  MemoryLog log(3);
  LogMaker{.lists = 600}.fill(log);
  for (const ValueEstimate& one : estimates(log, Copycat())) {
    EXPECT_THAT(one.refused, HasSubstr("must not know the order that was shown"));
  }
  // Nor does one whose scores are all the same know it.
  const auto ties = ranker_policy(*linear({0, 0, 0}), 0);
  const auto report = evaluated(log, *ties, {.ranks = 2});
  EXPECT_NEAR(report.policies[0].ranks[0].mean_weight, 1, 0.4);
  EXPECT_NEAR(report.policies[0].ranks[1].mean_weight, 1, 0.8);
}

TEST(OffPolicy, OfFewerRanksIsThatOfShorterLists) {
  const LogMaker maker{.lists = 20'000, .scale = 1};
  MemoryLog log(3);
  maker.fill(log);
  OffPolicyOptions options;
  options.ranks = 1;
  const auto report = evaluated(log, *ranker_policy(*linear({0, 3, 0}), 0), options);
  ASSERT_EQ(report.policies[0].ranks.size(), 1U);
  // The greatest of 6 uniform numbers, times 0.6.
  EXPECT_NEAR(report.policies[0].estimates[0].value, 0.6 * 6 / 7, 0.03);
}

TEST(OffPolicy, RefusesLogsAndOptionsThatDontDo) {
  MemoryLog empty(3);
  const auto policy = logged_policy(1);
  EXPECT_THAT(refusal(empty, *policy, {}), HasSubstr("no sampled list"));
  MemoryLog unkept(3);
  LogMaker{.lists = 10, .keep = 1e-12}.fill(unkept);
  EXPECT_THAT(refusal(unkept, *policy, {}), HasSubstr("none with its other candidates"));
  MemoryLog log(3);
  LogMaker{.lists = 10}.fill(log);
  OffPolicyOptions options;
  options.level = 1;
  EXPECT_THAT(refusal(log, *policy, options),
              HasSubstr("level: \"1\"; expected a number from 0.5"));
  // Its ends would be the extremes of 500 logs, as those of a level of 99.6 %.
  options.level = 0.999;
  EXPECT_EQ(refusal(log, *policy, options),
            "bootstraps: 500; a level of 0.999 needs at least 2000");
  options.bootstraps = 2000;
  EXPECT_EQ(refusal(log, *policy, options), "");
  options = {};
  options.level = 0.996;
  EXPECT_EQ(refusal(log, *policy, options), "");
  options = {};
  options.estimators = {"best"};
  EXPECT_THAT(refusal(log, *policy, options), HasSubstr("\"best\"; expected prefix-ips"));
  options = {};
  options.estimators = kAll;
  options.examination = {1, 0.5};
  EXPECT_THAT(refusal(log, *policy, options),
              HasSubstr("examination: 2 values; lists have up to 4"));
  options = {};
  options.stop = [] { return true; };
  MemoryLog longer(3);
  LogMaker{.lists = 1000}.fill(longer);
  const std::vector<NamedPolicy> policies{{"policy", policy.get()}};
  const auto stopped = off_policy(longer, policies, options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kStopped);
}

TEST(OffPolicy, RefusesScoresThatAreNotFinite) {
  MemoryLog log(3);
  LogMaker{.lists = 10}.fill(log);
  EXPECT_THAT(refusal(log, *ranker_policy(*linear({3e38F, 3e38F, 3e38F}), 1e-6F), {}),
              HasSubstr("policy: list i-"));
}

TEST(MemoryLog, CopiesALogThatIsSmallEnough) {
  MemoryLog log(3);
  LogMaker{.lists = 50}.fill(log);
  const auto copy = MemoryLog::copy_if_small(log);
  ASSERT_TRUE(copy.ok());
  ASSERT_NE(*copy, nullptr);
  EXPECT_EQ((*copy)->size(), 50U);
  const auto policy = ranker_policy(*linear({0, 1, 0}), 1);
  EXPECT_EQ(evaluated(**copy, *policy).logged, evaluated(log, *policy).logged);
  const auto none = MemoryLog::copy_if_small(log, 100);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
}

TEST(MemoryLog, RefusesListsWhosePartsDontFit) {
  MemoryLog log(2);
  const std::vector<float> rows{1, 2, 3, 4};
  const std::vector<float> scores{1, 2};
  const std::vector<std::uint8_t> one{0};
  const std::vector<double> reward{0};
  LoggedList good;
  good.docs = FeatureView::of(rows.data(), 2, 2, 2);
  good.scores = scores;
  good.pinned = one;
  good.clicked = one;
  good.rewards = reward;
  const auto fault = [&](const auto& change) {
    LoggedList list = good;
    change(list);
    const auto added = log.add(list);
    return added ? std::string() : added.error().message;
  };
  EXPECT_EQ(fault([](LoggedList&) {}), "");
  EXPECT_EQ(log.size(), 1U);
  EXPECT_THAT(fault([](LoggedList& list) { list.pinned = {}; }), HasSubstr("no rank was shown"));
  EXPECT_THAT(fault([](LoggedList& list) { list.clicked = {}; }), HasSubstr("one per rank"));
  EXPECT_THAT(fault([](LoggedList& list) { list.kept = false; }),
              HasSubstr("1 sampled ranks and 2 candidates"));
  EXPECT_THAT(fault([](LoggedList& list) { list.scores = list.scores.first(1); }),
              HasSubstr("one per candidate"));
  EXPECT_THAT(fault([](LoggedList& list) { list.keep = 0; }), HasSubstr("keep 0"));
  EXPECT_THAT(fault([](LoggedList& list) { list.keep = std::nan(""); }), HasSubstr("keep nan"));
  const std::vector<float> infinite{1, INFINITY};
  EXPECT_THAT(fault([&](LoggedList& list) { list.scores = infinite; }),
              HasSubstr("a score is not finite"));
  EXPECT_EQ(log.size(), 1U);
}

}  // namespace
}  // namespace plackett
