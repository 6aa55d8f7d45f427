#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <vector>

#include "facade/same.h"
#include "plackett/report.h"
#include "plackett/results.h"
#include "plackett/simulate.h"
#include "plackett/version.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using testing::expect_same_comparison;
using testing::expect_same_runs;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::slurp;
using testing::TemporaryFolder;

ComparisonSpec small_spec() {
  ComparisonSpec spec;
  spec.datasets = {{.name = "synthetic", .path = "synthetic"}};
  spec.methods = {{.entry = parse_method_entry("dbgd").value()},
                  {.entry = parse_method_entry("pdgd").value()},
                  {.entry = parse_method_entry("pdgd:learning-rate=0.01").value()}};
  spec.click_models = {"perfect", "navigational"};
  spec.common.runs = 3;
  spec.common.impressions = 100;
  return spec;
}

std::array<Dataset, 1> data() {
  std::array<Dataset, 1> loaded{load_dataset("synthetic", {}).value()};
  loaded[0].name = "synthetic";
  return loaded;
}

TEST(Compare, InMemoryInAFolderAndByHandAreTheSame) {
  const ComparisonSpec spec = small_spec();
  const Compared in_memory = compare(spec, data(), {.threads = 1}).value();
  ASSERT_EQ(in_memory.comparison.cells.size(), 6U);
  ASSERT_EQ(in_memory.runs.size(), 6U);
  EXPECT_FALSE(in_memory.comparison.contrasts.empty());

  const TemporaryFolder folder;
  const Compared in_folder =
      compare(spec, std::filesystem::path(folder / "a"), {.threads = 2}).value();
  expect_same_comparison(in_folder.comparison, in_memory.comparison);
  for (std::size_t cell = 0; cell < 6; ++cell) {
    ASSERT_EQ(in_memory.runs[cell].size(), 3U);
    expect_same_runs(in_folder.runs[cell], in_memory.runs[cell]);
  }

  const StoredResults by_hand = run_in_folder(spec, folder / "b", {.threads = 1}).value();
  expect_same_comparison(in_folder.comparison, assemble(by_hand));
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), slurp(folder / "b/runs.jsonl"));

  // The report beside the runs is the one that the result gives.
  ASSERT_TRUE(write_report(in_memory.comparison, folder / "c").ok());
  for (const char* file : {"tables.csv", "tests.csv", "curves.svg"}) {
    EXPECT_EQ(slurp(folder / (std::string("a/") + file)),
              slurp(folder / (std::string("c/") + file)))
        << file;
  }
}

TEST(Compare, SingleRunsAreNotTested) {
  ComparisonSpec spec = small_spec();
  spec.common.runs = 1;
  const Comparison comparison = compare(spec, data()).value().comparison;
  ASSERT_FALSE(comparison.contrasts.empty());
  for (const Contrast& contrast : comparison.contrasts) {
    for (const MeasureTests* tests : {&contrast.offline, &contrast.online}) {
      for (const TTest* test : {&tests->paired, &tests->welch, &tests->student}) {
        EXPECT_TRUE(std::isnan(test->t) && std::isnan(test->degrees) && std::isnan(test->p));
      }
    }
  }
  const TemporaryFolder folder;
  ASSERT_TRUE(write_report(comparison, folder / "a").ok());
  EXPECT_THAT(slurp(folder / "a/tests.csv"), AllOf(HasSubstr(",,,,,,\n"), Not(HasSubstr("nan"))));
  for (const char* file : {"results.json", "tables.md", "tables.tex"}) {
    const std::string text = slurp(folder / (std::string("a/") + file));
    EXPECT_FALSE(text.empty()) << file;
    EXPECT_THAT(text, Not(AnyOf(HasSubstr(" degrees)"), HasSubstr("(nan"), HasSubstr(" nan"))))
        << file;
  }
}

TEST(Compare, EachCellIsASimulation) {
  const ComparisonSpec spec = small_spec();
  const Compared compared = compare(spec, data()).value();
  SimulationSpec alone = spec.common;
  apply(spec.methods[2].entry, alone);
  alone.click_model = "navigational";
  const Simulated simulated = simulate(data()[0], alone).value();
  expect_same_runs(compared.runs[5], simulated.runs);
}

