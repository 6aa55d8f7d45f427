// The GPU's kernels, run on the host, against the engine's own runs: the same bits.
#include "gpu/gpu_backend.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "gpu/engine_bits.h"
#include "gpu/run_group.h"
#include "gpu/stream.h"
#include "plackett/make_user.h"
#include "plackett/method_entry.h"
#include "support/eventually.h"

namespace plackett::gpu {
namespace {

using plackett::testing::eventually;
using ::testing::HasSubstr;

// The records of all runs of these in one batch, which must be the engine's.
void expect_bits_together(Backend& backend, const std::vector<Simulation>& simulations) {
  std::size_t count = 0;
  const auto done =
      run_jobs({simulations, run_major(simulations)}, backend, {},
               [&](const Job& job, const RunRecord& record) -> Result<void> {
                 SCOPED_TRACE(simulations[job.simulation].spec().label);
                 ++count;
                 expect_same(record, simulations[job.simulation].run(job.run, {}).value());
                 return {};
               });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(count, run_major(simulations).size());
}

// Methods of different shapes, which are not done together.
std::vector<Simulation> of_three_methods(const Dataset& data, std::uint32_t runs) {
  std::vector<Simulation> simulations;
  for (const char* method : {"pdgd", "dbgd", "pdgd:neural"}) {
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.runs = runs;
    spec.impressions = 20;
    simulations.push_back(Simulation::prepare(data, spec).value());
  }
  return simulations;
}

INSTANTIATE_TEST_SUITE_P(On, EngineBits, devices(), device_name);

TEST_P(EngineBits, AreKeptForAnyNumberOfFeatures) {
  for (const std::uint32_t features : {1, 15, 16, 17, 46, 136}) {
    SCOPED_TRACE(features);
    expect_bits(make_dataset({.features = features}), tiny_spec());
  }
}

TEST_P(EngineBits, AreKeptForEveryClickModelAndProtocol) {
  const Dataset data = make_dataset({});
  for (const std::string_view model : click_model_names()) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      SCOPED_TRACE(model);
      SimulationSpec spec = tiny_spec();
      spec.click_model = model;
      spec.protocol = protocol;
      expect_bits(data, spec);
    }
  }
}

TEST_P(EngineBits, AreKeptForEachDeviationAlone) {
  const Dataset data = make_dataset({.features = 2, .levels = 3});
  for (const char* protocol : {"stop", "reversed", "decay", "start", "ties", "miscount"}) {
    for (const char* method :
         {"pdgd", "pairwise", "dbgd", "mgd", "mgd:projection=documents", "pdgd:neural"}) {
      SCOPED_TRACE(fmt::format("{} {}", protocol, method));
      SimulationSpec spec = tiny_spec();
      apply(parse_method_entry(method).value(), spec);
      spec.protocol = parse_protocol(fmt::format("described+{}", protocol)).value();
      spec.runs = 1;
      spec.impressions = 60;
      expect_bits(data, spec);
    }
  }
}

TEST_P(EngineBits, AreKeptForUsersFromFiles) {
  const std::string path = fmt::format("{}plackett_{}_user.toml", ::testing::TempDir(),
                                       GetParam() == Where::kHost ? "host" : "gpu");
  std::ofstream(path)
      << "kind = \"cascade\"\nname = \"patient\"\nclick = [0.03, 0.2, 0.45, 0.7, 0.94]\n"
         "stop = [0.0, 0.1, 0.25, 0.3, 0.62]\n";
  for (const char* method : {"pdgd", "pairwise", "dbgd"}) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      SimulationSpec spec = tiny_spec();
      apply(parse_method_entry(method).value(), spec);
      spec.click_model = path;
      spec.protocol = protocol;
      expect_bits(make_dataset({}), spec);
    }
  }
  std::filesystem::remove(path);
}

TEST_P(EngineBits, AreKeptForListsOfAnyLength) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120}});
  for (const std::uint32_t shown : {1, 2, 3, 10, 13, 20, 21, 40, 100}) {
    SCOPED_TRACE(shown);
    SimulationSpec spec = tiny_spec();
    spec.shown = shown;
    spec.click_model = "position-based";
    expect_bits(data, spec);
  }
}

TEST_P(EngineBits, AreKeptForManyDocuments) {
  const Dataset data = make_dataset({.docs = {300, 1, 1251}});
  expect_bits(data, tiny_spec());
  // With so little shared memory that most queries' scratch is elsewhere.
  if (!is_on_host()) return;
  backend_ = host_backend({.free_bytes = std::uint64_t{1} << 30,
                           .shared_bytes = 32 << 10,
                           .all_shared_bytes = 6 << 10,
                           .processors = 2},
                          order());
  expect_bits(data, tiny_spec());
}

// More than a warp measures, or a block scores, at a time, on two splits.
TEST_P(EngineBits, AreKeptForManyRuns) {
  Dataset data = make_dataset({.features = 17});
  data.folds.push_back(data.folds.front());
  data.folds.back().test = make_split({.features = 17, .docs = {1, 40, 9}}, 30, 5);
  SimulationSpec spec = tiny_spec();
  for (const std::uint32_t runs : {9, 34, 150}) {
    spec.runs = runs;
    spec.impressions = 3;
    expect_bits(data, spec);
  }
}

TEST_P(EngineBits, AreKeptForEqualScores) {
  for (const std::uint32_t levels : {1, 2, 3}) {
    SCOPED_TRACE(levels);
    expect_bits(make_dataset({.features = 2, .levels = levels}), tiny_spec());
  }
}

// Nobody clicks on what has label 0, so that weights stay 0.
Dataset nothing_to_learn(const Shape& shape, std::uint32_t test_queries) {
  auto data = wrap_dataset({.name = "equal",
                            .train = make_split({.grades = 1}, 10, 1),
                            .test = make_split(shape, test_queries, 2)});
  data->max_label = 4;
  return std::move(data).value();
}

