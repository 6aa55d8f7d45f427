#include "experiment/results_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "plackett/results.h"
#include "plackett/synthetic.h"
#include "plackett/version.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::slurp;
using testing::TemporaryFolder;

const std::string kVersion(version());

ComparisonSpec small_spec() {
  ComparisonSpec spec = default_comparison();
  spec.methods = {{.entry = parse_method_entry("pdgd").value()},
                  {.entry = parse_method_entry("pdgd:learning-rate=0.01").value()}};
  spec.click_models = {"perfect", "navigational"};
  spec.common.runs = 3;
  spec.common.impressions = 30;
  return spec;
}

// Continues the experiment for `most` more runs.
std::size_t go_on(const std::string& folder, const ComparisonSpec& spec, unsigned threads,
                  std::size_t most) {
  std::atomic<std::size_t> stored{0};
  RunOptions options{.threads = threads};
  options.watch.stop = [&] { return stored >= most; };
  FolderWatch watch;
  watch.stored = [&](const RunPlace&, const RunRecord&) { ++stored; };
  const auto done = run_in_folder(spec, folder, options, watch);
  EXPECT_TRUE(done.ok()) << done.error().message;
  return done ? done->runs.size() : 0;
}

std::string uninterrupted() {
  static const std::string text = [] {
    const TemporaryFolder folder;
    EXPECT_EQ(go_on(folder / "a", small_spec(), 1, 1000), 12U);
    return slurp(folder / "a/runs.jsonl");
  }();
  return text;
}

TEST(ResultsFolder, ResumedRunsEqualUninterruptedOnesWithAnyNumberOfThreads) {
  for (const unsigned threads : {1U, 2U, 7U}) {
    for (const std::size_t at_a_time : {1U, 5U, 1000U}) {
      const TemporaryFolder folder;
      std::size_t before = 0;
      for (int turn = 0; turn < 12 && before < 12; ++turn) {
        const std::size_t now = go_on(folder / "a", small_spec(), threads, at_a_time);
        EXPECT_GE(now, std::min<std::size_t>(before + at_a_time, 12));
        before = now;
      }
      EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted()) << threads << " " << at_a_time;
    }
  }
}

TEST(ResultsFolder, FinishedRunsAreNotRepeated) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::size_t started = 0;
  RunOptions options{.threads = 1};
  options.watch.run_started = [&](const SimulationSpec&) { ++started; };
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", options).ok());
  EXPECT_EQ(started, 7U);
}

TEST(ResultsFolder, CutAtAnyByteItGoesOnToTheSameEnd) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.common.runs = 1;
  go_on(folder / "a", spec, 1, 1000);
  const std::string whole = slurp(folder / "a/runs.jsonl");
  for (std::size_t size = whole.size(); size-- > 0;) {
    std::filesystem::resize_file(folder / "a/runs.jsonl", size);
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<long>(size), '\n');
    const auto stored = read_results(folder / "a");
    ASSERT_TRUE(stored.ok()) << size << ": " << stored.error().message;
    // The first line alone: no run was stored.
    const bool begun = lines > 1 || (lines == 1 && whole[size - 1] != '\n');
    ASSERT_EQ(stored->has_value(), begun) << size;
    if (begun) {
      ASSERT_EQ((*stored)->runs.size(), static_cast<std::size_t>(lines - 1)) << size;
    }
  }
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 8 + 1) {
    std::ofstream(folder / "a/runs.jsonl", std::ios::binary) << whole.substr(0, size);
    go_on(folder / "a", spec, 2, 1000);
    ASSERT_EQ(slurp(folder / "a/runs.jsonl"), whole) << size;
  }
}

TEST(ResultsFolder, DamageInTheMiddleIsNamedDroppedAndRunAgain) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  std::string damaged = uninterrupted();
  damaged[damaged.size() / 2] ^= 1;
  damaged += std::string(100, '\0') + "\n\n";
  std::ofstream(folder / "a/runs.jsonl", std::ios::binary) << damaged;
  {
    const auto results = ResultsFolder::open(folder / "a", small_spec(), {kVersion});
    ASSERT_TRUE(results.ok());
    EXPECT_EQ(results->stored().damaged.size(), 3U);
    EXPECT_EQ(results->stored().runs.size(), 11U);
  }
  go_on(folder / "a", small_spec(), 1, 1000);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, ASpecThatAPersonWroteIsNotWrittenOver) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a");
  std::ofstream(folder / "a/experiment.toml") << "# mine\nruns = 3\n";
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              HasSubstr("was not written by plackett"));
  EXPECT_EQ(slurp(folder / "a/experiment.toml"), "# mine\nruns = 3\n");
}

