#include "plackett/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "base/aligned.h"
#include "experiment/curve.h"
#include "experiment/drift_measures.h"
#include "experiment/world.h"
#include "plackett/results.h"
#include "plackett/simulation.h"
#include "small_experiment.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::slurp;
using testing::TemporaryFolder;

const Drift kIntents{.of = DriftOf::kLabels, .at = 1'000};

const Dataset& dataset() {
  static const Dataset data = [] {
    Dataset all = load_dataset("synthetic", {}).value();
    all.folds.resize(1);
    return all;
  }();
  return data;
}

SimulationSpec spec_with(std::vector<Drift> drift) {
  SimulationSpec spec;
  spec.impressions = 2'000;
  spec.drift = std::move(drift);
  return spec;
}

RunRecord run_of(const SimulationSpec& spec, std::uint32_t run = 0) {
  return Simulation::prepare(dataset(), spec)->run(run, {}).value();
}

DriftMeasures measures_of(const std::vector<Window>& windows, std::span<const Drift> drifts,
                          std::uint64_t impressions) {
  RunRecord record;
  record.windows = windows;
  return drift_measures(record, drifts, impressions);
}

TEST(DriftWeight, IsZeroThenOneIfAbrupt) {
  EXPECT_EQ(drift_weight(kIntents, 999), 0);
  EXPECT_EQ(drift_weight(kIntents, 1'000), 1);
}

TEST(DriftWeight, RampsUpIfLinear) {
  const Drift drift{.at = 100, .pace = DriftPace::kLinear, .over = 50};
  EXPECT_EQ(drift_weight(drift, 99), 0);
  EXPECT_EQ(drift_weight(drift, 100), 0);
  EXPECT_DOUBLE_EQ(drift_weight(drift, 125), 0.5);
  EXPECT_EQ(drift_weight(drift, 150), 1);
  EXPECT_EQ(drift_weight(drift, 10'000), 1);
  EXPECT_EQ(settled_at(drift), 150U);
}

TEST(DriftWeight, IsACosineIfSeasonal) {
  const Drift drift{.at = 7, .pace = DriftPace::kSeasonal, .period = 40};
  EXPECT_EQ(drift_weight(drift, 6), 0);
  for (std::uint64_t t = 7; t < 200; ++t) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(t - 7) / 40;
    EXPECT_NEAR(drift_weight(drift, t), (1 - std::cos(angle)) / 2, 1e-12) << t;
  }
  EXPECT_EQ(settled_at(drift), 27U);
}

TEST(CurvePoints, AreDenseAgainAfterADrift) {
  const std::vector<Drift> drifts{{.at = 8}};
  EXPECT_THAT(curve_points(20, drifts),
              ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18, 20));
}

// 250 impressions are 82 windows of 3 and one of 4.
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

TEST(Worlds, IntentsDivideTheRelevantDocumentsOfEveryQueryInHalves) {
  const auto worlds = Worlds::make(dataset(), std::vector{kIntents}, {1, 0}).value();
  ASSERT_EQ(worlds->state_count(), 2U);
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::size_t fold = 0; fold < dataset().folds.size(); ++fold) {
    const Split& all = dataset().folds[fold].train;
    for (std::uint32_t at = 0; at < all.query_count(); ++at) {
      const Query query{at};
      int difference = 0;
      for (std::uint32_t doc = 0; doc < all.features(query).doc_count(); ++doc) {
        const auto label = all.judgments(query).label(Doc{doc});
        const auto in = [&](std::size_t state) {
          return worlds->state(state).fold.train.judgments(query).label(Doc{doc});
        };
        EXPECT_EQ(in(0) + in(1), label);
        EXPECT_TRUE(in(0) == 0 || in(1) == 0);
        difference += (in(0) > 0) - (in(1) > 0);
        first += in(0) > 0;
        second += in(1) > 0;
      }
      EXPECT_LE(std::abs(difference), 1);
    }
  }
  EXPECT_NEAR(static_cast<double>(first) / static_cast<double>(first + second), 0.5, 0.15);
}

TEST(Worlds, ASecondSwapOfIntentsLeadsBack) {
  const auto worlds =
      Worlds::make(dataset(), std::vector{kIntents, Drift{.at = 1'500}}, {1, 0}).value();
  EXPECT_EQ(worlds->state_count(), 2U);
  EXPECT_EQ(worlds->state_of(2), worlds->state_of(0));
}

TEST(Worlds, ReversedLabelsAreTheLargestLabelMinusTheLabel) {
  const Drift drift{.at = 10, .change = LabelChange::kReversed};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& before = worlds->state(0).fold.test;
  const Split& after = worlds->state(1).fold.test;
  for (std::uint64_t doc = 0; doc < before.doc_count(); ++doc) {
    EXPECT_EQ(before.storage().labels[doc], dataset().folds[0].test.storage().labels[doc]);
    EXPECT_EQ(before.storage().labels[doc] + after.storage().labels[doc], dataset().max_label);
  }
}

TEST(Worlds, FeaturesDieAndAppear) {
  const std::vector<std::uint32_t>& ids = dataset().folds[0].feature_ids;
  const Drift drift{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {ids[1]}}, .appears = {.ids = {ids[4]}}};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& all = dataset().folds[0].train;
  for (std::uint32_t at = 0; at < all.query_count(); ++at) {
    const Query query{at};
    for (std::uint32_t doc = 0; doc < all.features(query).doc_count(); ++doc) {
      const auto row = all.features(query).row(Doc{doc});
      const auto before = worlds->state(0).fold.train.features(query).row(Doc{doc});
      const auto after = worlds->state(1).fold.train.features(query).row(Doc{doc});
      for (std::size_t feature = 0; feature < ids.size(); ++feature) {
        EXPECT_EQ(before[feature], feature == 4 ? 0 : row[feature]);
        EXPECT_EQ(after[feature], feature == 1 ? 0 : row[feature]);
      }
    }
  }
}

TEST(Worlds, AShareOfTheFeaturesIsChosenByTheSeed) {
  const Drift drift{.of = DriftOf::kFeatures, .at = 10, .dies = {.share = 0.4}};
  const auto dead = [&](std::uint64_t seed) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {seed, 0}).value();
    const Split& split = worlds->state(1).fold.train;
    std::vector<bool> is_dead(split.feature_count(), true);
    for (std::uint32_t at = 0; at < split.query_count(); ++at) {
      const FeatureView docs = split.features(Query{at});
      for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
        const auto row = docs.row(Doc{doc});
        for (std::size_t f = 0; f < is_dead.size(); ++f) is_dead[f] = is_dead[f] && row[f] == 0;
      }
    }
    return is_dead;
  };
  const auto count = static_cast<double>(std::ranges::count(dead(1), true));
  EXPECT_GT(count, 0.1 * dataset().folds[0].train.feature_count());
  EXPECT_LT(count, 0.7 * dataset().folds[0].train.feature_count());
  EXPECT_EQ(dead(1), dead(1));
  EXPECT_NE(dead(1), dead(2));
}

// A share is drawn from the features that the other does not list.
TEST(Worlds, NoFeatureBothDiesAndAppears) {
  const std::uint32_t id = dataset().folds[0].feature_ids[2];
  const auto is_dead = [&](const Drift& drift, std::uint32_t run, std::size_t state) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, run}).value();
    const Split& split = worlds->state(state).fold.train;
    for (std::uint32_t at = 0; at < split.query_count(); ++at) {
      const FeatureView docs = split.features(Query{at});
      for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
        if (docs.row(Doc{doc})[2] != 0) return false;
      }
    }
    return true;
  };
  const Drift dies{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {id}}, .appears = {.share = 0.5}};
  const Drift appears{
      .of = DriftOf::kFeatures, .at = 10, .dies = {.share = 0.5}, .appears = {.ids = {id}}};
  for (std::uint32_t run = 0; run < 8; ++run) {  // with a coin each: all heads in 1 of 256
    EXPECT_FALSE(is_dead(dies, run, 0)) << run;
    EXPECT_TRUE(is_dead(dies, run, 1)) << run;
    EXPECT_TRUE(is_dead(appears, run, 0)) << run;
    EXPECT_FALSE(is_dead(appears, run, 1)) << run;
  }
}