SimulationSpec clickless_spec(const char* method) {
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry(method).value(), spec);
  spec.click_model = "perfect";
  spec.impressions = 4;
  return spec;
}

TEST_P(EngineBits, AreKeptForRunsThatHaveLearnedNothing) {
  const Dataset data =
      nothing_to_learn({.docs = {1, 2, 9, 10, 11, 12, 13, 32, 700, 1, 33, 64}}, 100);
  for (const char* method : {"pdgd", "dbgd"}) {
    SCOPED_TRACE(method);
    expect_bits(data, clickless_spec(method));
  }
}

// Whether to order so many equal scores takes more than a word for each number, as one does now and
// then: it would make some numbers likelier than others.
bool refuses_a_word(std::uint64_t seed, std::uint32_t docs) {
  Stream stream(seed, 0, 1, Purpose::kTieBreak);
  bool refuses = false;
  for (std::uint32_t bound = kCut + 1; bound <= docs; ++bound) {
    stream.below_by_one_word(bound, refuses);
  }
  return refuses;
}

TEST_P(EngineBits, AreKeptForRunsThatHaveLearnedNothingAndANumberThatTakesTwoWords) {
  constexpr std::uint32_t kDocs = 30'000;
  SimulationSpec spec = clickless_spec("pdgd");
  spec.runs = 1;
  spec.impressions = 1;
  spec.seed = 1;
  while (!refuses_a_word(spec.seed, kDocs)) ++spec.seed;
  expect_bits(nothing_to_learn({.docs = {kDocs, 20, 30, 40}}, 8), spec);
}

TEST_P(EngineBits, AreKeptForScoresFarApart) {
  for (const float scale : {10.0F, 100.0F, 1000.0F, 1e5F}) {
    SCOPED_TRACE(scale);
    SimulationSpec spec = tiny_spec();
    spec.click_model = "random";
    expect_bits(make_dataset({.scale = scale}), spec);
  }
}

TEST_P(EngineBits, AreKeptForEverySettingThatItTakes) {
  const Dataset data = make_dataset({});
  const std::vector<std::vector<GivenSetting>> all{{{"learning-rate", "0.7"}},
                                                   {{"pairs", "above"}},
                                                   {{"sharpness", "3"}},
                                                   {{"steps", "adagrad"}},
                                                   {{"steps", "forgetting"}}};
  for (const auto& settings : all) {
    SCOPED_TRACE(settings.front().name);
    SimulationSpec spec = tiny_spec();
    spec.settings = settings;
    expect_bits(data, spec);
  }
  for (const NoRelevant no_relevant : {NoRelevant::kSkip, NoRelevant::kZero, NoRelevant::kOne}) {
    SimulationSpec spec = tiny_spec();
    spec.no_relevant = no_relevant;
    spec.learning_rate_decay = 0.99;
    spec.eta = 2;
    spec.click_model = "trust-bias";
    spec.seed = ~std::uint64_t{0} - 3;
    expect_bits(data, spec);
  }
}

TEST_P(EngineBits, AreKeptOnFoldsAndOnValidationQueries) {
  LoadOptions options;
  Dataset data = load_dataset("synthetic", options).value();
  SimulationSpec spec = tiny_spec();
  spec.runs = static_cast<std::uint32_t>(data.folds.size()) + 1;
  expect_bits(data, spec);
  spec.split = MeasuredSplit::kValidation;
  expect_bits(data, spec);
}

TEST_P(EngineBits, AreKeptForAFinalCurveAloneAndBesideAWholeOne) {
  const Dataset data = make_dataset({});
  SimulationSpec spec = tiny_spec();
  std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  spec.curve = CurveKind::kFinal;
  expect_bits(data, spec);
  simulations.push_back(Simulation::prepare(data, spec).value());
  std::size_t finished = 0;
  const auto done =
      run_jobs({simulations, run_major(simulations)}, *backend_, {},
               [&](const Job& job, const RunRecord& record) -> Result<void> {
                 ++finished;
                 EXPECT_EQ(record.curve.size() == 1, job.simulation == 1);
                 expect_same(record, simulations[job.simulation].run(job.run, {}).value());
                 return {};
               });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(finished, 6U);
}

TEST_P(EngineBits, AreThoseOfTheParameters) {
  SimulationSpec spec = tiny_spec();
  spec.protocol = Protocol::kPublished;
  expect_parameters(make_dataset({.features = 33}), spec);
}

TEST_P(EngineBits, AreNotGivenForAScoreThatIsNotFinite) {
  SimulationSpec spec = tiny_spec();
  spec.settings = {{"learning-rate", "1e15"}};
  expect_the_same_failure(make_dataset({.scale = 1e18F}), spec);
}

// Runs of equal shape, which are done together: those of simulation 1 diverge.
std::vector<Simulation> with_a_diverging_one() {
  const Dataset data = make_dataset({.scale = 1e10F});
  SimulationSpec spec = tiny_spec();
  std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  spec.settings = {{"learning-rate", "1e30"}};
  simulations.push_back(Simulation::prepare(data, spec).value());
  return simulations;
}

TEST(GpuBackend, KeepsTheRunsThatEndWhereOthersDiverge) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const std::vector<Simulation> simulations = with_a_diverging_one();
  std::map<std::uint32_t, RunRecord> records;
  const auto done = run_jobs({simulations, run_major(simulations)}, *host_backend(), {},
                             [&](const Job& job, RunRecord record) -> Result<void> {
                               EXPECT_EQ(job.simulation, 0U);
                               records.emplace(job.run, std::move(record));
                               return {};
                             });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, simulations[1].run(0, {}).error().message);
  ASSERT_EQ(records.size(), 3U);
  for (const auto& [run, record] : records) {
    expect_same(record, simulations[0].run(run, {}).value());
  }
}