TEST(ResultsFolder, AFolderWithoutARunMayBecomeAnyExperiment) {
  const TemporaryFolder folder;
  ASSERT_TRUE(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).ok());
  ComparisonSpec other = small_spec();
  other.common.runs = 50;
  EXPECT_TRUE(ResultsFolder::open(folder / "a", other, {kVersion}).ok());
}

TEST(ResultsFolder, ALostSpecIsRestoredByTheCommandThatMadeTheRuns) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::filesystem::remove(folder / "a/experiment.toml");
  ComparisonSpec other = small_spec();
  other.common.runs = 50;
  EXPECT_THAT(ResultsFolder::open(folder / "a", other, {kVersion}).error().message,
              HasSubstr("runs of another experiment"));
  EXPECT_EQ(go_on(folder / "a", small_spec(), 1, 1000), 12U);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), uninterrupted());
}

TEST(ResultsFolder, RunsOfAnotherBuildAreRefusedUnlessAllAreDoneAgain) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  EXPECT_THAT(slurp(folder / "a/made_by"), HasSubstr("build "));
  std::ofstream(folder / "a/made_by") << "build 00\narithmetic fused\n";
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              AllOf(HasSubstr("another build"), EndsWith(kStartOver)));
  const auto fresh = ResultsFolder::open(folder / "a", small_spec(), {kVersion, true});
  ASSERT_TRUE(fresh.ok()) << fresh.error().message;
  EXPECT_TRUE(fresh->stored().runs.empty());
}

TEST(ResultsFolder, RefusesAnotherExperimentAndTouchesNothing) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  const std::string runs = slurp(folder / "a/runs.jsonl");
  const std::string text = slurp(folder / "a/experiment.toml");
  ComparisonSpec other = small_spec();
  other.common.runs = 50;
  EXPECT_THAT(
      ResultsFolder::open(folder / "a", other, {kVersion}).error().message,
      AllOf(HasSubstr("holds another experiment"), HasSubstr("runs: 3 there, 50 asked for")));
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {"2.0"}).error().message,
              HasSubstr("made by plackett " + kVersion + ", this is 2.0"));
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), runs);
  EXPECT_EQ(slurp(folder / "a/experiment.toml"), text);
}

TEST(ResultsFolder, ANewLabelRepeatsNoRun) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1000);
  ComparisonSpec other = small_spec();
  other.methods[1].label = "slow";
  EXPECT_EQ(go_on(folder / "a", other, 1, 0), 12U);
  const auto stored = read_results(folder / "a").value().value();
  EXPECT_EQ(assemble(stored).cells[1].label, "slow");
}

TEST(ResultsFolder, RefusesASecondProcessWhileOneIsAtWork) {
  const TemporaryFolder folder;
  auto first = ResultsFolder::open(folder / "a", small_spec(), {kVersion});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(ResultsFolder::open(folder / "a", small_spec(), {kVersion}).error().message,
              HasSubstr("another plackett is working in this folder"));
}

TEST(ResultsFolder, RefusesRunsThatNothingExplains) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  std::filesystem::remove(folder / "a/experiment.toml");
  EXPECT_THAT(read_results(folder / "a").error().message,
              HasSubstr("runs.jsonl without experiment.toml"));
  EXPECT_FALSE(read_results(folder / "nowhere").value().has_value());
}

TEST(ResultsFolder, RemovesTheTemporariesOfAKilledProcessAndNoOtherFile) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 1);
  for (const char* name : {"a/runs.jsonl.tmp-a1B2c3", "a/notes.tmp", "a/notes.md.backup"}) {
    std::ofstream(folder / name) << "x";
  }
  go_on(folder / "a", small_spec(), 1, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "a/runs.jsonl.tmp-a1B2c3"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/notes.tmp"));
  EXPECT_TRUE(std::filesystem::exists(folder / "a/notes.md.backup"));
}

