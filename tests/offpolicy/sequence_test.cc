// Live tests of two arms, simulated: how often their results mislead. Measured with more runs for
// docs/decisions/0018-sequences.md; PLACKETT_SEQUENCE_RUNS and PLACKETT_SEQUENCE_LISTS set how
// many.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "live_world.h"
#include "offpolicy/lift.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

using testing::LiveRun;
using testing::LiveWorld;
using testing::Visits;
using testing::Worth;

std::uint32_t setting(const char* name, std::uint32_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<std::uint32_t>(std::stoul(text)) : otherwise;
}

std::uint32_t runs(std::uint32_t otherwise) { return setting("PLACKETT_SEQUENCE_RUNS", otherwise); }

ArmComparison compared(const LiveWorld& world, const LiveRun& run) {
  constexpr ArmNames kArms{"old", "learned"};
  const SequenceOptions options{.largest_event = world.purchase_weight};
  return world.interleaved ? compare_interleaved(run.arm(0), kArms, options)
                           : compare_split(run.arm(0), run.arm(1), kArms, options);
}

// In how many runs `misled` of the lift was true after any of the lists.
std::uint32_t ever(const LiveWorld& world, std::uint32_t count,
                   const std::function<bool(const Lift&)>& misled) {
  const std::uint32_t lists = setting("PLACKETT_SEQUENCE_LISTS", 20'000);
  std::uint32_t found = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 21, number);
    for (std::uint32_t list = 0; list < lists; ++list) {
      run.show_list();
      const auto lift = compared(world, run).lift;
      if (!lift || !misled(*lift)) continue;
      ++found;
      break;
    }
  }
  return found;
}

// The probability of at least `found` of `count` at a rate of 5 %.
double chance_at_five_percent(std::uint32_t found, std::uint32_t count) {
  if (found == 0) return 1;
  return boost::math::cdf(complement(boost::math::binomial(count, 0.05), found - 1));
}

bool excludes_zero(const Lift& lift) { return lift.low > 0 || lift.high < 0; }

struct Case {
  const char* name;
  LiveWorld world;
};

void PrintTo(const Case& chosen, std::ostream* out) { *out << chosen.name; }

class Peeking : public ::testing::TestWithParam<Case> {};

// Seeds are fixed. With others, a case whose rate is 15 % would pass one time in 600, and one whose
// rate is 2 % would fail one time in 60.
TEST_P(Peeking, AtEveryListMisleadsInAtMostFivePercent) {
  const std::uint32_t count = runs(100);
  const std::uint32_t found = ever(GetParam().world, count, excludes_zero);
  std::cout << GetParam().name << ": " << found << " of " << count << " runs\n";
  EXPECT_LE(found, 5 * count / 100);
}

constexpr Visits kOnce = Visits::kOnce;
constexpr Visits kZipf = Visits::kZipf;
constexpr Visits kCohort = Visits::kCohort;
constexpr Worth kClick = Worth::kClick;
constexpr Worth kDcg = Worth::kDcg;

// Clicks of 10 % of lists, and rare purchases.
constexpr LiveWorld purchases(Visits visits, double chance, double weight, double share = 0.5) {
  LiveWorld world{visits, Worth::kEvents, 0.1, 0, share};
  world.purchase_chance = chance;
  world.purchase_weight = weight;
  return world;
}

// The challenger has more clicks, and fewer purchases by as much.
LiveWorld clicked_not_bought(LiveWorld world) {
  world.purchase_effect = -0.5;
  world.effect = 0.5 * world.purchase_chance * world.purchase_weight / world.chance;
  return world;
}

