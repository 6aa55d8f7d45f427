#include "plackett/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "facade/same.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using testing::expect_same_runs;

const Dataset& dataset() {
  static const Dataset data = load_dataset("synthetic", {}).value();
  return data;
}

SimulationSpec small_spec() {
  SimulationSpec spec;
  spec.runs = 3;
  spec.impressions = 400;
  spec.click_model = "navigational";
  return spec;
}

TEST(Simulate, IsRunAllOfOneSimulation) {
  const std::vector<Simulation> simulations{Simulation::prepare(dataset(), small_spec()).value()};
  std::unique_ptr<Learner> first;
  Watch watch;
  watch.learned = [&](std::uint32_t run, std::unique_ptr<Learner> learner) {
    if (run == 0) first = std::move(learner);
  };
  std::vector<std::vector<RunRecord>> runs;
  const CellSummary cell = run_all(simulations, 1, watch, &runs).value().front();
  for (const unsigned threads : {1U, 3U}) {
    const Simulated simulated = simulate(dataset(), small_spec(), {.threads = threads}).value();
    expect_same_runs(simulated.runs, runs.front());
    testing::expect_same_cell(simulated.summary, cell);
    ASSERT_NE(simulated.learner, nullptr);
    EXPECT_EQ(testing::parameters_of(simulated.learner->ranker()),
              testing::parameters_of(first->ranker()));
    EXPECT_EQ(simulated.learner->state().updates, first->state().updates);
  }
}

TEST(Simulate, GivesTheModelThatOthersCanGoOnFrom) {
  for (const Scaling scaling : {Scaling::kQueryMinMax, Scaling::kNone}) {
    const Dataset data = load_dataset("synthetic", {.scaling = scaling}).value();
    SimulationSpec spec = small_spec();
    spec.ranker = {.kind = RankerKind::kNeural, .hidden = {7}};
    const Simulated simulated = simulate(data, spec).value();
    const testing::TemporaryFolder folder;
    const std::string path = folder / "m.plk";
    ASSERT_TRUE(save_model(simulated.model, path).ok());
    const SavedModel model = load_model(path).value();
    EXPECT_EQ(model.learner.method, "pdgd");
    EXPECT_EQ(model.learner.impressions, 400U);
    EXPECT_EQ(model.learner.updates, simulated.learner->state().updates);
    EXPECT_EQ(model.scaling, name_of(scaling));
    EXPECT_EQ(model.feature_ids, data.folds[0].feature_ids);
    EXPECT_EQ(model.ranker.hidden, spec.ranker.hidden);
    EXPECT_EQ(testing::parameters_of(*restore_ranker(model).value()),
              testing::parameters_of(simulated.learner->ranker()));
  }
}

TEST(Simulate, GivesTheModelThatTheCommandSaves) {
  const testing::TemporaryFolder folder;
  const auto done = testing::run_command(
      "simulate --method pdgd --click-model navigational --runs 3 --impressions 400 --save-model " +
      folder / "m.plk");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(serialise_model(simulate(dataset(), small_spec()).value().model),
            serialise_model(load_model(folder / "m.plk").value()));
}

TEST(Simulate, TellsItsWatch) {
  std::atomic<std::uint64_t> impressions = 0;
  std::atomic<int> started = 0;
  std::atomic<int> done = 0;
  RunOptions options{.threads = 2};
  options.watch.run_started = [&](const SimulationSpec&) { ++started; };
  options.watch.advanced = [&](std::uint64_t count) { impressions += count; };
  options.watch.run_done = [&] { ++done; };
  ASSERT_TRUE(simulate(dataset(), small_spec(), options).ok());
  EXPECT_EQ(started, 3);
  EXPECT_EQ(done, 3);
  EXPECT_EQ(impressions, 1'200U);
}

TEST(Simulate, StoppedByItsWatchFailsWithThatWord) {
  std::atomic<int> asked = 0;
  RunOptions options{.threads = 1};
  options.watch.stop = [&] { return ++asked > 100; };
  const auto simulated = simulate(dataset(), small_spec(), options);
  ASSERT_FALSE(simulated.ok());
  EXPECT_EQ(simulated.error().code, ErrorCode::kStopped);
  EXPECT_LT(asked, 200);
}

TEST(Simulate, RefusesWhatCantRun) {
  SimulationSpec spec = small_spec();
  spec.method = "pdgdd";
  EXPECT_THAT(
      simulate(dataset(), spec).error().message,
      ::testing::StartsWith(
          "unknown method \"pdgdd\"; known: cascade, coltr, dbgd, mgd, pairrank, pairwise, pdgd"));
  spec = small_spec();
  spec.impressions = 0;
  EXPECT_FALSE(simulate(dataset(), spec).ok());
  spec = small_spec();
  spec.settings = {{"learning-rate", "fast"}};
  EXPECT_FALSE(simulate(dataset(), spec).ok());
}

}  // namespace
}  // namespace plackett