// Another group's are still under way then.
TEST(GpuBackend, KeepsTheRunsOfOtherGroupsWhereOneDiverges) {
  std::vector<Simulation> simulations = with_a_diverging_one();
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry("pdgd:neural").value(), spec);
  spec.impressions = 3000;
  simulations.push_back(Simulation::prepare(make_dataset({}), spec).value());
  std::array<int, 3> ended{};
  const auto done = run_jobs({simulations, run_major(simulations)}, *host_backend(), {},
                             [&](const Job& job, const RunRecord& /*record*/) -> Result<void> {
                               ++ended[job.simulation];
                               return {};
                             });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(ended, (std::array{3, 0, 3}));
}

// Runs of duels that chance may decide: those of simulation 1 diverge.
std::vector<Simulation> duels_with_a_diverging_one() {
  const Dataset data = make_dataset({.scale = 1e15F});
  SimulationSpec spec = tiny_spec();
  spec.method = "mgd";
  spec.settings = {{"candidates", "9"}};
  spec.protocol = Protocol::kPublished;
  spec.impressions = 60;
  std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  spec.settings.push_back({"learning-rate", "1e30"});
  simulations.push_back(Simulation::prepare(data, spec).value());
  return simulations;
}

struct Ended {
  std::vector<int> runs;  // by simulation
  std::string error;
};

// On a device that knows normals to such an error.
Ended run_on_a_doubting_device(const std::vector<Simulation>& simulations, double normal_error,
                               std::size_t least_in_doubt) {
  auto device = std::make_unique<HostDevice>();
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device), normal_error);
  Ended ended{.runs = std::vector<int>(simulations.size()), .error = {}};
  const auto done =
      run_jobs({simulations, run_major(simulations)}, *backend, {},
               [&](const Job& job, const RunRecord& record) -> Result<void> {
                 ++ended.runs[job.simulation];
                 expect_same(record, simulations[job.simulation].run(job.run, {}).value());
                 return {};
               });
  if (!done) ended.error = done.error().message;
  EXPECT_GE(host->runs_in_doubt(), least_in_doubt);
  return ended;
}

TEST(GpuBackend, DoesTheRunsInDoubtWhereOthersDiverge) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  for (const double normal_error : {1e-2, 1e-1, 1.0}) {
    SCOPED_TRACE(normal_error);
    const std::vector<Simulation> simulations = duels_with_a_diverging_one();
    const Ended ended = run_on_a_doubting_device(simulations, normal_error, 1);
    EXPECT_EQ(ended.runs, (std::vector{3, 0}));
    EXPECT_EQ(ended.error, simulations[1].run(0, {}).error().message);
  }
}

// Which the engine finds.
TEST(GpuBackend, KeepsTheRunsOfOtherGroupsWhereOneInDoubtDiverges) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  std::vector<Simulation> simulations = duels_with_a_diverging_one();
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry("pdgd:neural").value(), spec);
  spec.impressions = 3000;
  simulations.push_back(Simulation::prepare(make_dataset({}), spec).value());
  const Ended ended = run_on_a_doubting_device(simulations, 1, 4);
  EXPECT_EQ(ended.runs, (std::vector{3, 0, 3}));
  EXPECT_EQ(ended.error, simulations[1].run(0, {}).error().message);
}

TEST(GpuBackend, KeepsTheRunsThatHaveEndedWhenItIsStoppedLate) {
  std::vector<Simulation> simulations{Simulation::prepare(make_dataset({}), tiny_spec()).value()};
  std::size_t finished = 0;
  Watch watch;
  watch.stop = [&] { return finished >= 1; };
  const auto done = run_jobs({simulations, run_major(simulations)}, *host_backend(), watch,
                             [&](const Job&, const RunRecord&) -> Result<void> {
                               ++finished;
                               return {};
                             });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(finished, 3U);
}

TEST(GpuBackend, KeepsTheRunsThatHaveEndedWhenLongerOnesAreStopped) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const Dataset data = make_dataset({});
  SimulationSpec spec = tiny_spec();
  std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  spec.impressions = 100'000'000;
  simulations.push_back(Simulation::prepare(data, spec).value());
  std::uint64_t impressions = 0;
  std::size_t finished = 0;
  Watch watch;
  watch.advanced = [&](std::uint64_t more) { impressions += more; };
  watch.stop = [&] { return impressions > 6 * 300; };
  const auto done =
      run_jobs({simulations, run_major(simulations)}, *host_backend(), watch,
               [&](const Job& job, const RunRecord& record) -> Result<void> {
                 ++finished;
                 expect_same(record, simulations[job.simulation].run(job.run, {}).value());
                 return {};
               });
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(finished, 3U);
}

TEST(GpuBackend, DividesRunsThatItsMemoryHasNoRoomFor) {
  LoadOptions options;
  const Dataset data = load_dataset("synthetic", options).value();
  SimulationSpec spec = tiny_spec();
  spec.runs = 2 * static_cast<std::uint32_t>(data.folds.size());
  const std::uint64_t one_fold =
      (data.folds[0].train.doc_count() + data.folds[0].test.doc_count()) *
      padded_width(data.folds[0].train.feature_count()) * sizeof(float);
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const auto backend = host_backend({.free_bytes = 3 * one_fold,
                                     .shared_bytes = 227 << 10,
                                     .all_shared_bytes = 228 << 10,
                                     .processors = 132});
  expect_the_engines_bits(data, spec, *backend);
}