TEST(Worlds, DifferBetweenRuns) {
  const auto relevant = [](const Drift& drift, std::uint32_t run) {
    const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, run}).value();
    const Split& split = worlds->state(0).fold.train;
    return std::vector(split.storage().labels, split.storage().labels + split.doc_count());
  };
  EXPECT_NE(relevant(kIntents, 0), relevant(kIntents, 1));
  EXPECT_EQ(relevant(kIntents, 1), relevant(kIntents, 1));
  const Drift queries{.of = DriftOf::kQueries, .at = 10};
  EXPECT_NE(relevant(queries, 0), relevant(queries, 1));
}

TEST(Worlds, ThatAreNotDrawnAreTheSameInAllRunsOfAFold) {
  const Drift users{.of = DriftOf::kUsers, .at = 10, .click_model = "informational"};
  const Drift reversed{.at = 10, .change = LabelChange::kReversed};
  const Drift listed{.of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {1}}};
  const Drift share{.of = DriftOf::kFeatures, .at = 10, .appears = {.share = 0.1}};
  EXPECT_FALSE(is_drawn(std::vector{users, reversed, listed}));
  EXPECT_TRUE(is_drawn(std::vector{users, kIntents}));
  EXPECT_TRUE(is_drawn(std::vector{share}));
  EXPECT_TRUE(is_drawn(std::vector{Drift{.of = DriftOf::kQueries, .at = 10}}));
  WorldsByRun worlds(dataset(), std::vector{users}, 1);
  EXPECT_EQ(worlds.of(0).value(), worlds.of(7).value());
}

