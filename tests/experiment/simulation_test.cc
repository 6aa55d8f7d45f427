#include "plackett/simulation.h"
#include "experiment/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "plackett/method_entry.h"
#include "plackett/simulate.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Dataset& dataset() {
  static const Dataset data = load_dataset("synthetic", {}).value();
  return data;
}

SimulationSpec small_spec() {
  SimulationSpec spec;
  spec.runs = 5;
  spec.impressions = 2'000;
  spec.click_model = "navigational";
  return spec;
}

TEST(CurvePoints, AreLogSpacedAndEndWithTheLastImpression) {
  EXPECT_THAT(curve_points({.impressions = 1}), ElementsAre(1));
  EXPECT_THAT(curve_points({.impressions = 12}), ElementsAre(1, 2, 3, 4, 6, 7, 10, 12));
  const auto points = curve_points({.impressions = 1'000'000});
  EXPECT_EQ(points.back(), 1'000'000U);
  EXPECT_LT(points.size(), 50U);
  for (std::size_t at = 1; at < points.size(); ++at) EXPECT_GT(points[at], points[at - 1]);
}

TEST(CurvePoints, OfAFinalCurveAreTheLastImpressionAlone) {
  EXPECT_THAT(curve_points({.impressions = 12, .curve = CurveKind::kFinal}), ElementsAre(12));
  EXPECT_THAT(
      curve_points({.impressions = 12, .curve = CurveKind::kFinal, .drift = {Drift{.at = 3}}}),
      ElementsAre(12));
}

TEST(Moments, AreMeanAndSampleDeviation) {
  const Moments four = moments({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(four.mean, 3);
  EXPECT_DOUBLE_EQ(four.std, std::sqrt(14.0 / 3));
  EXPECT_TRUE(std::isnan(moments({5}).std));
}

TEST(Simulation, AFinalCurveIsTheLastPointOfTheWholeOneToTheBit) {
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    SimulationSpec spec = small_spec();
    spec.impressions = 700;
    spec.ranker.kind = kind;
    spec.metrics = {"MAP"};
    spec.validate = true;
    for (const bool with_drift : {false, true}) {
      if (with_drift) spec.drift = {Drift{.at = 300}};
      spec.curve = CurveKind::kWhole;
      const Simulated whole = simulate(dataset(), spec, {.threads = 2}).value();
      spec.curve = CurveKind::kFinal;
      const Simulated final = simulate(dataset(), spec, {.threads = 2}).value();
      EXPECT_EQ(final.model.parameters, whole.model.parameters);
      for (std::uint32_t run = 0; run < spec.runs; ++run) {
        const RunRecord& one = final.runs[run];
        const RunRecord& all = whole.runs[run];
        ASSERT_EQ(one.curve.size(), 1U);
        EXPECT_EQ(one.curve[0].impression, 700U);
        EXPECT_EQ(one.curve[0].offline, all.curve.back().offline);
        EXPECT_EQ(one.curve[0].online, all.curve.back().online);
        ASSERT_EQ(one.metrics[0].values.size(), 1U);
        EXPECT_EQ(one.metrics[0].values[0], all.metrics[0].values.back());
        EXPECT_EQ(one.validation, all.validation);
        EXPECT_EQ(one.windows, all.windows);
      }
      EXPECT_EQ(final.summary.offline.mean, whole.summary.offline.mean);
      EXPECT_EQ(final.summary.online.std, whole.summary.online.std);
    }
  }
}

TEST(Simulation, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    SimulationSpec spec = small_spec();
    spec.ranker.kind = kind;
    const std::vector<Simulation> simulations{Simulation::prepare(dataset(), spec).value()};
    const CellSummary one = run_all(simulations, 1, {}).value().front();
    for (const unsigned threads : {2U, 7U}) {
      const CellSummary many = run_all(simulations, threads, {}).value().front();
      ASSERT_EQ(one.curve.size(), many.curve.size());
      for (std::size_t point = 0; point < one.curve.size(); ++point) {
        EXPECT_EQ(one.curve[point].offline.mean, many.curve[point].offline.mean);
        EXPECT_EQ(one.curve[point].offline.std, many.curve[point].offline.std);
        EXPECT_EQ(one.curve[point].online.mean, many.curve[point].online.mean);
      }
    }
  }
}

