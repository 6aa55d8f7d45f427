// The contract that every backend keeps.
#include "experiment/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/kernels.h"
#include "gpu/gpu_backend.h"
#include "gpu/host_device.h"
#include "gpu/run_group.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Place = std::pair<std::size_t, std::uint32_t>;

SimulationSpec tiny_spec() {
  SimulationSpec spec;
  spec.runs = 4;
  spec.impressions = 200;
  return spec;
}

const Dataset& synthetic() {
  static const Dataset data = load_dataset("synthetic", {}).value();
  return data;
}

Simulation prepare(const SimulationSpec& spec) {
  return Simulation::prepare(synthetic(), spec).value();
}

std::vector<Simulation> two_simulations() {
  SimulationSpec spec = tiny_spec();
  std::vector<Simulation> simulations{prepare(spec)};
  spec.click_model = "navigational";
  simulations.push_back(prepare(spec));
  return simulations;
}

// One job at a time in batches of three, the last job of a batch first: a backend may choose its
// order, and its results arrive batch by batch as a device's would.
class Backwards final : public Backend {
 public:
  [[nodiscard]] std::string description() const override { return "backwards"; }
  [[nodiscard]] unsigned width() const override { return 1; }
  [[nodiscard]] std::size_t max_batch() const override { return 3; }
  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override {
    for (auto job = batch.jobs.rbegin(); job != batch.jobs.rend(); ++job) {
      if (watch.stop && watch.stop()) return {};
      auto record = batch.simulations[job->simulation].run(job->run, watch);
      Result<void> done =
          record ? finished(*job, std::move(record).value()) : Result<void>(record.error());
      if (!done && done.error().code == ErrorCode::kStopped) return {};
      if (!done) return done;
    }
    return {};
  }
};

// The GPU's kernels on the host, with room for one fold at a time, and a thread for what they can't
// do.
std::unique_ptr<Backend> device_and_threads() {
  const Fold& fold = synthetic().folds.front();
  const gpu::DeviceLimits limits{
      .free_bytes = 2 * (gpu::SplitSize(fold.train).bytes + gpu::SplitSize(fold.test).bytes),
      .shared_bytes = 227 << 10,
      .all_shared_bytes = 228 << 10,
      .processors = 132};
  return std::make_unique<SharedBackend>(
      gpu::make_device_backend(std::make_unique<gpu::HostDevice>(limits)), 1);
}

struct Kind {
  const char* name;
  std::unique_ptr<Backend> (*make)();
};

// A new backend gets a line here.
class BackendContract : public ::testing::TestWithParam<Kind> {
 protected:
  // Runs everything and collects the records.
  Result<void> run(std::span<const Simulation> simulations, const Watch& watch = {}) {
    const std::vector<Job> jobs = run_major(simulations);
    return run_jobs({simulations, jobs}, *backend_, watch,
                    [this](const Job& job, RunRecord record) -> Result<void> {
                      EXPECT_FALSE(busy_.exchange(true)) << "two calls at once";
                      EXPECT_TRUE(records_.emplace(Place(job.simulation, job.run), record).second)
                          << "a job was done twice";
                      busy_ = false;
                      return {};
                    });
  }

  std::unique_ptr<Backend> backend_ = GetParam().make();
  std::map<Place, RunRecord> records_;
  std::atomic<bool> busy_{false};
};

TEST_P(BackendContract, GivesTheRecordsOfSimulationRunToTheBit) {
  // Devices fuse, as these do.
  const bool fuses = kernels().name == "avx2" || kernels().name == "avx512";
  if (!fuses && GetParam().make == device_and_threads) GTEST_SKIP() << kernels().name;
  const std::vector<Simulation> simulations = two_simulations();
  ASSERT_TRUE(run(simulations).ok());
  ASSERT_THAT(records_, SizeIs(8));
  for (const auto& [place, record] : records_) {
    const RunRecord expected = simulations[place.first].run(place.second, {}).value();
    EXPECT_EQ(record.run, place.second);
    EXPECT_EQ(record.fold, expected.fold);
    ASSERT_EQ(record.curve.size(), expected.curve.size());
    for (std::size_t point = 0; point < record.curve.size(); ++point) {
      EXPECT_EQ(record.curve[point].impression, expected.curve[point].impression);
      EXPECT_EQ(record.curve[point].offline, expected.curve[point].offline);
      EXPECT_EQ(record.curve[point].online, expected.curve[point].online);
    }
  }
}