TEST(GpuBackend, RefusesAFoldThatItsMemoryHasNoRoomForWithTheBytes) {
  const Dataset data = make_dataset({});
  const auto backend = host_backend({.free_bytes = 1000,
                                     .shared_bytes = 227 << 10,
                                     .all_shared_bytes = 228 << 10,
                                     .processors = 132});
  const auto records = run_all_on(*backend, Simulation::prepare(data, tiny_spec()).value());
  ASSERT_FALSE(records.ok());
  EXPECT_THAT(records.error().message, HasSubstr("bytes of its memory; 900 may be used"));
}

// A part of the free memory is left to others.
TEST(GpuBackend, SaysWhatPartOfItsMemoryMayBeUsedWhereAFoldDoesNotFit) {
  const Simulation simulation = Simulation::prepare(make_dataset({}), tiny_spec()).value();
  const auto refusal = [&simulation](std::uint64_t free_bytes) {
    const auto backend = host_backend({.free_bytes = free_bytes,
                                       .shared_bytes = 227 << 10,
                                       .all_shared_bytes = 228 << 10,
                                       .processors = 132});
    return run_all_on(*backend, simulation).error().message;
  };
  const std::string first = refusal(1000);
  const std::uint64_t needed = std::stoull(first.substr(first.find("needs ") + 6));
  const std::uint64_t nearly = needed * 105 / 100;
  EXPECT_THAT(refusal(nearly), HasSubstr(fmt::format("needs {} bytes of its memory; {} may be used",
                                                     needed, nearly * 9 / 10)));
}

// What is there of other folds would be freed.
TEST(GpuBackend, CountsTheMemoryOfOtherFoldsAsMemoryThatMayBeUsed) {
  Dataset data = make_dataset({.features = 400, .docs = {16}});
  data.folds.resize(2, data.folds.front());
  data.folds[1].train = make_split({.features = 400, .docs = {16}}, 41, 7);
  data.folds[1].test = make_split({.features = 400, .docs = {16}}, 26, 8);
  const std::uint64_t of_fold = SplitSize(data.folds[1].train).bytes;
  const DeviceLimits limits{.free_bytes = 3 * of_fold,
                            .shared_bytes = 227 << 10,
                            .all_shared_bytes = 228 << 10,
                            .processors = 132};
  auto device = std::make_unique<HostDevice>(limits);
  HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  SimulationSpec spec = tiny_spec();
  spec.runs = 2;
  const std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  const std::uint64_t taken = of_fold * 5 / 4;
  const auto done = run_jobs({simulations, run_major(simulations)}, *backend, {},
                             [&](const Job& job, const RunRecord& /*record*/) -> Result<void> {
                               EXPECT_EQ(job.run, 0U);
                               host->take(taken);
                               return {};
                             });
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr(fmt::format("bytes of its memory; {} may be used",
                                                          (limits.free_bytes - taken) * 9 / 10)));
}

// Folds so large that a device's memory is that of few.
Fold large_fold(std::uint32_t queries, std::uint64_t seed) {
  const Shape shape{.features = 400, .docs = {16}};
  return {.train = make_split(shape, queries, seed), .test = make_split(shape, 4, seed + 1)};
}

// Fold by fold.
Simulation on_large_folds(const std::vector<Fold>& folds, std::uint64_t impressions) {
  Dataset data = make_dataset({.features = 400, .docs = {16}});
  data.folds = folds;
  SimulationSpec spec = tiny_spec();
  spec.runs = static_cast<std::uint32_t>(folds.size());
  spec.impressions = impressions;
  return Simulation::prepare(data, spec).value();
}

// So much memory that `times` that of these queries may be used.
std::unique_ptr<HostDevice> device_with_room_for(double times, std::uint32_t queries) {
  const auto bytes = static_cast<double>(SplitSize(large_fold(queries, 1).train).bytes);
  return std::make_unique<HostDevice>(
      DeviceLimits{.free_bytes = static_cast<std::uint64_t>(times * bytes / 0.9),
                   .shared_bytes = 227 << 10,
                   .all_shared_bytes = 228 << 10,
                   .processors = 132});
}

void expect_bits_of_each(const std::map<std::uint32_t, RunRecord>& records,
                         const Simulation& simulation) {
  EXPECT_EQ(records.size(), simulation.spec().runs);
  for (const auto& [run, record] : records) expect_same(record, simulation.run(run, {}).value());
}

TEST(GpuBackend, DoesBatchesOfSeveralThreadsBesideEachOther) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const auto backend = host_backend();
  std::atomic<int> under_way{0};
  parallel_for(3, 3, [&](std::size_t at) {
    const std::vector<Simulation> simulations{on_large_folds({large_fold(20, 10 * at)}, 20)};
    std::map<std::uint32_t, RunRecord> records;
    Watch watch;
    watch.run_started = [&](const SimulationSpec& /*spec*/) {
      ++under_way;
      EXPECT_TRUE(eventually([&] { return under_way == 3; }));
    };
    const auto done = run_jobs({simulations, run_major(simulations)}, *backend, watch,
                               [&](const Job& job, RunRecord record) -> Result<void> {
                                 records.emplace(job.run, std::move(record));
                                 return {};
                               });
    EXPECT_TRUE(done.ok()) << done.error().message;
    expect_bits_of_each(records, simulations.front());
  });
}

// Memory for one and a half of them.
TEST(GpuBackend, TakesTurnsWhereItsMemoryHasNoRoomForTheBatchesOfAllThreads) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  auto device = device_with_room_for(1.5, 40);
  device->answer_slowly(std::chrono::milliseconds(2));
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  parallel_for(4, 20, [&](std::size_t at) {
    const Simulation simulation = on_large_folds({large_fold(40, 10 * at)}, 20);
    const auto records = run_all_on(*backend, simulation);
    ASSERT_TRUE(records.ok()) << records.error().message;
    expect_bits_of_each(*records, simulation);
  });
  EXPECT_EQ(host->refusals(), 0U) << "what was planned with was not there";
}