INSTANTIATE_TEST_SUITE_P(
    Split, Peeking,
    ::testing::Values(
        Case{"Clicks", {kOnce, kClick, 0.5}},
        Case{"ClicksOfTenPercent", {kOnce, kClick, 0.5, 0, 0.1}},
        Case{"ClicksOfOnePercent", {kOnce, kClick, 0.5, 0, 0.01}},
        Case{"RareClicks", {kOnce, kClick, 0.01}}, Case{"FrequentClicks", {kOnce, kClick, 0.9}},
        Case{"FrequentClicksOfOnePercent", {kOnce, kClick, 0.97, 0, 0.01}},
        Case{"HeavyUnits", {kZipf, kClick, 0.5, 0.5}},
        Case{"HeavyUnitsOfTenPercent", {kZipf, kClick, 0.5, 0.5, 0.1}},
        Case{"Cohorts", {kCohort, kClick, 0.5, 0.5}},
        Case{"CohortsOfTenPercent", {kCohort, kClick, 0.5, 0.5, 0.1}},
        Case{"Dcg", {kCohort, kDcg, 0.5, 0.5}},
        Case{"DcgOfOnePercent", {kCohort, kDcg, 0.5, 0.5, 0.01}},
        Case{"Purchases", purchases(kOnce, 0.005, 100)},
        Case{"RarePurchases", purchases(kOnce, 0.001, 1000)},
        Case{"RarePurchasesOfTenPercent", purchases(kOnce, 0.001, 1000, 0.1)},
        Case{"PurchasesOfHeavyUnits", purchases(kZipf, 0.005, 100)},
        Case{"PurchasesOfCohorts", purchases(kCohort, 0.005, 100, 0.2)},
        Case{"ClicksInsteadOfPurchases", clicked_not_bought(purchases(kOnce, 0.01, 30))},
        Case{"ClicksInsteadOfRarePurchases", clicked_not_bought(purchases(kOnce, 0.0002, 1000))}),
    [](const auto& instance) { return std::string(instance.param.name); });

LiveWorld interleaved(LiveWorld world) {
  world.interleaved = true;
  return world;
}

INSTANTIATE_TEST_SUITE_P(
    Interleaving, Peeking,
    ::testing::Values(Case{"Clicks", interleaved({kOnce, kClick, 0.5})},
                      Case{"RareClicks", interleaved({kOnce, kClick, 0.01})},
                      Case{"HeavyUnits", interleaved({kZipf, kClick, 0.5, 0.5})},
                      Case{"Dcg", interleaved({kCohort, kDcg, 0.5, 0.5})},
                      Case{"Purchases", interleaved(purchases(kOnce, 0.005, 100))},
                      Case{"RarePurchases", interleaved(purchases(kOnce, 0.001, 1000))}),
    [](const auto& instance) { return std::string(instance.param.name); });

// A unit comes back, with the same taste: sums over lists are then no martingale. Means still are
// one, backwards in time, since a unit's lists are exchangeable: what is yet to change in the log
// ratio is uncorrelated with where it ends, and that is all that the interval needs.
struct Correlations {
  double changes_of_means = 0;
  double changes_of_sums = 0;
};

Correlations between_early_and_late(const LiveWorld& world, std::uint32_t count) {
  constexpr int kEarly = 2000;
  constexpr int kLate = 8000;
  std::vector<double> early;
  std::vector<double> late;
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 24, number);
    const auto after = [&](int lists) {
      while (lists-- > 0) run.show_list();
      return log_ratio(run.arm(1)).value - log_ratio(run.arm(0)).value;
    };
    early.push_back(after(kEarly));
    late.push_back(after(kLate - kEarly));
  }
  const auto correlation = [&](const std::function<double(double, double)>& first,
                               const std::function<double(double, double)>& second) {
    double a = 0;
    double b = 0;
    double aa = 0;
    double ab = 0;
    double bb = 0;
    for (std::size_t at = 0; at < early.size(); ++at) {
      const double x = first(early[at], late[at]);
      const double y = second(early[at], late[at]);
      a += x;
      b += y;
      aa += x * x;
      ab += x * y;
      bb += y * y;
    }
    const auto n = static_cast<double>(early.size());
    return (ab - a * b / n) / std::sqrt((aa - a * a / n) * (bb - b * b / n));
  };
  return {correlation([](double x, double y) { return x - y; }, [](double, double y) { return y; }),
          correlation([](double x, double) { return kEarly * x; },
                      [](double x, double y) { return kLate * y - kEarly * x; })};
}