TEST(Simulation, AnotherSeedGivesAnotherResult) {
  SimulationSpec spec = small_spec();
  const RunRecord first = Simulation::prepare(dataset(), spec)->run(0, {}).value();
  spec.seed = 2;
  const RunRecord second = Simulation::prepare(dataset(), spec)->run(0, {}).value();
  EXPECT_NE(first.curve.back().online, second.curve.back().online);
}

// Default data, navigational clicks, 5 runs of 10,000 impressions, seed 1.
TEST(Simulation, LinearPlusNeuralWithAdaGradHasTheBestOfBothParts) {
  const auto summary_of = [](std::string_view method) {
    SimulationSpec spec = small_spec();
    spec.impressions = 10'000;
    apply(parse_method_entry(method).value(), spec);
    const std::vector<Simulation> simulations{Simulation::prepare(dataset(), spec).value()};
    return run_all(simulations, 2, {}).value().front();
  };
  const CellSummary linear = summary_of("pdgd");
  const CellSummary neural = summary_of("pdgd:neural");
  const CellSummary both = summary_of("pdgd:linear+neural:steps=adagrad");
  EXPECT_GT(both.offline.mean, neural.offline.mean);
  EXPECT_GT(both.online.mean, linear.online.mean);
}

TEST(Simulation, LearnsFarMoreFromPerfectClicksThanFromRandomOnes) {
  const auto offline_of = [](std::string_view click_model) {
    SimulationSpec spec = small_spec();
    spec.click_model = click_model;
    const std::vector<Simulation> simulations{Simulation::prepare(dataset(), spec).value()};
    return run_all(simulations, 2, {}).value().front().offline.mean;
  };
  EXPECT_GT(offline_of("perfect"), offline_of("random") + 0.1);
}

TEST(Simulation, RunsGoRoundTheFolds) {
  const Simulation simulation = Simulation::prepare(dataset(), small_spec()).value();
  ASSERT_EQ(dataset().folds.size(), 5U);
  EXPECT_EQ(simulation.run(3, {})->fold, 3U);
  EXPECT_EQ(simulation.run(8, {})->fold, 3U);
}

TEST(Simulation, TellsAWatcherOfEveryImpression) {
  std::uint64_t impressions = 0;
  int started = 0;
  int done = 0;
  Watch watch;
  watch.advanced = [&](std::uint64_t count) { impressions += count; };
  watch.run_started = [&](const SimulationSpec&) { ++started; };
  watch.run_done = [&] { ++done; };
  ASSERT_TRUE(Simulation::prepare(dataset(), small_spec())->run(0, watch).ok());
  EXPECT_EQ(impressions, 2'000U);
  EXPECT_EQ(started, 1);
  EXPECT_EQ(done, 1);
}

TEST(Simulation, StopsBeforeTheNextImpressionOnceTold) {
  int asked = 0;
  Watch watch;
  watch.stop = [&] { return ++asked > 7; };
  const auto record = Simulation::prepare(dataset(), small_spec())->run(0, watch);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, ErrorCode::kStopped);
  EXPECT_LT(asked, 1000);
}

TEST(Simulation, TellsWhatItCosts) {
  const auto cost = Simulation::prepare(dataset(), small_spec())->cost(0.02);
  ASSERT_TRUE(cost.ok());
  EXPECT_GT(cost->impression_seconds, 0);
  EXPECT_LT(cost->impression_seconds, 0.02);
  EXPECT_GT(cost->evaluation_seconds, 0);
}

TEST(Simulation, PublishedProtocolDecaysTheLearningRate) {
  SimulationSpec spec = small_spec();
  std::unique_ptr<Learner> learner;
  Watch watch;
  watch.learned = [&learner](std::uint32_t, std::unique_ptr<Learner> made) {
    learner = std::move(made);
  };
  ASSERT_TRUE(Simulation::prepare(dataset(), spec)->run(0, watch).ok());
  EXPECT_EQ(learner->state().learning_rate, 0.1);
  spec.protocol = Protocol::kPublished;
  ASSERT_TRUE(Simulation::prepare(dataset(), spec)->run(0, watch).ok());
  const LearnerState state = learner->state();
  EXPECT_GT(state.updates, 500U);
  EXPECT_NEAR(state.learning_rate, 0.1 * std::pow(0.9999977, static_cast<double>(state.updates)),
              1e-12);
}

