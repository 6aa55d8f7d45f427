#include "experiment/drift_measures.h"

#include <gmock/gmock.h>

#include <cmath>
#include <span>
#include <vector>

namespace plackett {
namespace {

using ::testing::ElementsAre;

DriftMeasures measures_of(const std::vector<Window>& windows, std::span<const Drift> drifts,
                          std::uint64_t impressions) {
  RunRecord record;
  record.windows = windows;
  return drift_measures(record, drifts, impressions);
}

TEST(WindowMeans, AreOfAHundredthOfTheRunAndTheLastHasWhatIsLeftOver) {
  WindowMeans means(250);
  std::vector<double> values;
  for (int at = 0; at < 250; ++at) {
    values.push_back(std::fmod(at * 0.37, 1));
    means.add(values.back(), 1 - values.back());
  }
  ASSERT_EQ(means.windows().size(), 83U);
  EXPECT_NEAR(means.windows()[1].online, (values[3] + values[4] + values[5]) / 3, 1e-6);
  EXPECT_NEAR(means.windows()[1].best, 1 - means.windows()[1].online, 2e-6);
  const double last = (values[246] + values[247] + values[248] + values[249]) / 4;
  EXPECT_NEAR(means.windows()[82].online, last, 1e-6);
}

// 1,000 impressions, windows of 10, drift at 405: level 0.8 before it; 0.2 for 20 windows from the
// 42nd on, then 0.77.
TEST(DriftMeasures, EqualAPlainComputation) {
  std::vector<Window> windows;
  double regret = 0;
  double regret_after = 0;
  for (int at = 0; at < 100; ++at) {
    const double online = at == 3 ? 0.05 : at < 41 ? 0.8 : at < 61 ? 0.2 : 0.77;
    windows.push_back({online, 0.9});
    regret += (0.9 - online) / 100;
    if (at >= 40) regret_after += (0.9 - online) / 60;
  }
  const std::vector<Drift> drifts{{.at = 405}};
  const DriftMeasures measures = measures_of(windows, drifts, 1'000);
  EXPECT_NEAR(measures.regret, regret, 1e-12);
  EXPECT_NEAR(measures.regret_after, regret_after, 1e-12);
  EXPECT_EQ(measures.worst_window, 0.2);  // not the 0.05 before the drift
  // 0.77 >= 0.95 * 0.8: from window 61 on, which starts at 610, 205 impressions after the drift.
  EXPECT_THAT(measures.regained, ElementsAre(Regained{205, true}));
}

// 250 impressions: the last of 83 windows has 4 instead of 3, and drifts in it are in range.
TEST(DriftMeasures, WeighTheLastWindowByItsLength) {
  std::vector<Window> windows(83, {0.5, 0.5});
  windows.back() = {0.1, 0.9};
  const std::vector<Drift> drifts{{.at = 249}};
  const DriftMeasures measures = measures_of(windows, drifts, 250);
  EXPECT_NEAR(measures.regret, 4 * 0.8 / 250, 1e-12);
  EXPECT_NEAR(measures.regret_after, 0.8, 1e-12);
  EXPECT_EQ(measures.worst_window, 0.1);
  EXPECT_TRUE(std::isnan(measures.regained.front().after));
  // The only level after the drift: (12 * 0.76 + 4 * 0.82) / 16 = 0.775, which is 95 % of the 0.815
  // before it. The mean of the five windows, 0.772, is not.
  windows.assign(83, {0.815, 1});
  for (std::size_t at = 78; at < 82; ++at) windows[at].online = 0.76;
  windows.back().online = 0.82;
  const std::vector<Drift> late{{.at = 78 * 3}};
  EXPECT_THAT(measures_of(windows, late, 250).regained, ElementsAre(Regained{0, true}));
}

TEST(DriftMeasures, CountRunsThatNeverRegainALevelWithTheTimeTheyHad) {
  std::vector<Window> windows(100, {0.8, 0.9});
  for (std::size_t at = 50; at < 100; ++at) windows[at].online = at < 70 ? 0.5 : 0.75;
  const std::vector<Drift> drifts{{.at = 495}};
  const DriftMeasures never = measures_of(windows, drifts, 1'000);
  EXPECT_THAT(never.regained, ElementsAre(Regained{505, false}));
  for (std::size_t at = 70; at < 100; ++at) windows[at].online = 0.8;
  const DriftMeasures late = measures_of(windows, drifts, 1'000);
  EXPECT_THAT(late.regained, ElementsAre(Regained{205, true}));
  std::vector<RunRecord> records(2);
  for (RunRecord& record : records) record.windows = windows;
  const DriftSummary summary = summarise_drift(records, {never, late}, drifts, 1'000);
  EXPECT_EQ(summary.drifts.front().regained_after.mean, 355);
  EXPECT_EQ(summary.drifts.front().regained_after.runs, 2U);
  EXPECT_EQ(summary.drifts.front().regained, 1U);
  windows.assign(100, {0.8, 0.9});
  EXPECT_THAT(measures_of(windows, drifts, 1'000).regained, ElementsAre(Regained{0, true}));
}

// A level is five windows of ten impressions.
TEST(DriftMeasures, TellWhatCannotBeMeasuredFromWhatNeverHappened) {
  const std::vector<Window> windows(100, {0.8, 0.9});
  const auto is_measured = [&](std::vector<Drift> drifts) {
    const auto regained = measures_of(windows, drifts, 1'000).regained.front();
    EXPECT_EQ(std::isfinite(regained.after), regained.was_regained);
    return regained.was_regained;
  };
  EXPECT_FALSE(is_measured({{.at = 49}}));  // too near to the start
  EXPECT_TRUE(is_measured({{.at = 50}}));
  EXPECT_TRUE(is_measured({{.at = 950}}));
  EXPECT_FALSE(is_measured({{.at = 951}}));  // to the end
  EXPECT_TRUE(is_measured({{.at = 500}, {.at = 550}}));
  EXPECT_FALSE(is_measured({{.at = 500}, {.at = 549}}));  // to the next drift
  EXPECT_FALSE(is_measured({{.at = 500, .pace = DriftPace::kLinear, .over = 451}}));
}

TEST(DriftMeasures, LookNoFurtherThanTheNextDrift) {
  std::vector<Window> windows(100, {0.8, 0.9});
  for (std::size_t at = 30; at < 60; ++at) windows[at].online = 0.3;
  const std::vector<Drift> drifts{{.at = 300}, {.at = 600}};
  EXPECT_THAT(measures_of(windows, drifts, 1'000).regained,
              ElementsAre(Regained{300, false}, Regained{0, true}));
}

}  // namespace
}  // namespace plackett