TEST(Worlds, AreKeptWhileTheyAreHeldAndOfTheLastRuns) {
  WorldsByRun worlds(dataset(), std::vector{kIntents}, 1);
  std::shared_ptr<const Worlds> first = worlds.of(0).value();
  std::weak_ptr<const Worlds> second = worlds.of(1).value();
  EXPECT_EQ(worlds.of(1).value(), second.lock());
  for (const std::uint32_t run : {2U, 3U}) EXPECT_TRUE(worlds.of(run).ok());
  EXPECT_EQ(worlds.of(0).value(), first);
  EXPECT_TRUE(second.expired());
}

TEST(Drift, AllMethodsMeetTheWorldsOfTheirRun) {
  SimulationSpec spec = spec_with({kIntents});
  const auto pdgd = Simulation::prepare(dataset(), spec).value();
  spec.method = "dbgd";
  spec.click_model = "navigational";
  const auto dbgd = Simulation::prepare(dataset(), spec, &pdgd).value();
  const auto alone = Simulation::prepare(dataset(), spec).value();
  const auto best = [](const Simulation& simulation, std::uint32_t run) {
    const RunRecord record = simulation.run(run, {}).value();
    std::vector<double> all;
    for (const Window& window : record.windows) all.push_back(window.best);
    return all;
  };
  EXPECT_EQ(best(pdgd, 1), best(dbgd, 1));
  EXPECT_EQ(best(dbgd, 1), best(alone, 1));
  EXPECT_NE(best(pdgd, 0), best(pdgd, 1));
}