TEST(Simulation, RefusesWhatCannotRun) {
  const auto message = [](auto change) {
    SimulationSpec spec = small_spec();
    change(spec);
    return Simulation::prepare(dataset(), spec).error().message;
  };
  EXPECT_THAT(message([](auto& spec) { spec.runs = 0; }),
              HasSubstr("runs: 0; expected an integer from 1 to 1000000"));
  EXPECT_THAT(message([](auto& spec) { spec.impressions = 0; }),
              HasSubstr("impressions: 0; expected"));
  EXPECT_THAT(message([](auto& spec) { spec.impressions = ~std::uint64_t{0}; }),
              HasSubstr("impressions: 18446744073709551615; expected an integer from 1 to"));
  EXPECT_THAT(message([](auto& spec) { spec.shown = 0; }),
              HasSubstr("shown: 0; expected an integer from 1 to 100"));
  EXPECT_THAT(
      message([](auto& spec) { spec.method = "magic"; }),
      HasSubstr(
          "unknown method \"magic\"; known: cascade, coltr, dbgd, mgd, pairrank, pairwise, pdgd"));
  EXPECT_THAT(message([](auto& spec) { spec.click_model = "angry"; }), HasSubstr("perfect"));
  EXPECT_THAT(message([](auto& spec) {
                spec.settings = {{"learning-rate", "1e39"}};
              }),
              HasSubstr("pdgd: learning-rate 1e39; it must be a number from 1e-30 to 1e+30"));
  EXPECT_THAT(message([](auto& spec) {
                spec.settings = {{"learning-rate", "-1"}};
              }),
              HasSubstr("learning-rate -1; it must be a number from"));
}

TEST(Simulation, ARunThatLeavesTheRangeOfNumbersIsAnError) {
  SimulationSpec spec = small_spec();
  spec.ranker.kind = RankerKind::kNeural;
  spec.ranker.activation = Activation::kRelu;
  spec.ranker.hidden = {64, 64, 64};
  spec.settings = {{"learning-rate", "1e30"}};
  const std::vector<Simulation> simulations{Simulation::prepare(dataset(), spec).value()};
  const auto cells = run_all(simulations, 2, {});
  ASSERT_FALSE(cells.ok());
  EXPECT_THAT(cells.error().message, HasSubstr("a score is not finite after"));
}

// Scores that overflow on training queries alone, between two points of the curve.
TEST(Simulation, AnOverflowThatTestQueriesDoNotSeeIsAnErrorToo) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "train.txt")
      << "1 qid:1 1:3e38 2:1\n0 qid:1 1:-3e38 2:0\n0 qid:1 1:1 2:0.5\n";
  std::ofstream(folder / "test.txt") << "1 qid:2 1:1 2:0\n0 qid:2 1:0 2:1\n";
  LoadOptions load;
  load.scaling = Scaling::kNone;
  const Dataset data = load_dataset(folder.path().string(), load).value();
  SimulationSpec spec = small_spec();
  spec.impressions = 50;
  const auto record = Simulation::prepare(data, spec)->run(0, {});
  ASSERT_FALSE(record.ok());
  EXPECT_THAT(record.error().message, HasSubstr("a score is not finite after"));
}

TEST(Simulation, RefusesATestSetWithoutAnythingRelevant) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "train.txt") << "1 qid:1 1:1\n0 qid:1 1:0\n";
  std::ofstream(folder / "test.txt") << "0 qid:2 1:1\n0 qid:2 1:0\n";
  const Dataset data = load_dataset(folder.path().string(), {}).value();
  SimulationSpec spec = small_spec();
  EXPECT_THAT(Simulation::prepare(data, spec).error().message,
              HasSubstr("no test query has a relevant document"));
  spec.no_relevant = NoRelevant::kZero;
  EXPECT_TRUE(Simulation::prepare(data, spec).ok());
}

}  // namespace
}  // namespace plackett
