// Datasets whose runs happen side by side, on a backend that can be shared.
#include "experiment/run_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plackett/dataset.h"
#include "small_experiment.h"
#include "support/eventually.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::eventually;
using testing::go_on;
using testing::slurp;
using testing::small_spec;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

// A thread that several callers share. Each batch first does what the test says, and may fail.
class Shared final : public Backend {
 public:
  using Before = std::function<Result<void>(const std::string& dataset, const Watch& watch)>;
  explicit Shared(Before before) : before_(std::move(before)) {}

  [[nodiscard]] std::string description() const override { return "shared"; }
  [[nodiscard]] unsigned width() const override { return 1; }
  [[nodiscard]] bool can_be_shared() const override { return true; }
  [[nodiscard]] std::size_t max_batch() const override { return 5; }
  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override {
    const std::string dataset = batch.simulations.front().summarise({}).dataset;
    if (auto done = before_(dataset, watch); !done) return done;
    return ThreadBackend(1).run(batch, watch, finished);
  }

 private:
  Before before_;
};

ComparisonSpec three_datasets() {
  ComparisonSpec spec = small_spec();
  spec.datasets = {{.name = "first", .path = "synthetic"},
                   {.name = "second", .path = "synthetic", .scaling = Scaling::kNone},
                   {.name = "third", .path = "synthetic:mq2008"}};
  return spec;
}

// That batches of three callers are under way at once.
Shared::Before until_three_have_met() {
  return [met = std::make_shared<std::atomic<int>>(0)](const std::string&, const Watch&) {
    ++*met;
    EXPECT_TRUE(eventually([&] { return *met >= 3; }));
    return Result<void>();
  };
}

TEST(RunInFolder, RunsDatasetsBesideEachOtherToTheBytesOfOneAfterAnother) {
  const TemporaryFolder folder;
  go_on(folder / "expected", three_datasets(), 1, 1000);
  Shared backend(until_three_have_met());
  std::map<std::pair<std::size_t, std::uint32_t>, int> stored;
  std::vector<std::string> loading;
  std::vector<std::string> done;
  std::size_t loaded = 0;
  std::atomic<bool> busy{false};
  const auto alone = [&](const std::function<void()>& call) {
    EXPECT_FALSE(busy.exchange(true)) << "two calls at once";
    call();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    busy = false;
  };
  FolderWatch watch;
  watch.loading = [&](const ComparedDataset& dataset) {
    alone([&] { loading.push_back(dataset.name); });
  };
  watch.loaded = [&] { alone([&] { ++loaded; }); };
  watch.stored = [&](std::size_t cell, const RunRecord& record) {
    alone([&] { ++stored[{cell, record.run}]; });
  };
  watch.done = [&](const ComparedDataset& dataset) {
    alone([&] { done.push_back(dataset.name); });
  };
  const auto results =
      run_in_folder_by(backend, three_datasets(), folder / "a", {.threads = 1}, watch);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->finished(), 36U);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), slurp(folder / "expected/runs.jsonl"));
  EXPECT_EQ(stored.size(), 36U);
  for (const auto& [run, times] : stored) EXPECT_EQ(times, 1);
  EXPECT_THAT(loading, ElementsAre("first", "second", "third"));
  EXPECT_EQ(loaded, 3U);
  EXPECT_THAT(done, UnorderedElementsAre("first", "second", "third"));
}

TEST(RunInFolder, EndsTheRunsOnOtherDatasetsIfOneFails) {
  const TemporaryFolder folder;
  std::atomic<bool> has_failed{false};
  Shared backend([&](const std::string& dataset, const Watch&) -> Result<void> {
    if (dataset == "second") {
      has_failed = true;
      return Error{"broken"};
    }
    EXPECT_TRUE(eventually([&] { return has_failed.load(); }));
    return {};
  });
  const auto results =
      run_in_folder_by(backend, three_datasets(), folder / "a", {.threads = 1}, {});
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.error().message, "broken");
  EXPECT_EQ(read_results(folder / "a").value().value().finished() % 12, 0U);
  EXPECT_GE(read_results(folder / "a").value().value().finished(), 12U);
}

TEST(RunInFolder, KeepsTheRunsOfAllDatasetsIfTheUserStops) {
  const TemporaryFolder folder;
  go_on(folder / "expected", three_datasets(), 1, 1000);
  Shared backend(until_three_have_met());
  std::atomic<int> stored{0};
  RunOptions options{.threads = 1};
  options.watch.stop = [&] { return stored >= 7; };
  FolderWatch watch;
  watch.stored = [&](std::size_t, const RunRecord&) { ++stored; };
  const auto results = run_in_folder_by(backend, three_datasets(), folder / "a", options, watch);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_GE(stored, 7);
  EXPECT_LT(stored, 36);
  EXPECT_EQ(results->finished(), static_cast<std::uint64_t>(stored));
  go_on(folder / "a", three_datasets(), 1, 1000);
  EXPECT_EQ(slurp(folder / "a/runs.jsonl"), slurp(folder / "expected/runs.jsonl"));
}

TEST(Compare, RunsDatasetsInMemoryBesideEachOther) {
  std::vector<Dataset> datasets;
  for (const ComparedDataset& dataset : three_datasets().datasets) {
    datasets.push_back(load_dataset(dataset.path, {.scaling = dataset.scaling}).value());
    datasets.back().name = dataset.name;
  }
  Shared backend(until_three_have_met());
  const auto beside = compare_by(backend, three_datasets(), datasets, {});
  ASSERT_TRUE(beside.ok()) << beside.error().message;
  const auto expected = compare(three_datasets(), datasets, {.threads = 1});
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  ASSERT_EQ(beside->runs.size(), 12U);
  ASSERT_EQ(beside->runs.size(), expected->runs.size());
  for (std::size_t cell = 0; cell < beside->runs.size(); ++cell) {
    ASSERT_EQ(beside->runs[cell].size(), 3U);
    for (std::size_t run = 0; run < 3; ++run) {
      EXPECT_EQ(beside->runs[cell][run].curve.back().offline,
                expected->runs[cell][run].curve.back().offline);
    }
  }
}

}  // namespace
}  // namespace plackett
