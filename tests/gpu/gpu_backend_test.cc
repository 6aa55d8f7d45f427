// The GPU's kernels, run on the host, against the engine's own runs: the same bits.
#include "gpu/gpu_backend.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/kernels.h"
#include "gpu/host_device.h"
#include "plackett/make_user.h"
#include "plackett/pdgd.h"
#include "plackett/simulate.h"
#include "plackett/wrap.h"

namespace plackett::gpu {
namespace {

using ::testing::HasSubstr;

// Where the kernels run.
enum class Where : std::uint8_t { kHost, kGpu };

std::unique_ptr<DeviceBackend> host_backend(const DeviceLimits& limits) {
  return make_device_backend(std::make_unique<HostDevice>(limits));
}
std::unique_ptr<DeviceBackend> host_backend() {
  return make_device_backend(std::make_unique<HostDevice>());
}

// Where the engine does not fuse, its bits are others.
bool engine_fuses() { return kernels().name == "avx2" || kernels().name == "avx512"; }

struct Shape {
  std::uint32_t features = 5;
  std::vector<std::uint32_t> docs = {1, 2, 9, 10, 11, 16, 17, 32, 33};  // of the queries in turn
  std::uint32_t levels = 0;  // that features have; few make equal scores. 0: any value
  float scale = 1;           // of features
};

Split make_split(const Shape& shape, std::uint32_t queries, std::uint64_t seed) {
  struct Arrays {
    std::vector<float> rows;
    std::vector<std::uint8_t> labels;
    std::vector<std::uint64_t> query_begin{0};
  };
  auto arrays = std::make_shared<Arrays>();
  Rng rng({.seed = seed});
  for (std::uint32_t query = 0; query < queries; ++query) {
    const std::uint32_t docs = shape.docs[query % shape.docs.size()];
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      for (std::uint32_t feature = 0; feature < shape.features; ++feature) {
        const double value = shape.levels == 0
                                 ? rng.uniform() - 0.5
                                 : static_cast<double>(rng.below(shape.levels)) / shape.levels;
        arrays->rows.push_back(shape.scale * static_cast<float>(value));
      }
      // Every third query has nothing relevant.
      arrays->labels.push_back(static_cast<std::uint8_t>(query % 3 == 1 ? 0 : rng.below(5)));
    }
    arrays->query_begin.push_back(arrays->labels.size());
  }
  return wrap_split({.rows = arrays->rows.data(),
                     .stride = shape.features,
                     .feature_count = shape.features,
                     .labels = arrays->labels,
                     .query_begin = arrays->query_begin,
                     .owner = arrays})
      .value();
}

Dataset make_dataset(const Shape& shape) {
  auto data = wrap_dataset(
      {.name = "odd", .train = make_split(shape, 40, 1), .test = make_split(shape, 25, 2)});
  data->max_label = 4;
  return std::move(data).value();
}

SimulationSpec tiny_spec() {
  SimulationSpec spec;
  spec.runs = 3;
  spec.impressions = 150;
  spec.click_model = "informational";
  return spec;
}

Result<std::map<std::uint32_t, RunRecord>> run_all_on(Backend& backend,
                                                      const Simulation& simulation) {
  const std::vector<Simulation> simulations{simulation};
  std::map<std::uint32_t, RunRecord> records;
  auto done = run_jobs({simulations, run_major(simulations)}, backend, {},
                       [&](const Job& job, RunRecord record) -> Result<void> {
                         records.emplace(job.run, std::move(record));
                         return {};
                       });
  if (!done) return done.error();
  return records;
}

void expect_same(const RunRecord& record, const RunRecord& expected) {
  EXPECT_EQ(record.run, expected.run);
  EXPECT_EQ(record.fold, expected.fold);
  ASSERT_EQ(record.curve.size(), expected.curve.size());
  for (std::size_t point = 0; point < record.curve.size(); ++point) {
    SCOPED_TRACE(fmt::format("point {}", point));
    EXPECT_EQ(record.curve[point].impression, expected.curve[point].impression);
    EXPECT_EQ(record.curve[point].online, expected.curve[point].online);
    EXPECT_EQ(record.curve[point].offline, expected.curve[point].offline);
  }
}

void expect_the_engines_bits(const Dataset& data, const SimulationSpec& spec, Backend& backend) {
  const auto simulation = Simulation::prepare(data, spec);
  ASSERT_TRUE(simulation.ok()) << simulation.error().message;
  const auto records = run_all_on(backend, *simulation);
  ASSERT_TRUE(records.ok()) << records.error().message;
  ASSERT_EQ(records->size(), spec.runs);
  for (const auto& [run, record] : *records) {
    SCOPED_TRACE(fmt::format("run {}", run));
    expect_same(record, simulation->run(run, {}).value());
  }
}

// The GPU's tests are skipped where there is none.
class EngineBits : public ::testing::TestWithParam<Where> {
 protected:
  void SetUp() override {
    if (!engine_fuses()) GTEST_SKIP() << "the kernels for " << kernels().name << " do not fuse";
    if (GetParam() == Where::kHost) {
      backend_ = host_backend();
      return;
    }
    auto gpu = open_gpu();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    backend_ = make_device_backend(std::move(gpu).value());
  }