// True from then on, lest a thread waits for ever.
std::function<bool()> in_a_minute() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  return [end] { return std::chrono::steady_clock::now() > end; };
}

// Each of two threads needs its large fold next, for which there is room only if the other gives up
// its small one.
TEST(GpuBackend, GivesUpFoldsThatItHasDoneBeforeItWaitsForMemory) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const auto backend = make_device_backend(device_with_room_for(2.8, 40));
  std::atomic<int> first_runs{0};
  parallel_for(2, 2, [&](std::size_t at) {
    const std::vector<Simulation> simulations{
        on_large_folds({large_fold(40, 100 * at), large_fold(80, 100 * at + 10)}, 20)};
    std::map<std::uint32_t, RunRecord> records;
    Watch watch;
    watch.stop = in_a_minute();
    const auto done = run_jobs({simulations, run_major(simulations)}, *backend, watch,
                               [&](const Job& job, RunRecord record) -> Result<void> {
                                 records.emplace(job.run, std::move(record));
                                 if (job.run > 0) return {};
                                 ++first_runs;
                                 EXPECT_TRUE(eventually([&] { return first_runs == 2; }));
                                 return {};
                               });
    EXPECT_TRUE(done.ok()) << done.error().message;
    expect_bits_of_each(records, simulations.front());
  });
}

TEST(GpuBackend, StopsWhileItWaitsForMemory) {
  const auto backend = make_device_backend(device_with_room_for(1.5, 40));
  std::atomic<bool> has_begun{false};
  std::atomic<bool> has_ended{false};
  const auto run = [&](const Watch& watch) {
    const std::vector<Simulation> simulations{on_large_folds({large_fold(40, 1)}, 100'000'000)};
    return run_jobs({simulations, run_major(simulations)}, *backend, watch,
                    [](const Job&, const RunRecord&) { return Result<void>(); });
  };
  Watch holding;
  holding.run_started = [&](const SimulationSpec& /*spec*/) { has_begun = true; };
  holding.stop = [&, late = in_a_minute()] { return has_ended || late(); };
  std::thread other([&] { EXPECT_TRUE(run(holding).ok()); });
  EXPECT_TRUE(eventually([&] { return has_begun.load(); }));
  int asked = 0;
  Watch waiting;
  waiting.run_started = [](const SimulationSpec& /*spec*/) { ADD_FAILURE() << "there is no room"; };
  waiting.stop = [&] { return ++asked > 5; };
  EXPECT_TRUE(run(waiting).ok());
  has_ended = true;
  other.join();
}

// As where memory is in pieces that are too small.
TEST(GpuBackend, TriesAgainWhenOthersEndWhereAnAllocationFails) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  auto device = std::make_unique<HostDevice>();
  HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  std::atomic<bool> has_begun{false};
  std::atomic<int> asked{0};
  std::thread other([&] {
    const std::vector<Simulation> simulations{on_large_folds({large_fold(4, 1)}, 100'000'000)};
    Watch watch;
    watch.run_started = [&](const SimulationSpec& /*spec*/) {
      host->refuse_next_allocation();
      has_begun = true;
    };
    watch.stop = [&, late = in_a_minute()] { return asked > 5 || late(); };
    EXPECT_TRUE(run_jobs({simulations, run_major(simulations)}, *backend, watch,
                         [](const Job&, const RunRecord&) { return Result<void>(); })
                    .ok());
  });
  EXPECT_TRUE(eventually([&] { return has_begun.load(); }));
  const std::vector<Simulation> simulations{on_large_folds({large_fold(4, 5)}, 20)};
  std::map<std::uint32_t, RunRecord> records;
  Watch watch;
  watch.stop = [&] { return ++asked < 0; };
  const auto done = run_jobs({simulations, run_major(simulations)}, *backend, watch,
                             [&](const Job& job, RunRecord record) -> Result<void> {
                               records.emplace(job.run, std::move(record));
                               return {};
                             });
  other.join();
  EXPECT_TRUE(done.ok()) << done.error().message;
  expect_bits_of_each(records, simulations.front());
}

// Whichever allocation fails.
TEST(GpuBackend, DoesLaterWhatItHasNoRoomForAtFirst) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const std::vector<Simulation> simulations = of_three_methods(make_dataset({}), 2);
  int done_in_part = 0;
  for (std::uint64_t number = 1; number <= 45; ++number) {
    SCOPED_TRACE(number);
    auto device = std::make_unique<HostDevice>();
    device->refuse_allocation(number);
    const auto backend = make_device_backend(std::move(device));
    std::map<std::pair<std::size_t, std::uint32_t>, int> count;
    std::size_t started = 0;
    Watch watch;
    watch.run_started = [&](const SimulationSpec& /*spec*/) { ++started; };
    const auto done = run_jobs({simulations, run_major(simulations)}, *backend, watch,
                               [&](const Job& job, const RunRecord& record) -> Result<void> {
                                 ++count[{job.simulation, job.run}];
                                 const Simulation& simulation = simulations[job.simulation];
                                 expect_same(record, simulation.run(job.run, {}).value());
                                 return {};
                               });
    if (count.empty()) {  // the first group has no room alone
      EXPECT_FALSE(done.ok());
      EXPECT_EQ(started, 0U);
      continue;
    }
    ++done_in_part;
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(started, 6U);
    EXPECT_EQ(count.size(), 6U);
    for (const auto& [job, times] : count) EXPECT_EQ(times, 1);
  }
  EXPECT_GE(done_in_part, 10);
}