TEST(Drift, RunsCountTheRestartsOfMethodsThatRestart) {
  SimulationSpec spec = spec_with({kIntents});
  EXPECT_FALSE(run_of(spec).restarts.has_value());
  spec.settings = {{"restart", "1"}};  // so sensitive that chance restarts it
  const RunRecord record = run_of(spec);
  ASSERT_TRUE(record.restarts.has_value());
  EXPECT_GT(*record.restarts, 0U);
  const DriftMeasures measures = drift_measures(record, spec.drift, spec.impressions);
  EXPECT_EQ(measures.restarts, record.restarts);
  const auto summary = summarise_drift(std::vector{record}, {measures}, spec.drift, 2'000);
  EXPECT_EQ(summary.restarts.mean, static_cast<double>(*record.restarts));
  spec.drift.clear();
  EXPECT_FALSE(run_of(spec).restarts.has_value());
}

TEST(Worlds, QueriesAreDividedInTwoGroups) {
  const Drift drift{.of = DriftOf::kQueries, .at = 10, .share = 0.25};
  const auto worlds = Worlds::make(dataset(), std::vector{drift}, {1, 0}).value();
  const Split& all = dataset().folds[0].train;
  const Split& before = worlds->state(0).fold.train;
  const Split& after = worlds->state(1).fold.train;
  EXPECT_EQ(before.query_count() + after.query_count(), all.query_count());
  EXPECT_EQ(before.doc_count() + after.doc_count(), all.doc_count());
  EXPECT_NEAR(before.query_count() / static_cast<double>(all.query_count()), 0.25, 0.1);
  // In their order: each query of the split is the next one of one of the groups.
  std::uint32_t next[2] = {0, 0};
  for (std::uint32_t at = 0; at < all.query_count(); ++at) {
    const auto is_next = [&](const Split& group, std::uint32_t number) {
      if (number == group.query_count()) return false;
      const FeatureView one = all.features(Query{at});
      const FeatureView other = group.features(Query{number});
      return one.doc_count() == other.doc_count() &&
             std::ranges::equal(one.row(Doc{0}), other.row(Doc{0}));
    };
    const bool in_first = is_next(before, next[0]);
    ASSERT_TRUE(in_first || is_next(after, next[1])) << at;
    ++next[in_first ? 0 : 1];
  }
}

TEST(Worlds, WeighAndDrawTheSame) {
  const std::vector<Drift> drifts{
      {.of = DriftOf::kLabels, .at = 10, .pace = DriftPace::kLinear, .over = 100},
      {.of = DriftOf::kFeatures,
       .at = 20,
       .pace = DriftPace::kSeasonal,
       .period = 100,
       .dies = {.share = 0.3}}};
  const auto worlds = Worlds::make(dataset(), drifts, {1, 0}).value();
  ASSERT_EQ(worlds->state_count(), 3U);
  std::vector<double> weights(3);
  worlds->weigh(50, weights);
  const double first = 0.4;
  const double second = (1 - std::cos(2 * std::numbers::pi * 0.3)) / 2;
  EXPECT_NEAR(weights[0], (1 - first) * (1 - second), 1e-12);
  EXPECT_NEAR(weights[1], first * (1 - second), 1e-12);
  EXPECT_NEAR(weights[2], second, 1e-12);
  // 40,000 draws: a share is off by 0.0025 at one standard deviation; alpha about 1e-8.
  std::vector<double> drawn(3);
  for (std::uint32_t run = 0; run < 40'000; ++run) {
    Rng rng({1, run, 50, Purpose::kWorld});
    drawn[worlds->draw(rng, 50)] += 1.0 / 40'000;
  }
  for (std::size_t at = 0; at < 3; ++at) EXPECT_NEAR(drawn[at], weights[at], 0.015);
}

// One feature is the label: a linear ranker has NDCG 1 on every query that has a relevant document.
TEST(BestLinear, IsPerfectWhereALinearRankerCanBe) {
  Dataset data = dataset();
  data.folds.resize(1);
  const Split from = data.folds[0].train;
  struct Owned {
    AlignedVector<float> rows;
    std::shared_ptr<const void> source;
  };
  const auto owned = std::make_shared<Owned>();
  Split::Storage storage = from.storage();
  const std::size_t width = from.row_stride();
  owned->rows.assign(storage.rows, storage.rows + from.doc_count() * width);
  owned->source = storage.owner;
  for (std::uint64_t doc = 0; doc < from.doc_count(); ++doc) {
    owned->rows[doc * width] =
        static_cast<float>(storage.labels[doc]) / static_cast<float>(data.max_label);
  }
  storage.rows = owned->rows.data();
  storage.owner = owned;
  data.folds[0].train = Split(storage);
  const Drift users{.of = DriftOf::kUsers, .at = 10, .click_model = "informational"};
  const auto worlds = Worlds::make(data, std::vector{users}, {1, 0}).value();
  const WorldFold& fold = worlds->state(0);
  double sum = 0;
  double count = 0;
  for (std::uint32_t at = 0; at < from.query_count(); ++at) {
    if (!fold.train_ndcg.has_relevant(Query{at})) continue;
    sum += fold.best[at];
    ++count;
  }
  EXPECT_GT(sum / count, 0.97);
}

TEST(BestLinear, IsAheadOfALearnerFromClicks) {
  SimulationSpec spec = spec_with({kIntents});
  spec.impressions = 10'000;
  const RunRecord record = run_of(spec);
  double online = 0;
  double best = 0;
  for (const Window& window : record.windows) {
    online += window.online;
    best += window.best;
  }
  EXPECT_GT(best, online);
}

TEST(Drift, ChangesNothingBeforeIt) {
  const Drift users{.of = DriftOf::kUsers, .at = 1'000, .click_model = "informational"};
  const RunRecord still = run_of(spec_with({}));
  const RunRecord drifting = run_of(spec_with({users}));
  ASSERT_TRUE(still.windows.empty());
  const auto at = [](const RunRecord& record, std::uint64_t impression) {
    return *std::ranges::find(record.curve, impression, &CurvePoint::impression);
  };
  EXPECT_EQ(at(still, 1'000).online, at(drifting, 1'000).online);
  EXPECT_EQ(at(still, 1'000).offline, at(drifting, 1'000).offline);
  EXPECT_NE(at(still, 2'000).online, at(drifting, 2'000).online);
}

TEST(Drift, ALaterOneIsTheSameUntilTheEarlierOne) {
  const RunRecord early = run_of(spec_with({kIntents}));
  const RunRecord late = run_of(spec_with({{.at = 1'500}}));
  ASSERT_EQ(early.windows.size(), 100U);
  for (std::size_t at = 0; at < 50; ++at) EXPECT_EQ(early.windows[at], late.windows[at]);
  EXPECT_NE(early.windows[60], late.windows[60]);
}

// Nothing is clicked, so the ranker stays as it is, and ties are broken alike.
TEST(Drift, OfflinePerformanceIsOfTheWorldsByTheirWeights) {
  class Idle final : public User {
   public:
    [[nodiscard]] std::string_view name() const override { return "idle"; }
    [[nodiscard]] std::uint32_t grade_count() const override { return 5; }
    void click(std::span<const Doc>, const Judgments&, Rng&,
               std::span<std::uint8_t> clicks) const override {
      std::ranges::fill(clicks, std::uint8_t{0});
    }
  };
  const auto offline = [](std::uint64_t at, DriftPace pace, std::uint64_t over) {
    SimulationSpec spec = spec_with({{.at = at, .pace = pace, .over = over}});
    spec.user = std::make_shared<Idle>();
    return run_of(spec).curve.back().offline;
  };
  const double before = offline(1'999, DriftPace::kLinear, 1);  // 0 at the last impression
  const double after = offline(1'000, DriftPace::kAbrupt, 0);
  EXPECT_NE(before, after);
  EXPECT_NEAR(offline(1'969, DriftPace::kLinear, 31), before + (after - before) * 30 / 31, 1e-9);
}

TEST(Drift, GivesTheSameBytesWithShardsAndAfterAStop) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.common.impressions = 200;
  spec.common.drift = {{.at = 80, .pace = DriftPace::kLinear, .over = 50},
                       {.of = DriftOf::kUsers, .at = 120, .click_model = "informational"}};
  EXPECT_EQ(testing::go_on(folder / "whole", spec, 2, 1'000), 12U);
  testing::go_on(folder / "stopped", spec, 1, 5);
  EXPECT_EQ(testing::go_on(folder / "stopped", spec, 1, 1'000), 12U);
  for (const std::uint32_t number : {2U, 1U}) {
    ASSERT_TRUE(run_in_folder(spec, folder / "shards", {.threads = 1, .shard = {number, 2}}).ok());
  }
  const std::string whole = slurp(folder / "whole/runs.jsonl");
  EXPECT_THAT(whole, HasSubstr("\"windows\""));
  EXPECT_EQ(slurp(folder / "stopped/runs.jsonl"), whole);
  EXPECT_EQ(slurp(folder / "shards/runs.jsonl"), whole);
  const auto read = read_results(std::filesystem::path(folder / "whole")).value();
  EXPECT_EQ(assemble(*read).cells.front().drift->windows.size(), 100U);
}

TEST(Drift, CellsThatDifferInItAreNotOfOneBlock) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.click_models = {"perfect"};
  ASSERT_TRUE(run_in_folder(spec, folder / "a").ok());
  spec.common.drift = {{.at = 10}};
  const auto both = run_in_folder(spec, folder / "a");
  ASSERT_TRUE(both.ok()) << both.error().message;
  const Comparison comparison = assemble(*both);
  ASSERT_EQ(comparison.cells.size(), 4U);
  EXPECT_NE(block_of(comparison.cells[0]), block_of(comparison.cells[2]));
  EXPECT_THAT(comparison.cells[0].surroundings, ElementsAre(SweptValue{"drift", "none"}));
  EXPECT_THAT(comparison.cells[2].surroundings,
              ElementsAre(SweptValue{"drift", "labels at=10 change=intents"}));
}

// As of a plackett that drew one world for all runs: the identity of its cells is another.
TEST(Drift, RunsOfCellsWithOtherWorldsAreRefused) {
  const TemporaryFolder folder;
  ComparisonSpec spec = testing::small_spec();
  spec.common.drift = {{.at = 10}};
  ASSERT_TRUE(run_in_folder(spec, folder / "a").ok());
  spec.common.drift = {{.at = 11}};
  std::ofstream(folder / "a/experiment.toml") << to_toml(spec);
  const auto read = read_results(std::filesystem::path(folder / "a"));
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("whose runs under drift shared their worlds"));
  EXPECT_EQ(read.error().hint, Hint::kOtherFolderOrFresh);
}

TEST(Drift, AChangedClickModelFileIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "user.toml";
  const auto write = [&](double click) {
    std::ofstream file(path);
    file << "name = \"new\"\nkind = \"position-based\"\nclick = [" << click;
    for (std::uint32_t grade = 1; grade < dataset().grade_count(); ++grade) file << ", 0.9";
    file << "]\n";
  };
  ComparisonSpec spec = testing::small_spec();
  spec.common.drift = {{.of = DriftOf::kUsers, .at = 10, .click_model = path}};
  write(0.1);
  const auto first = run_in_folder(spec, folder / "a");
  ASSERT_TRUE(first.ok()) << first.error().message;
  write(0.2);
  EXPECT_THAT(run_in_folder(spec, folder / "a").error().message, HasSubstr("has changed"));
}

TEST(DriftSpec, ReadsBackAsItWasWritten) {
  ComparisonSpec spec = testing::small_spec();
  EXPECT_EQ(to_toml(spec).find("drift"), std::string::npos);
  const std::uint64_t without = identity(spec);
  spec.common.impressions = 1'000;
  spec.common.drift = {
      {.at = 10, .pace = DriftPace::kLinear, .over = 5, .change = LabelChange::kReversed},
      {.of = DriftOf::kUsers, .at = 10, .click_model = "informational"},
      {.of = DriftOf::kFeatures, .at = 20, .dies = {.ids = {3, 1}}, .appears = {.share = 0.25}},
      {.of = DriftOf::kQueries,
       .at = 30,
       .pace = DriftPace::kSeasonal,
       .period = 9,
       .share = 0.125}};
  const auto read = parse_spec(to_toml(spec), "spec.toml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->common.drift, spec.common.drift);
  EXPECT_NE(identity(spec), without);
  for (std::size_t at = 0; at < spec.common.drift.size(); ++at) {
    ComparisonSpec other = spec;
    other.common.drift[at].at += 1;
    EXPECT_NE(identity(other), identity(spec)) << at;
  }
}

TEST(DriftSpec, SaysWhatIsWrong) {
  const auto message = [](const std::string& drift) {
    const auto spec = parse_spec("impressions = 100\n" + drift, "spec.toml");
    if (!spec) return spec.error().message;
    const auto valid = check(*spec);
    return valid ? std::string("valid") : valid.error().message;
  };
  const std::string labels = "[[drift]]\nof = \"labels\"\nat = 50\n";
  EXPECT_EQ(message(labels), "valid");
  EXPECT_THAT(message("[[drift]]\nof = \"moods\"\nat = 50\n"),
              HasSubstr("spec.toml:3: unknown drift \"moods\"; known: labels, users"));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\n"), HasSubstr("a drift without the key at"));
  EXPECT_THAT(message("drift = 3\n"), HasSubstr("drift is an integer; expected an array"));
  EXPECT_THAT(message(labels + "speed = 3\n"), HasSubstr("spec.toml:5: unknown key \"speed\""));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\nat = 0\n"),
              HasSubstr("at is 0; expected an integer of at least 1"));
  EXPECT_THAT(message("[[drift]]\nof = \"labels\"\nat = 100\n"),
              HasSubstr("drift 1: at 100; a run of 100 impressions has drifts at 1 to 99"));
  EXPECT_THAT(message(labels + "[[drift]]\nof = \"labels\"\nat = 49\n"),
              HasSubstr("drift 2: at 49, before the drift above it, at 50"));
  EXPECT_THAT(message(labels + "pace = \"linear\"\n"), HasSubstr("linear without over"));
  EXPECT_THAT(message(labels + "pace = \"linear\"\nover = 51\n"),
              HasSubstr("over 51 from 50 on; a run has 100"));
  EXPECT_THAT(message(labels + "over = 5\n"), HasSubstr("over; only a linear drift has it"));
  EXPECT_THAT(message(labels + "pace = \"seasonal\"\n"), HasSubstr("seasonal without period"));
  EXPECT_THAT(message(labels + "change = \"mixed\"\n"),
              HasSubstr("unknown change \"mixed\"; known: intents, reversed"));
  EXPECT_THAT(message(labels + "share = 0.5\n"), HasSubstr("share; only queries have one"));
  EXPECT_THAT(message(labels + "dies = [1]\n"), HasSubstr("only features do"));
  const std::string users = "[[drift]]\nof = \"users\"\nat = 50\n";
  EXPECT_THAT(message(users), HasSubstr("users without click-model"));
  EXPECT_THAT(message(users + "click-model = \"shy\"\n"), HasSubstr("shy"));
  const std::string features = "[[drift]]\nof = \"features\"\nat = 50\n";
  EXPECT_THAT(message(features), HasSubstr("features without dies or appears"));
  EXPECT_THAT(message(features + "dies = [0]\n"), HasSubstr("expected feature ids"));
  EXPECT_THAT(message(features + "dies = [2, 2]\n"), HasSubstr("2 is listed twice"));
  EXPECT_THAT(message(features + "dies = [2]\nappears = [2]\n"),
              HasSubstr("both dies and appears"));
  EXPECT_THAT(message(features + "dies = 1.5\n"), HasSubstr("a share above 0 and below 1"));
  const std::string queries = "[[drift]]\nof = \"queries\"\nat = 50\n";
  EXPECT_EQ(message(queries), "valid");
  EXPECT_THAT(message(queries + "share = 0.3\n" + queries), HasSubstr("queries are divided once"));
}

TEST(DriftSpec, DataMustHaveTheFeatures) {
  const SimulationSpec spec =
      spec_with({{.of = DriftOf::kFeatures, .at = 10, .dies = {.ids = {123'456}}}});
  EXPECT_THAT(Simulation::prepare(dataset(), spec).error().message,
              HasSubstr("drift 1: synthetic has no feature 123456"));
}

}  // namespace
}  // namespace plackett