TEST(ReturningUnits, ChangeMeansWithoutCorrelationThoughNotSums) {
  const std::uint32_t count = runs(1000);
  const double limit = 4.9 / std::sqrt(count);  // alpha 1e-6
  for (const Visits visits : {kZipf, kCohort}) {
    const Correlations found = between_early_and_late({visits, kClick, 0.3, 0.5}, count);
    std::cout << "means " << found.changes_of_means << ", sums " << found.changes_of_sums << "\n";
    EXPECT_LT(std::abs(found.changes_of_means), limit);
    // The check can fail: units that come back all the time.
    if (visits == kZipf) {
      EXPECT_GT(found.changes_of_sums, limit);
    }
  }
}

// The twin: what peeking does to a p-value that is right at one time.
TEST(PeekingAtFixedPValues, MisleadsInFarMoreThanFivePercent) {
  const auto significant = [](const Lift& lift) { return lift.p_value < 0.05; };
  for (const bool both : {false, true}) {
    LiveWorld world{kOnce, kClick, 0.5};
    world.interleaved = both;
    const std::uint32_t count = runs(100);
    const std::uint32_t found = ever(world, count, significant);
    std::cout << (both ? "interleaved: " : "split: ") << found << " of " << count << " runs\n";
    EXPECT_LT(chance_at_five_percent(found, count), testing::kFalseAlarmRate);
  }
}

// The twin of FrequentClicksOfOnePercent: the interval of each arm's own variance. A small arm in
// which nobody has failed to click yet looks certain.
TEST(PeekingWithOwnVariances, MisleadsInFarMoreThanFivePercent) {
  const LiveWorld world{kOnce, kClick, 0.97, 0, 0.01};
  const std::uint32_t count = runs(100);
  std::uint32_t found = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 21, number);
    bool misled = false;
    for (int list = 0; list < 20'000 && !misled; ++list) {
      run.show_list();
      if (!compared(world, run).lift) continue;
      const LogRatio before = log_ratio(run.arm(0));
      const LogRatio after = log_ratio(run.arm(1));
      misled = std::abs(after.value - before.value) >
               sequence_half_width(before.variance + after.variance, {});
    }
    found += misled;
  }
  std::cout << found << " of " << count << " runs\n";
  EXPECT_LT(chance_at_five_percent(found, count), testing::kFalseAlarmRate);
}

// The twin of ClicksInsteadOfRarePurchases: the sums alone. Before the first purchase they know of
// clicks only.
TEST(PeekingWithoutRegardToPurchases, MisleadsInFarMoreThanFivePercent) {
  const LiveWorld world = clicked_not_bought(purchases(kOnce, 0.0002, 1000));
  const std::uint32_t count = runs(100);
  std::uint32_t found = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 21, number);
    bool misled = false;
    for (int list = 0; list < 20'000 && !misled; ++list) {
      run.show_list();
      const auto lift = compare_split(run.arm(0), run.arm(1), {}, {}).lift;
      misled = lift && excludes_zero(*lift);
    }
    found += misled;
  }
  std::cout << found << " of " << count << " runs\n";
  EXPECT_LT(chance_at_five_percent(found, count), testing::kFalseAlarmRate);
}

// In how many runs a guard stops the challenger.
std::uint32_t stopped_by_guard(const LiveWorld& world, std::uint32_t count, double drop) {
  const std::uint32_t lists = setting("PLACKETT_SEQUENCE_LISTS", 20'000);
  std::uint32_t found = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 25, number);
    bool stopped = false;
    for (std::uint32_t list = 0; list < lists && !stopped; ++list) {
      run.show_list();
      const SequenceOptions options{.largest_event = world.purchase_weight};
      const auto greatest = world.interleaved
                                ? greatest_lift_of_interleaved(run.arm(0), options)
                                : greatest_lift_of_split(run.arm(0), run.arm(1), options);
      stopped = greatest && *greatest < -drop;
    }
    found += stopped;
  }
  return found;
}

class GuardOfEqualArms : public ::testing::TestWithParam<Case> {};