TEST(GpuBackend, TakesTheMemoryThatItSays) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const Dataset data = make_dataset({.features = 40, .docs = {300, 1251}});
  for (const char* method :
       {"pdgd", "pairwise", "dbgd", "mgd", "pdgd:neural", "pdgd:linear+neural:steps=adagrad",
        "dbgd:neural", "mgd:linear+neural:candidates=9", "pairwise:neural"}) {
    SCOPED_TRACE(method);
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.runs = 1;
    spec.impressions = 5;
    spec.shown = 30;
    const Simulation simulation = Simulation::prepare(data, spec).value();
    DeviceLimits limits = {.free_bytes = 1000,
                           .shared_bytes = 227 << 10,
                           .all_shared_bytes = 228 << 10,
                           .processors = 132};
    const std::string refusal = run_all_on(*host_backend(limits), simulation).error().message;
    const std::uint64_t needed = std::stoull(refusal.substr(refusal.find("needs ") + 6));
    limits.free_bytes = needed * 2;
    auto device = std::make_unique<HostDevice>(limits);
    const HostDevice* host = device.get();
    const auto backend = make_device_backend(std::move(device));
    expect_the_engines_bits(data, spec, *backend);
    EXPECT_EQ(host->most_allocated(), needed);
  }
}

TEST(GpuBackend, MeasuresMoreQueriesThanALaunchHasPartsFor) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const DeviceLimits two_parts{.free_bytes = std::uint64_t{1} << 30,
                               .shared_bytes = 227 << 10,
                               .all_shared_bytes = 228 << 10,
                               .processors = 132,
                               .query_parts = 2};
  for (const std::uint32_t queries : {16, 17, 64, 65, 131}) {
    Dataset data = make_dataset({});
    data.folds.front().test = make_split({}, queries, 2);
    expect_bits_together(*host_backend(two_parts), of_three_methods(data, 2));
  }
}

TEST(GpuBackend, MeasuresSoFewRunsAtATimeThatItCanBeStopped) {
  for (const char* method : {"pdgd", "pdgd:neural"}) {
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.runs = 60;
    spec.impressions = 1;
    auto device = std::make_unique<HostDevice>();
    device->measure_slowly(std::chrono::milliseconds(20));  // 0.3 s are 15 runs
    const HostDevice* host = device.get();
    const auto backend = make_device_backend(std::move(device));
    const auto records = run_all_on(*backend, Simulation::prepare(make_dataset({}), spec).value());
    ASSERT_TRUE(records.ok()) << records.error().message;
    EXPECT_EQ(records->size(), 60U);
    EXPECT_LE(host->most_measured(), 16U);
  }
}

TEST(GpuBackend, MeasuresManyRunsAtATimeWhereThatIsQuick) {
  SimulationSpec spec = tiny_spec();
  spec.runs = 500;
  spec.impressions = 5;
  auto device = std::make_unique<HostDevice>();
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  const auto records = run_all_on(*backend, Simulation::prepare(make_dataset({}), spec).value());
  ASSERT_TRUE(records.ok()) << records.error().message;
  EXPECT_GT(host->most_measured(), 100U);
}

TEST(GpuBackend, DoesGroupsOfRunsBesideEachOther) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations;
  for (const char* method : {"pdgd", "pdgd:neural", "dbgd", "mgd"}) {
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    simulations.push_back(Simulation::prepare(data, spec).value());
  }
  auto device = std::make_unique<HostDevice>();
  device->measure_slowly(std::chrono::milliseconds(5));
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  double seconds = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto done = run_jobs({simulations, run_major(simulations)}, *backend, {},
                             [&](const Job& /*job*/, const RunRecord& record) -> Result<void> {
                               seconds += record.seconds;
                               return {};
                             });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_GT(host->most_running(), 1U);
  // Each group's time is its share.
  EXPECT_LE(seconds,
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

// Five runs where it does two at a time: in launches of two, not of five, one of which is alone.
TEST(GpuBackend, LetsRunsTakeTurnsThatItDoesNotAllDoAtATime) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  for (const char* method : {"mgd", "pdgd:neural", "dbgd:neural"}) {
    SCOPED_TRACE(method);
    DeviceLimits limits = HostDevice().limits().value();
    limits.processors = 1;
    limits.all_shared_bytes = 100 << 10;
    limits.shared_bytes = 99 << 10;
    auto device = std::make_unique<HostDevice>(limits);
    const HostDevice* host = device.get();
    const auto backend = make_device_backend(std::move(device));
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.runs = 5;
    spec.impressions = 40;
    expect_the_engines_bits(make_dataset({.features = 136, .docs = {150}}), spec, *backend);
    EXPECT_EQ(host->most_learned(), 2U);
    EXPECT_GT(host->mean_learned(), 1.75);
  }
}

TEST(GpuBackend, MeasuresNoQueriesAsTheEngineDoes) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  Dataset data = make_dataset({});
  Split::Storage storage = data.folds.front().test.storage();
  storage.query_count = 0;
  data.folds.front().test = Split(storage);
  for (const char* method : {"pdgd", "pdgd:neural"}) {
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.no_relevant = NoRelevant::kZero;
    expect_bits_together(*host_backend(), {Simulation::prepare(data, spec).value()});
  }
}

TEST(GpuBackend, TellsApartDatasetsThatShareTheirRows) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const Dataset data = make_dataset({});
  Dataset relabelled = data;
  const auto labels = std::make_shared<std::vector<std::uint8_t>>();
  Split::Storage storage = data.folds.front().train.storage();
  for (std::uint64_t doc = 0; doc < data.folds.front().train.doc_count(); ++doc) {
    labels->push_back(static_cast<std::uint8_t>(4 - storage.labels[doc]));
  }
  storage.labels = labels->data();
  relabelled.folds.front().train = Split(storage);
  Dataset shorter = data;
  storage = data.folds.front().test.storage();
  storage.query_count = 7;
  shorter.folds.front().test = Split(storage);
  std::vector<Simulation> simulations;
  for (const Dataset& each : {data, relabelled, shorter}) {
    simulations.push_back(Simulation::prepare(each, tiny_spec()).value());
  }
  expect_bits_together(*host_backend(), simulations);
}

