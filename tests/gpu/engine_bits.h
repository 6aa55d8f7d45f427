// Holds a device's runs to the engine's own: the same bits.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/kernels.h"
#include "gpu/gpu_backend.h"
#include "gpu/host_device.h"
#include "plackett/simulate.h"
#include "plackett/wrap.h"

namespace plackett::gpu {

// Where the kernels run: on the host, with lanes and warps in either order, or on a GPU.
enum class Where : std::uint8_t { kHost, kHostDescending, kGpu };

inline std::unique_ptr<DeviceBackend> host_backend(const DeviceLimits& limits,
                                                   HostOrder order = HostOrder::kAscending) {
  return make_device_backend(std::make_unique<HostDevice>(limits, order));
}
inline std::unique_ptr<DeviceBackend> host_backend() {
  return make_device_backend(std::make_unique<HostDevice>());
}

inline constexpr RankerKind kNetworks[] = {RankerKind::kNeural, RankerKind::kLinearPlusNeural};

// Of a block of a network's run: its warps divide queries with fewer batches of 16 documents than
// warps in other parts.
struct FewDocsCase {
  std::uint32_t warps = 0;
  std::vector<std::uint32_t> docs;  // of queries, to either side of where parts change
};
inline std::vector<FewDocsCase> few_docs_cases() {
  return {{kNetworkWarps, {1, 8, 9, 15, 16, 17, 24, 25, 32, 33, 48, 49}},
          {kManyWarps, {1, 15, 16, 17, 24, 25, 33, 64, 65, 112, 113}}};
}

// Where the engine does not fuse, its bits are others.
inline bool engine_fuses() { return kernels().name == "avx2" || kernels().name == "avx512"; }

struct Shape {
  std::uint32_t features = 5;
  std::vector<std::uint32_t> docs = {1, 2, 9, 10, 11, 16, 17, 32, 33};  // of the queries in turn
  std::uint32_t levels = 0;  // that features have; few make equal scores. 0: any value
  float scale = 1;           // of features
  std::uint32_t grades = 5;  // that labels have; 1: nothing is relevant
};

inline Split make_split(const Shape& shape, std::uint32_t queries, std::uint64_t seed) {
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
      arrays->labels.push_back(
          static_cast<std::uint8_t>(query % 3 == 1 ? 0 : rng.below(shape.grades)));
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

inline Dataset make_dataset(const Shape& shape) {
  auto data = wrap_dataset(
      {.name = "odd", .train = make_split(shape, 40, 1), .test = make_split(shape, 25, 2)});
  data->max_label = 4;
  return std::move(data).value();
}

inline SimulationSpec tiny_spec() {
  SimulationSpec spec;
  spec.runs = 3;
  spec.impressions = 150;
  spec.click_model = "informational";
  return spec;
}

inline Result<std::map<std::uint32_t, RunRecord>> run_all_on(Backend& backend,
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

inline void expect_same(const RunRecord& record, const RunRecord& expected) {
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

inline void expect_the_engines_bits(const Dataset& data, const SimulationSpec& spec,
                                    Backend& backend) {
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
    if (is_on_host()) {
      backend_ = make_device_backend(std::make_unique<HostDevice>(order()));
      return;
    }
    auto gpu = open_gpu();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    backend_ = make_device_backend(std::move(gpu).value());
  }

  static bool is_on_host() { return GetParam() != Where::kGpu; }
  static HostOrder order() {
    return GetParam() == Where::kHost ? HostOrder::kAscending : HostOrder::kDescending;
  }

  void expect_bits(const Dataset& data, const SimulationSpec& spec) {
    expect_the_engines_bits(data, spec, *backend_);
  }

  // For networks' blocks of so many warps, on the host: with three runs.
  void use_blocks_of(std::uint32_t warps) {
    DeviceLimits limits = HostDevice().limits().value();
    limits.processors = warps == kManyWarps ? 132 : 1;
    if (is_on_host()) backend_ = host_backend(limits, order());
  }

  // Those of the learned parameters and of what else the learner keeps.
  void expect_parameters(const Dataset& data, const SimulationSpec& spec) {
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
    ASSERT_EQ(learned.size(), spec.runs);
    for (const auto& [run, of_run] : learned) {
      EXPECT_EQ(of_run.first, expected.at(run).first);
      EXPECT_EQ(of_run.second.updates, expected.at(run).second.updates);
      EXPECT_EQ(of_run.second.learning_rate, expected.at(run).second.learning_rate);
      EXPECT_EQ(of_run.second.memory, expected.at(run).second.memory);
      EXPECT_GT(of_run.second.updates, 0U);
    }
  }

  // Requires: a run whose scores become infinite.
  void expect_the_same_failure(const Dataset& data, const SimulationSpec& spec) {
    const Simulation simulation = Simulation::prepare(data, spec).value();
    const auto expected = simulation.run(0, {});
    ASSERT_FALSE(expected.ok());
    const auto records = run_all_on(*backend_, simulation);
    ASSERT_FALSE(records.ok());
    EXPECT_EQ(records.error().message, expected.error().message);
  }

  std::unique_ptr<DeviceBackend> backend_;
};

// For INSTANTIATE_TEST_SUITE_P.
inline auto devices() {
  return ::testing::Values(Where::kHost, Where::kHostDescending, Where::kGpu);
}
inline std::string device_name(const ::testing::TestParamInfo<Where>& where) {
  if (where.param == Where::kGpu) return "Gpu";
  return where.param == Where::kHost ? "Host" : "HostDescending";
}

}  // namespace plackett::gpu