TEST_P(BackendContract, DoesAnyJobsAndSaysHowManyAtATime) {
  const std::vector<Simulation> simulations = two_simulations();
  EXPECT_GE(backend_->width(), 1U);
  EXPECT_GE(backend_->max_batch(), 1U);
  const std::vector<Job> jobs{{1, 3}};
  std::vector<Place> done;
  ASSERT_TRUE(run_jobs({simulations, jobs}, *backend_, {}, [&](const Job& job, const RunRecord&) {
                return done.emplace_back(job.simulation, job.run), Result<void>();
              }).ok());
  EXPECT_THAT(done, ElementsAre(Place(1, 3)));
  EXPECT_TRUE(run_jobs({simulations, {}}, *backend_, {}, {}).ok());
}

TEST_P(BackendContract, StoppedItSucceedsWithTheRunsThatWereFinished) {
  const std::vector<Simulation> simulations = two_simulations();
  std::atomic<int> done{0};
  Watch watch;
  watch.run_done = [&] { ++done; };
  watch.stop = [&] { return done >= 2; };
  EXPECT_TRUE(run(simulations, watch).ok());
  EXPECT_GE(done, 2);
  EXPECT_EQ(records_.size(), static_cast<std::size_t>(done));
  EXPECT_LT(records_.size(), 8U);
}

TEST_P(BackendContract, ReturnsAFailureAndStartsNoMoreJobs) {
  const std::vector<Simulation> simulations = two_simulations();
  const std::vector<Job> jobs = run_major(simulations);
  unsigned finished = 0;
  const auto refused =
      run_jobs({simulations, jobs}, *backend_, {}, [&](const Job&, const RunRecord&) {
        ++finished;
        return Result<void>(Error{ErrorCode::kUnavailable, "the disk is full"});
      });
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message, "the disk is full");
  EXPECT_LE(finished, backend_->width());

  SimulationSpec spec = tiny_spec();
  spec.ranker.kind = RankerKind::kNeural;
  spec.ranker.activation = Activation::kRelu;
  spec.ranker.hidden = {64, 64, 64};
  spec.settings = {{"learning-rate", "1e30"}};
  const std::vector<Simulation> diverging{prepare(spec)};
  const auto failed = run(diverging);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("a score is not finite"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BackendContract,
    ::testing::Values(
        Kind{"OneThread", [] { return std::unique_ptr<Backend>(new ThreadBackend(1)); }},
        Kind{"ThreeThreads", [] { return std::unique_ptr<Backend>(new ThreadBackend(3)); }},
        Kind{"Backwards", [] { return std::unique_ptr<Backend>(new Backwards); }},
        Kind{"DeviceAndThreads", device_and_threads}),
    [](const auto& kind) { return std::string(kind.param.name); });

TEST(RunMajor, DoesOneRunOfEverySimulationFirst) {
  SimulationSpec spec = tiny_spec();
  spec.runs = 2;
  std::vector<Simulation> simulations(2, prepare(spec));
  spec.runs = 1;
  simulations.push_back(prepare(spec));
  std::vector<Place> order;
  for (const Job& job : run_major(simulations)) order.emplace_back(job.simulation, job.run);
  EXPECT_THAT(order, ElementsAre(Place(0, 0), Place(1, 0), Place(2, 0), Place(0, 1), Place(1, 1)));
}

}  // namespace
}  // namespace plackett