// Of a split whose queries have 16 documents each, two tiles.
std::uint64_t row_bytes(const Split& split) {
  return split.query_count() * 2 * tile_size(padded_width(split.feature_count())) * sizeof(float);
}

TEST(DeviceSplit, HasEveryFeatureInItsPlaceThoughItIsSentInParts) {
  // 90 MB of tiles: more than are sent at a time.
  const Split split = make_split({.features = 1000, .docs = {9, 1, 33}}, 1050, 3);
  HostDevice device;
  const auto made = DeviceSplit::make(device, split);
  ASSERT_TRUE(made.ok()) << made.error().message;
  const SplitData& data = made->data();
  for (std::uint32_t query = 0; query < split.query_count(); ++query) {
    const FeatureView docs = split.features(Query{query});
    const float* tiles = data.rows + data.first_tiles[query] * tile_size(data.width);
    for (std::uint32_t doc = 0; doc < (docs.doc_count() + 7) / 8 * 8; ++doc) {
      for (std::uint32_t feature = 0; feature < data.width; ++feature) {
        const bool is_padding = doc >= docs.doc_count() || feature >= 1000;
        ASSERT_EQ(tiles[feature_place(doc, feature, data.width)],
                  is_padding ? 0 : docs.row(Doc{doc})[feature])
            << query << ' ' << doc << ' ' << feature;
      }
    }
  }
  EXPECT_EQ(made->most_docs(), 33U);
}

TEST(GpuBackend, SendsADatasetOnceForAllMethods) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const Dataset data = make_dataset({.features = 40, .docs = {16}});
  auto device = std::make_unique<HostDevice>();
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  expect_bits_together(*backend, of_three_methods(data, 2));
  for (const Split* split : {&data.folds.front().train, &data.folds.front().test}) {
    EXPECT_EQ(host->bytes_uploaded_into(row_bytes(*split)), row_bytes(*split));
  }
}

TEST(GpuBackend, SendsAFoldOnceForAllMethodsThoughNotAllFoldsFit) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  Dataset data = make_dataset({.features = 400, .docs = {16}});
  data.folds.resize(3, data.folds.front());
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    data.folds[fold].train = make_split({.features = 400, .docs = {16}}, 40 + fold, fold);
    data.folds[fold].test = make_split({.features = 400, .docs = {16}}, 20 + fold, 10 + fold);
  }
  const std::uint64_t of_fold = row_bytes(data.folds[2].train) + row_bytes(data.folds[2].test);
  auto device = std::make_unique<HostDevice>(DeviceLimits{.free_bytes = 2 * of_fold,
                                                          .shared_bytes = 227 << 10,
                                                          .all_shared_bytes = 228 << 10,
                                                          .processors = 132});
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device));
  expect_bits_together(*backend, of_three_methods(data, 6));
  for (const Fold& fold : data.folds) {
    EXPECT_EQ(host->bytes_uploaded_into(row_bytes(fold.train)), row_bytes(fold.train));
    EXPECT_EQ(host->bytes_uploaded_into(row_bytes(fold.test)), row_bytes(fold.test));
  }
}

// Clicks as a built-in user, and says of some of its draws what they decide.
class Ending final : public User {
 public:
  enum class Says : std::uint8_t { kNothing, kOfTheFirst, kAll };
  explicit Ending(Says says) : says_(says) {}

  [[nodiscard]] std::string_view name() const override { return "ending"; }
  [[nodiscard]] std::uint32_t grade_count() const override { return 5; }
  void click(std::span<const Doc> shown, const Judgments& judgments, Rng& rng,
             std::span<std::uint8_t> clicks) const override {
    user_->click(shown, judgments, rng, clicks);
  }
  [[nodiscard]] std::optional<ClickEnds> ends(std::size_t rank, std::size_t below_click,
                                              std::uint8_t label) const override {
    const bool is_first = rank == 0 && below_click == 0 && label == 0;
    if (says_ == Says::kNothing || (says_ == Says::kOfTheFirst && !is_first)) return {};
    return user_->ends(rank, below_click, label);
  }

 private:
  Says says_;
  std::unique_ptr<User> user_ = make_user("informational", {.grade_count = 5}).value();
};

TEST(GpuBackend, SaysWhatItCannotDo) {
  const Dataset data = make_dataset({});
  const auto refused = [&](const SimulationSpec& spec) {
    const auto checked = host_backend()->check(Simulation::prepare(data, spec).value());
    return checked ? std::string("nothing") : checked.error().message;
  };
  SimulationSpec spec = tiny_spec();
  EXPECT_EQ(refused(spec), "nothing");
  spec.method = "coltr";
  EXPECT_EQ(refused(spec),
            "COLTR (linear) under informational: no device does method coltr, only pdgd, "
            "pairwise, dbgd and mgd; device cpu or auto does");
  spec = tiny_spec();
  spec.ranker.kind = RankerKind::kNeural;
  EXPECT_EQ(refused(spec), "nothing");
  spec.ranker.hidden = {64, 32};
  EXPECT_THAT(refused(spec), HasSubstr("networks of 2 hidden layers, only of one"));
  spec.ranker.hidden = {4096};
  EXPECT_THAT(refused(spec), HasSubstr("networks of 28672 parameters, which need"));
  for (const std::string_view method : {"dbgd", "mgd", "pairwise"}) {
    spec.method = method;
    spec.ranker.hidden = {4096};
    EXPECT_THAT(refused(spec), HasSubstr("networks of 28672 parameters, which need"));
    spec.ranker.hidden = {64};
    EXPECT_EQ(refused(spec), "nothing");
    spec.ranker.hidden = {64, 32};
    EXPECT_THAT(refused(spec), HasSubstr("networks of 2 hidden layers, only of one"));
  }
  spec = tiny_spec();
  spec.settings = {{"weight-decay", "0.01"}};
  EXPECT_THAT(refused(spec), HasSubstr("weight-decay"));
  spec.settings = {{"restart", "20"}};
  EXPECT_THAT(refused(spec), HasSubstr("restart"));
  spec = tiny_spec();
  spec.metrics = {"MAP"};
  EXPECT_THAT(refused(spec), HasSubstr("metrics besides NDCG@10"));
  spec = tiny_spec();
  spec.drift = {{.of = DriftOf::kLabels, .at = 50}};
  EXPECT_THAT(refused(spec), HasSubstr("no device does drift"));
  spec = tiny_spec();
  spec.user = std::make_shared<Ending>(Ending::Says::kNothing);
  EXPECT_THAT(refused(spec), HasSubstr("users of your own without ends()"));
  spec.user = std::make_shared<Ending>(Ending::Says::kOfTheFirst);
  EXPECT_THAT(refused(spec), HasSubstr("users of your own without ends()"));
  spec.user = std::make_shared<Ending>(Ending::Says::kAll);
  EXPECT_EQ(refused(spec), "nothing");
  spec = tiny_spec();
  spec.validate = true;
  const Dataset with_validation = load_dataset("synthetic", {}).value();
  const auto checked = host_backend()->check(Simulation::prepare(with_validation, spec).value());
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("the choice of settings on validation queries"));
}