  void expect_bits(const Dataset& data, const SimulationSpec& spec) {
    expect_the_engines_bits(data, spec, *backend_);
  }

  std::unique_ptr<DeviceBackend> backend_;
};

INSTANTIATE_TEST_SUITE_P(On, EngineBits, ::testing::Values(Where::kHost, Where::kGpu),
                         [](const auto& where) {
                           return std::string(where.param == Where::kHost ? "Host" : "Gpu");
                         });

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
  if (GetParam() != Where::kHost) return;
  backend_ = host_backend({.free_bytes = std::uint64_t{1} << 30,
                           .shared_bytes = 32 << 10,
                           .all_shared_bytes = 6 << 10,
                           .processors = 2});
  expect_bits(data, tiny_spec());
}

TEST_P(EngineBits, AreKeptForEqualScores) {
  for (const std::uint32_t levels : {1, 2, 3}) {
    SCOPED_TRACE(levels);
    expect_bits(make_dataset({.features = 2, .levels = levels}), tiny_spec());
  }
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

TEST_P(EngineBits, AreThoseOfTheParameters) {
  const Dataset data = make_dataset({.features = 33});
  SimulationSpec spec = tiny_spec();
  spec.protocol = Protocol::kPublished;
  const std::vector<Simulation> simulations{Simulation::prepare(data, spec).value()};
  const auto learned_by = [&](Backend& backend) {
    std::map<std::uint32_t, std::pair<std::vector<float>, LearnerState>> learned;
    Watch watch;
    watch.learned = [&](std::uint32_t run, std::unique_ptr<Learner> learner) {
      auto& [parameters, state] = learned[run];
      parameters.resize(learner->ranker().parameter_count());
      learner->ranker().get_parameters(parameters);
      state = learner->state();
    };
    const auto done = run_jobs({simulations, run_major(simulations)}, backend, watch,
                               [](const Job&, const RunRecord&) { return Result<void>(); });
    EXPECT_TRUE(done.ok());
    return learned;
  };
  ThreadBackend threads(1);
  const auto expected = learned_by(threads);
  const auto learned = learned_by(*backend_);
  ASSERT_EQ(learned.size(), 3U);
  for (const auto& [run, of_run] : learned) {
    EXPECT_EQ(of_run.first, expected.at(run).first);
    EXPECT_EQ(of_run.second.updates, expected.at(run).second.updates);
    EXPECT_EQ(of_run.second.learning_rate, expected.at(run).second.learning_rate);
    EXPECT_GT(of_run.second.updates, 0U);
  }
}

TEST_P(EngineBits, AreNotGivenForAScoreThatIsNotFinite) {
  const Dataset data = make_dataset({.scale = 1e18F});
  SimulationSpec spec = tiny_spec();
  spec.settings = {{"learning-rate", "1e15"}};
  const Simulation simulation = Simulation::prepare(data, spec).value();
  const auto expected = simulation.run(0, {});
  ASSERT_FALSE(expected.ok());
  const auto records = run_all_on(*backend_, simulation);
  ASSERT_FALSE(records.ok());
  EXPECT_EQ(records.error().message, expected.error().message);
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
  const auto backend = host_backend({.free_bytes = (std::uint64_t{300} << 20) + 2 * one_fold,
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
  EXPECT_THAT(records.error().message, HasSubstr("bytes of its memory; 1000 are free"));
}

TEST(GpuBackend, SaysWhatItCannotDo) {
  const Dataset data = make_dataset({});
  const auto refused = [&](const SimulationSpec& spec) {
    const auto checked = host_backend()->check(Simulation::prepare(data, spec).value());
    return checked ? std::string("nothing") : checked.error().message;
  };
  SimulationSpec spec = tiny_spec();
  EXPECT_EQ(refused(spec), "nothing");
  spec.method = "dbgd";
  EXPECT_EQ(refused(spec),
            "DBGD (linear) under informational: no device does method dbgd, only pdgd; device cpu "
            "or auto does");
  spec = tiny_spec();
  spec.ranker.kind = RankerKind::kNeural;
  EXPECT_THAT(refused(spec), HasSubstr("neural rankers, only linear ones"));
  spec = tiny_spec();
  spec.settings = {{"weight-decay", "0.01"}};
  EXPECT_THAT(refused(spec), HasSubstr("weight-decay"));
  spec.settings = {{"restart", "20"}};
  EXPECT_THAT(refused(spec), HasSubstr("restart"));
  spec = tiny_spec();
  spec.metrics = {"MAP"};
  EXPECT_THAT(refused(spec), HasSubstr("metrics besides NDCG@10"));
}

TEST(SharedBackend, LeavesToThreadsWhatTheDeviceCannotDo) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations{Simulation::prepare(data, tiny_spec()).value()};
  SimulationSpec spec = tiny_spec();
  spec.method = "dbgd";
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

}  // namespace
}  // namespace plackett::gpu