TEST(Compare, StoppedInMemoryFailsWithThatCode) {
  std::atomic<int> asked = 0;
  RunOptions options{.threads = 1};
  options.watch.stop = [&] { return ++asked > 50; };
  const auto compared = compare(small_spec(), data(), options);
  ASSERT_FALSE(compared.ok());
  EXPECT_EQ(compared.error().code, ErrorCode::kStopped);
}

TEST(Compare, StoppedInAFolderItGoesOnToTheSameBytes) {
  const TemporaryFolder folder;
  const std::filesystem::path whole = folder / "whole";
  const std::filesystem::path stopped = folder / "stopped";
  ASSERT_TRUE(compare(small_spec(), whole).ok());

  std::atomic<int> done = 0;
  RunOptions options{.threads = 1};
  options.watch.run_done = [&] { ++done; };
  options.watch.stop = [&] { return done >= 7; };
  const auto first = compare(small_spec(), stopped, options);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().code, ErrorCode::kStopped);
  EXPECT_FALSE(std::filesystem::exists(stopped / "report.html"));

  options.watch.stop = nullptr;
  std::vector<std::uint64_t> advances;
  options.watch.advanced = [&](std::uint64_t impressions) { advances.push_back(impressions); };
  const auto second = compare(small_spec(), stopped, options);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(done, 18);
  const std::uint64_t impressions = small_spec().common.impressions;
  ASSERT_FALSE(advances.empty());
  EXPECT_EQ(advances.front(), 7 * impressions);  // what the folder held
  EXPECT_EQ(std::accumulate(advances.begin(), advances.end(), std::uint64_t{0}), 18 * impressions);
  for (const char* file : {"runs.jsonl", "report.html", "tables.csv"}) {
    EXPECT_EQ(slurp(stopped / file), slurp(whole / file)) << file;
  }
}

TEST(Compare, AFinishedFolderRunsNothing) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "a";
  const Compared first = compare(small_spec(), place).value();
  std::atomic<int> started = 0;
  RunOptions options;
  options.watch.run_started = [&](const SimulationSpec&) { ++started; };
  const Compared second = compare(small_spec(), place, options).value();
  EXPECT_EQ(started, 0);
  expect_same_comparison(first.comparison, second.comparison);
}

TEST(Compare, RefusesWhatCantRunBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  ComparisonSpec spec = small_spec();
  spec.click_models.push_back("perfect");
  const auto twice = compare(spec, std::filesystem::path(folder / "a"));
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("perfect"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  EXPECT_FALSE(compare(spec, data()).ok());

  const auto nothing = compare(small_spec(), std::span<const Dataset>{});
  EXPECT_FALSE(nothing.ok());
  const Dataset one = data()[0];
  const std::array<Dataset, 2> alike{one, one};
  const auto names = compare(small_spec(), alike);
  ASSERT_FALSE(names.ok());
  EXPECT_THAT(names.error().message, HasSubstr("synthetic"));
}

TEST(Compare, AFolderTakesAnotherExperimentBesideItsOwn) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "a";
  const Compared first = compare(small_spec(), place).value();
  ComparisonSpec other = small_spec();
  other.common.seed = 2;
  const Compared both = compare(other, place).value();
  ASSERT_EQ(both.runs.size(), 2 * first.runs.size());
  for (std::size_t cell = 0; cell < first.runs.size(); ++cell) {
    expect_same_runs(both.runs[cell], first.runs[cell]);
    EXPECT_EQ(both.comparison.cells[cell].seed, 1U);
    EXPECT_EQ(both.comparison.cells[first.runs.size() + cell].seed, 2U);
  }
}

TEST(Compare, AFolderWithDataThatWasLoadedOtherwiseIsLeftAsItIs) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder / "a";
  ASSERT_TRUE(compare(small_spec(), place).ok());
  const std::string before = slurp(place / "runs.jsonl");
  ComparisonSpec other = small_spec();
  other.datasets[0].scaling = Scaling::kNone;
  const auto refused = compare(other, place);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("scaling"));
  EXPECT_EQ(slurp(place / "runs.jsonl"), before);
}

}  // namespace
}  // namespace plackett