// Of 232,448 bytes a block needs 232,336.
TEST(GpuBackend, DoesNetworksThatTakeNearlyAllOfABlocksMemory) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry("pdgd:neural").value(), spec);
  spec.runs = 1;
  spec.impressions = 3;
  expect_the_engines_bits(make_dataset({.features = 880, .docs = {9, 33}}), spec, *host_backend());
}

TEST(GpuBackend, DoesAllMethodsOfThePaper) {
  const Dataset data = make_dataset({});
  const std::vector<MethodEntry> paper = parse_methods("paper").value();
  ASSERT_EQ(paper.size(), 6U);
  for (const MethodEntry& entry : paper) {
    SimulationSpec spec = tiny_spec();
    apply(entry, spec);
    const auto checked = host_backend()->check(Simulation::prepare(data, spec).value());
    EXPECT_TRUE(checked.ok()) << checked.error().message;
  }
}

TEST(SharedBackend, LeavesToThreadsWhatTheDeviceCannotDo) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations{Simulation::prepare(data, tiny_spec()).value()};
  SimulationSpec spec = tiny_spec();
  spec.method = "coltr";
  simulations.push_back(Simulation::prepare(data, spec).value());
  SharedBackend backend(host_backend(), 2);
  std::size_t count = 0;
  const auto done = run_jobs({simulations, run_major(simulations)}, backend, {},
                             [&](const Job& job, const RunRecord& record) -> Result<void> {
                               ++count;
                               const RunRecord expected =
                                   simulations[job.simulation].run(job.run, {}).value();
                               if (job.simulation == 1 || engine_fuses()) {
                                 expect_same(record, expected);
                               }
                               return {};
                             });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(count, 6U);
}

TEST(SharedBackend, LeavesToThreadsWhatTheDeviceHasNoRoomFor) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const std::vector<Simulation> simulations{
      Simulation::prepare(make_dataset({.features = 1000, .docs = {9, 33}}), tiny_spec()).value()};
  const DeviceLimits usual = {.free_bytes = std::uint64_t{1} << 30,
                              .shared_bytes = 227 << 10,
                              .all_shared_bytes = 228 << 10,
                              .processors = 132};
  DeviceLimits no_memory = usual;
  no_memory.free_bytes = 1000;
  DeviceLimits no_lists = usual;
  no_lists.shared_bytes = 1 << 10;
  DeviceLimits no_wide_rankers = usual;
  no_wide_rankers.shared_bytes = 16 << 10;
  for (const auto& [limits, why] :
       {std::pair(no_memory, "bytes of its memory; 900 may be used"),
        std::pair(no_lists, "bytes of a block's memory; there are 1024"),
        std::pair(no_wide_rankers, "measuring with 1008 features needs 32256 bytes")}) {
    SCOPED_TRACE(why);
    const auto checked = host_backend(limits)->check(simulations.front());
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, HasSubstr(why));
    SharedBackend shared(host_backend(limits), 1);
    expect_bits_together(shared, simulations);
  }
}

TEST(SharedBackend, LeavesToThreadsWhatADeviceThatFailsHasLeft) {
  if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
  const std::vector<Simulation> simulations = of_three_methods(make_dataset({}), 2);
  for (const std::uint64_t launches : {0, 3, 5, 10, 20, 40}) {
    SCOPED_TRACE(launches);
    auto device = std::make_unique<HostDevice>();
    device->break_after(launches);
    SharedBackend shared(make_device_backend(std::move(device)), 1);
    std::map<std::pair<std::size_t, std::uint32_t>, int> count;
    std::uint64_t impressions = 0;
    Watch watch;
    watch.advanced = [&](std::uint64_t more) { impressions += more; };
    std::string told;
    watch.told_device = [&](const std::string& what) { told = what; };
    const auto done = run_jobs({simulations, run_major(simulations)}, shared, watch,
                               [&](const Job& job, const RunRecord& record) -> Result<void> {
                                 ++count[{job.simulation, job.run}];
                                 const Simulation& simulation = simulations[job.simulation];
                                 expect_same(record, simulation.run(job.run, {}).value());
                                 return {};
                               });
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(told, "1 thread (the host: broken)");
    EXPECT_EQ(count.size(), 6U);
    for (const auto& [job, times] : count) EXPECT_EQ(times, 1);
    EXPECT_EQ(impressions, 6U * simulations.front().spec().impressions);
  }
}

}  // namespace
}  // namespace plackett::gpu