// Without a limit it stops whatever is worse at all. What is found is judged as in Peeking.
TEST_P(GuardOfEqualArms, StopsInAtMostFivePercent) {
  const std::uint32_t count = runs(100);
  const std::uint32_t found = stopped_by_guard(GetParam().world, count, 0);
  std::cout << GetParam().name << ": " << found << " of " << count << " runs\n";
  EXPECT_LE(found, 5 * count / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Worlds, GuardOfEqualArms,
    ::testing::Values(Case{"Clicks", {kOnce, kClick, 0.5}},
                      Case{"ClicksOfTenPercent", {kOnce, kClick, 0.5, 0, 0.1}},
                      Case{"ClicksOfOnePercent", {kOnce, kClick, 0.5, 0, 0.01}},
                      Case{"RareClicks", {kOnce, kClick, 0.01}},
                      Case{"RareClicksOfTenPercent", {kOnce, kClick, 0.01, 0, 0.1}},
                      Case{"RareClicksOfNinetyPercent", {kOnce, kClick, 0.02, 0, 0.9}},
                      Case{"FrequentClicksOfOnePercent", {kOnce, kClick, 0.97, 0, 0.01}},
                      Case{"FrequentClicksOfNinetyNinePercent", {kOnce, kClick, 0.97, 0, 0.99}},
                      Case{"HeavyUnitsOfTenPercent", {kZipf, kClick, 0.5, 0.5, 0.1}},
                      Case{"CohortsOfTenPercent", {kCohort, kClick, 0.5, 0.5, 0.1}},
                      Case{"Purchases", purchases(kOnce, 0.005, 100, 0.2)},
                      Case{"PurchasesOfHeavyUnits", purchases(kZipf, 0.02, 100, 0.2)},
                      Case{"RarePurchasesOfTenPercent", purchases(kOnce, 0.005, 1000, 0.1)},
                      Case{"ClicksInsteadOfPurchases",
                           clicked_not_bought(purchases(kOnce, 0.01, 30, 0.2))},
                      Case{"Interleaved", interleaved({kOnce, kClick, 0.5})},
                      Case{"InterleavedRareClicks", interleaved({kOnce, kClick, 0.02})},
                      Case{"InterleavedPurchases", interleaved(purchases(kOnce, 0.005, 100))}),
    [](const auto& instance) { return std::string(instance.param.name); });

// What has next to no value is stopped early: the baseline has a click in every other list.
TEST(Guard, StopsAChallengerThatIsWorthNextToNothing) {
  for (const bool both : {false, true}) {
    for (const double effect : {-1.0, -0.99, -0.9}) {
      LiveWorld world{kOnce, kClick, 0.5};
      world.interleaved = both;
      world.effect = effect;
      for (std::uint32_t number = 0; number < 20; ++number) {
        LiveRun run(world, 26, number);
        std::uint32_t lists = 0;
        std::optional<double> greatest;
        while (lists < 2000 && !(greatest && *greatest < -0.05)) {
          run.show_list();
          ++lists;
          greatest = both ? greatest_lift_of_interleaved(run.arm(0), {})
                          : greatest_lift_of_split(run.arm(0), run.arm(1), {});
        }
        EXPECT_LT(lists, 1200U) << effect << (both ? ", interleaved" : ", split");
      }
    }
  }
}

// A challenger exactly at the guard's limit, and one exactly at a promotion's margin.
TEST(Guard, StopsAChallengerAtItsLimitInAtMostFivePercent) {
  const std::uint32_t count = runs(100);
  for (const bool both : {false, true}) {
    LiveWorld world{kCohort, kClick, 0.5, 0.2};
    world.interleaved = both;
    world.effect = -0.05;
    const std::uint32_t stopped =
        ever(world, count, [](const Lift& lift) { return lift.high < -0.05; });
    world.effect = 0.02;
    const std::uint32_t promoted =
        ever(world, count, [](const Lift& lift) { return lift.low > 0.02; });
    std::cout << (both ? "interleaved: " : "split: ") << stopped << " stopped, " << promoted
              << " promoted of " << count << " runs\n";
    EXPECT_GT(chance_at_five_percent(stopped, count), testing::kFalseAlarmRate);
    EXPECT_GT(chance_at_five_percent(promoted, count), testing::kFalseAlarmRate);
  }
}

TEST(Guard, StopsAChallengerFarBelowItsLimit) {
  LiveWorld world{kCohort, kClick, 0.5, 0.2};
  world.effect = -0.3;
  EXPECT_EQ(ever(world, 20, [](const Lift& lift) { return lift.high < -0.05; }), 20U);
}

// p-values after 4,000 lists, in twenty bins. `of_lists`: the planted fault, variances as if each
// list were another unit's.
double uniformity_of_p_values(const LiveWorld& world, bool of_lists) {
  std::vector<std::uint64_t> bins(20);
  const std::uint32_t count = runs(1000);
  for (std::uint32_t number = 0; number < count; ++number) {
    LiveRun run(world, 22, number);
    for (int list = 0; list < 4000; ++list) run.show_list();
    const auto sums = [&](std::size_t arm) {
      return of_lists ? run.arm_of_lists(arm) : run.arm(arm);
    };
    const auto lift = (world.interleaved ? compare_interleaved(sums(0), {}, {})
                                         : compare_split(sums(0), sums(1), {}, {}))
                          .lift;
    EXPECT_TRUE(lift);
    if (lift) ++bins[std::min<std::size_t>(static_cast<std::size_t>(lift->p_value * 20), 19)];
  }
  const double p = testing::chi_square_p(bins, std::vector<double>(20, 0.05));
  std::cout << "below 0.05: " << bins[0] << " of " << count << ", chi-square p " << p << "\n";
  return p;
}

const std::vector<LiveWorld>& worlds_with_returning_units() {
  static const std::vector<LiveWorld> worlds{{kCohort, kClick, 0.3, 1},
                                             {kCohort, kDcg, 0.3, 1, 0.2},
                                             interleaved({kCohort, kDcg, 0.3, 1})};
  return worlds;
}

TEST(FixedPValues, OfEqualArmsAreUniform) {
  for (const LiveWorld& world : worlds_with_returning_units())
    EXPECT_GT(uniformity_of_p_values(world, false), testing::kFalseAlarmRate);
}

// Interleaving has no such twin: a list's credit is drawn apart from the unit's.
TEST(FixedPValues, UniformityCheckRejectsVariancesOfLists) {
  for (const LiveWorld& world : worlds_with_returning_units()) {
    if (world.interleaved) continue;
    EXPECT_LT(uniformity_of_p_values(world, true), testing::kFalseAlarmRate);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A list per second; the prediction is made after 1,000.
TEST(SecondsUntilShown, PredictTheMedianTimeWithinAFactorOfTwo) {
  for (const LiveWorld& base : {LiveWorld{kOnce, kClick, 0.5}, LiveWorld{kCohort, kDcg, 0.5, 0.5},
                                interleaved({kCohort, kClick, 0.5, 0.5})}) {
    LiveWorld world = base;
    world.effect = 0.1;
    std::vector<double> predicted;
    std::vector<double> needed;
    const std::uint32_t count = runs(100);
    for (std::uint32_t number = 0; number < count; ++number) {
      LiveRun run(world, 23, number);
      constexpr std::uint32_t kLists = 200'000;
      std::uint32_t list = 0;
      while (list < kLists) {
        run.show_list();
        ++list;
        const ArmComparison now = compared(world, run);
        if (list == 1000) {
          const auto seconds = seconds_until_shown(world.effect, 1000, now, {});
          ASSERT_TRUE(seconds);
          predicted.push_back(1000 + *seconds);
        }
        if (now.lift && now.lift->low > 0 && list >= 1000) break;
      }
      EXPECT_LT(list, kLists) << "a lift of 10 % is found";
      needed.push_back(list);
    }
    const double ratio = median(needed) / median(predicted);
    std::cout << "predicted " << median(predicted) << ", needed " << median(needed) << " lists\n";
    EXPECT_GT(ratio, 0.5);
    EXPECT_LT(ratio, 2);
  }
}

}  // namespace
}  // namespace plackett
