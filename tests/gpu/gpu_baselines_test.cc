// The baselines' kernels against the engine's runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/engine_bits.h"
#include "plackett/make_user.h"

namespace plackett::gpu {
namespace {

class PairwiseBits : public EngineBits {};
INSTANTIATE_TEST_SUITE_P(On, PairwiseBits, devices(), device_name);

SimulationSpec tiny_pairwise() {
  SimulationSpec spec = tiny_spec();
  spec.method = "pairwise";
  return spec;
}

TEST_P(PairwiseBits, AreKeptForAnyNumberOfFeatures) {
  for (const std::uint32_t features : {1, 15, 16, 17, 46, 136}) {
    SCOPED_TRACE(features);
    expect_bits(make_dataset({.features = features}), tiny_pairwise());
  }
}

TEST_P(PairwiseBits, AreKeptForEveryClickModelAndProtocol) {
  const Dataset data = make_dataset({});
  for (const std::string_view model : click_model_names()) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      SCOPED_TRACE(model);
      SimulationSpec spec = tiny_pairwise();
      spec.click_model = model;
      spec.protocol = protocol;
      expect_bits(data, spec);
    }
  }
}

TEST_P(PairwiseBits, AreKeptForListsOfAnyLength) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120, 300}});
  for (const std::uint32_t shown : {1, 2, 3, 10, 13, 33, 100}) {
    SCOPED_TRACE(shown);
    SimulationSpec spec = tiny_pairwise();
    spec.shown = shown;
    spec.click_model = "position-based";
    expect_bits(data, spec);
  }
}

TEST_P(PairwiseBits, AreKeptForEqualScores) {
  for (const std::uint32_t levels : {1, 2, 3}) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      SCOPED_TRACE(levels);
      SimulationSpec spec = tiny_pairwise();
      spec.protocol = protocol;
      spec.settings = {{"epsilon", "0.1"}};
      expect_bits(make_dataset({.features = 2, .docs = {2, 31, 32, 33, 65, 120}, .levels = levels}),
                  spec);
    }
  }
}

TEST_P(PairwiseBits, AreKeptForEverySetting) {
  const Dataset data = make_dataset({});
  const std::vector<std::vector<GivenSetting>> all{
      {{"learning-rate", "0.7"}}, {{"epsilon", "0"}}, {{"epsilon", "1"}}};
  for (const auto& settings : all) {
    for (const double decay : {0.0, 0.99}) {
      SCOPED_TRACE(settings.front().name);
      SimulationSpec spec = tiny_pairwise();
      spec.settings = settings;
      spec.learning_rate_decay = decay;
      expect_bits(data, spec);
    }
  }
}

// With so little shared memory that most queries' scratch is elsewhere.
DeviceLimits little_shared_memory() {
  return {.free_bytes = std::uint64_t{1} << 30,
          .shared_bytes = 32 << 10,
          .all_shared_bytes = 6 << 10,
          .processors = 2};
}

TEST_P(PairwiseBits, AreKeptForManyDocuments) {
  const Dataset data = make_dataset({.docs = {300, 1, 1251}});
  expect_bits(data, tiny_pairwise());
  if (GetParam() != Where::kHost) return;
  backend_ = host_backend(little_shared_memory());
  expect_bits(data, tiny_pairwise());
}

TEST_P(PairwiseBits, AreThoseOfTheParameters) {
  SimulationSpec spec = tiny_pairwise();
  spec.protocol = Protocol::kPublished;
  expect_parameters(make_dataset({.features = 33}), spec);
}

TEST_P(PairwiseBits, AreNotGivenForAScoreThatIsNotFinite) {
  SimulationSpec spec = tiny_pairwise();
  spec.settings = {{"learning-rate", "1e15"}};
  expect_the_same_failure(make_dataset({.scale = 1e18F}), spec);
}

TEST_P(EngineBits, AreKeptForMethodsInOneBatch) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations;
  for (const std::string_view method : {"pdgd", "pairwise", "pdgd", "pairwise"}) {
    SimulationSpec spec = tiny_spec();
    spec.method = method;
    spec.seed = simulations.size();
    simulations.push_back(Simulation::prepare(data, spec).value());
  }
  std::size_t count = 0;
  const auto done =
      run_jobs({simulations, run_major(simulations)}, *backend_, {},
               [&](const Job& job, const RunRecord& record) -> Result<void> {
                 ++count;
                 expect_same(record, simulations[job.simulation].run(job.run, {}).value());
                 return {};
               });
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(count, 12U);
}

}  // namespace
}  // namespace plackett::gpu