TEST(RunInFolder, RefusesChangedDataAndAChangedClickModel) {
  const TemporaryFolder folder;
  const auto write_user = [&](const char* click) {
    std::ofstream(folder / "u.toml")
        << "kind = \"cascade\"\nname = \"hurried\"\nclick = [0, 0.1, 0.2, 0.3, " << click
        << "]\nstop = [0, 0, 0, 0, 0]\n";
  };
  const auto error = [&](const ComparisonSpec& spec) {
    const auto run = run_in_folder(spec, folder / "a");
    EXPECT_FALSE(run.ok());
    return run.ok() ? Error("no failure") : run.error();
  };
  write_user("1");
  ASSERT_TRUE(write_synthetic({.queries = 50}, folder / "data").ok());
  ComparisonSpec spec = small_spec();
  spec.datasets = {dataset_at(folder / "data")};
  spec.click_models = {folder / "u.toml"};
  go_on(folder / "a", spec, 1, 2);

  const std::string file = folder / "data/Fold1/train.txt";
  const std::string text = slurp(file);
  std::ofstream(file) << text << "1 qid:1 1:5\n";
  const Error data = error(spec);
  EXPECT_EQ(data.code, ErrorCode::kConflict);
  EXPECT_EQ(data.hint, Hint::kOtherFolderOrFresh);
  EXPECT_THAT(data.message, HasSubstr("not the data that the finished runs were made from"));
  std::ofstream(file) << text;
  write_user("0.9");
  EXPECT_THAT(error(spec).message, HasSubstr("u.toml: has changed since"));

  write_user("1");
  EXPECT_EQ(go_on(folder / "a", spec, 1, 1000), 6U);
  EXPECT_EQ(assemble(read_results(folder / "a").value().value()).cells[0].click_model, "hurried");
}

TEST(RunInFolder, ReportsWhatItFindsLoadsAndStores) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 5);
  std::vector<std::string> calls;
  FolderWatch watch;
  watch.opened = [&](const StoredResults& stored) {
    calls.push_back("opened with " + std::to_string(stored.runs.size()));
  };
  watch.loading = [&](std::size_t dataset) {
    calls.push_back("loading " + std::to_string(dataset));
  };
  watch.loaded = [&](std::size_t dataset) { calls.push_back("loaded " + std::to_string(dataset)); };
  std::size_t stored = 0;
  watch.stored = [&](const RunPlace&, const RunRecord&) { ++stored; };
  ASSERT_TRUE(run_in_folder(small_spec(), folder / "a", {.threads = 2}, watch).ok());
  EXPECT_THAT(calls, ElementsAre("opened with 5", "loading 0", "loaded 0"));
  EXPECT_EQ(stored, 7U);
}

TEST(PlanComparison, MeasuresTheCellsThatHaveRunsLeft) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 10);  // the last run of two cells is left
  const Plan plan = plan_comparison(small_spec(), folder / "a", {.threads = 2}).value();
  EXPECT_EQ(plan.finished_runs, 10U);
  ASSERT_EQ(plan.datasets.size(), 1U);
  EXPECT_GT(plan.datasets[0].load_seconds, 0);
  ASSERT_EQ(plan.datasets[0].cells.size(), 2U);
  const Plan::Cell& cell = plan.datasets[0].cells[0];
  EXPECT_EQ(cell.label, "PDGD (linear)");
  EXPECT_EQ(cell.click_model, "navigational");
  EXPECT_EQ(cell.runs, 1U);
  EXPECT_GT(cell.run_seconds, 0);
  EXPECT_GT(plan.seconds, plan.datasets[0].load_seconds);
  ComparisonSpec other = small_spec();
  other.common.seed = 2;
  EXPECT_EQ(plan_comparison(other, folder / "a").error().code, ErrorCode::kConflict);
}

TEST(Assemble, IsAFunctionOfSpecAndRunsAlone) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 2, 1000);
  const auto stored = read_results(folder / "a").value().value();
  const Comparison plain = assemble(stored);
  ASSERT_EQ(plain.cells.size(), 4U);
  for (const CellSummary& cell : plain.cells) {
    EXPECT_EQ(cell.runs, 3U);
    EXPECT_EQ(cell.seconds, 0);
    EXPECT_EQ(cell.impressions_per_second, 0);
  }
  EXPECT_EQ(plain.cells[1].label, "PDGD (linear, learning-rate 0.01)");
  EXPECT_EQ(plain.cells[2].click_model, "navigational");
  const Comparison timed = assemble_with_times(stored);
  EXPECT_GT(timed.cells[0].impressions_per_second, 0);
  EXPECT_EQ(timed.threads, 2U);
}

TEST(Assemble, LeavesOutCellsWithoutARun) {
  const TemporaryFolder folder;
  go_on(folder / "a", small_spec(), 1, 3);
  const Comparison comparison = assemble(read_results(folder / "a").value().value());
  ASSERT_EQ(comparison.cells.size(), 3U);
  EXPECT_EQ(comparison.cells[2].runs, 1U);
}

}  // namespace
}  // namespace plackett
