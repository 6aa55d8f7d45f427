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
  if (!is_on_host()) return;
  backend_ = host_backend(little_shared_memory(), order());
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

// DBGD and MGD.
class DuelBits : public EngineBits {};
INSTANTIATE_TEST_SUITE_P(On, DuelBits, devices(), device_name);

struct Duels {
  std::string_view method = "dbgd";
  std::vector<GivenSetting> settings = {};
};

// One group of candidates, a part of one, and several.
std::vector<Duels> few_and_many() {
  return {{"dbgd"},
          {"dbgd", {{"interleaving", "team-draft"}}},
          {"mgd", {{"candidates", "9"}}},
          {"mgd", {{"candidates", "3"}, {"interleaving", "team-draft"}}},
          {"dbgd", {{"projection", "documents"}}},
          {"mgd", {{"candidates", "33"}}},
          {"mgd", {{"candidates", "12"}, {"projection", "documents"}}}};
}

SimulationSpec tiny_duels(const Duels& duels) {
  SimulationSpec spec = tiny_spec();
  spec.runs = 2;
  spec.impressions = 60;
  spec.method = duels.method;
  spec.settings = duels.settings;
  return spec;
}

TEST_P(DuelBits, AreKeptForAnyNumberOfFeatures) {
  for (const Duels& duels : few_and_many()) {
    for (const std::uint32_t features : {1, 15, 16, 17, 46, 136}) {
      SCOPED_TRACE(fmt::format("{} {}", duels.method, features));
      expect_bits(make_dataset({.features = features}), tiny_duels(duels));
    }
  }
}

TEST_P(DuelBits, AreKeptForAnyNumberOfCandidates) {
  const Dataset data = make_dataset({});
  for (const std::string_view interleaving : {"probabilistic", "team-draft"}) {
    for (const std::string_view candidates : {"1", "2", "8", "9", "10", "32", "49", "100"}) {
      SCOPED_TRACE(fmt::format("{} {}", interleaving, candidates));
      expect_bits(data, tiny_duels({"mgd",
                                    {{"candidates", std::string(candidates)},
                                     {"interleaving", std::string(interleaving)}}}));
    }
  }
}

TEST_P(DuelBits, AreKeptForEveryClickModelAndProtocol) {
  const Dataset data = make_dataset({});
  for (const Duels& duels : few_and_many()) {
    for (const std::string_view model : click_model_names()) {
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{} {}", duels.method, model));
        SimulationSpec spec = tiny_duels(duels);
        spec.click_model = model;
        spec.protocol = protocol;
        expect_bits(data, spec);
      }
    }
  }
}

TEST_P(DuelBits, AreKeptForListsOfAnyLength) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120}});
  for (const Duels& duels : few_and_many()) {
    for (const std::uint32_t shown : {1, 2, 3, 10, 13, 33, 100}) {
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{} {}", duels.method, shown));
        SimulationSpec spec = tiny_duels(duels);
        spec.impressions = 20;
        spec.shown = shown;
        spec.click_model = "position-based";
        spec.protocol = protocol;
        expect_bits(data, spec);
      }
    }
  }
}

// On a GPU so many runs that warps do them.
TEST_P(DuelBits, AreKeptByWarpsAndByBlocks) {
  for (const std::uint32_t by_block : {0, 4}) {
    SCOPED_TRACE(by_block);
    SimulationSpec spec = tiny_duels({"dbgd"});
    spec.runs = is_on_host() ? 3 : by_block == 0 ? 4'000 : 3;
    spec.impressions = 40;
    DeviceLimits limits = HostDevice().limits().value();
    limits.duels_by_block = by_block;
    if (is_on_host()) backend_ = host_backend(limits, order());
    expect_bits(make_dataset({}), spec);
  }
}

// Weights of 0, with which the first impressions begin, make all scores equal too.
TEST_P(DuelBits, AreKeptForEqualScores) {
  for (const Duels& duels : few_and_many()) {
    for (const std::uint32_t levels : {1, 2, 3}) {
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{} {}", duels.method, levels));
        SimulationSpec spec = tiny_duels(duels);
        spec.protocol = protocol;
        expect_bits(make_dataset({.features = 2,
                                  .docs = {1, 2, 31, 32, 33, 64, 65, 127, 129, 150},
                                  .levels = levels}),
                    spec);
      }
    }
  }
}

TEST_P(DuelBits, AreKeptForEverySetting) {
  const Dataset data = make_dataset({});
  for (const Duels& duels : few_and_many()) {
    SCOPED_TRACE(duels.method);
    SimulationSpec spec = tiny_duels(duels);
    spec.settings.push_back({"learning-rate", "0.7"});
    spec.learning_rate_decay = 0.99;
    spec.seed = ~std::uint64_t{0} - 3;
    expect_bits(data, spec);
  }
}

TEST_P(DuelBits, AreKeptForScoresFarApart) {
  for (const float scale : {100.0F, 1e5F, 1e15F}) {
    SCOPED_TRACE(scale);
    expect_bits(make_dataset({.scale = scale}), tiny_duels({"mgd"}));
  }
}

TEST_P(DuelBits, AreKeptForManyDocuments) {
  const Dataset data = make_dataset({.docs = {300, 1, 1251}});
  for (const Duels& duels : few_and_many()) {
    SCOPED_TRACE(duels.method);
    SimulationSpec spec = tiny_duels(duels);
    spec.impressions = 12;
    expect_bits(data, spec);
    if (!is_on_host()) continue;
    backend_ = host_backend(little_shared_memory(), order());
    expect_bits(data, spec);
    SetUp();
  }
}

// From one product of a warp to several, weights staged at once and in parts.
TEST_P(DuelBits, AreKeptWhateverIsStaged) {
  const std::vector<std::uint32_t> few{1, 15, 16, 17, 33};
  for (const std::string_view candidates : {"2", "7", "8", "49", "50"}) {
    SCOPED_TRACE(candidates);
    SimulationSpec spec = tiny_duels({"mgd", {{"candidates", std::string(candidates)}}});
    spec.impressions = 12;
    for (const std::uint32_t runs :
         {2, 3, 6}) {  // in descending order: with 16, 8 and 5 warps each
      spec.runs = runs;
      expect_bits(make_dataset({.features = 136, .docs = few}), spec);
    }
    spec.impressions = 8;
    expect_bits(make_dataset({.features = 700, .docs = few}), spec);
    if (!is_on_host()) continue;
    backend_ = host_backend(little_shared_memory(), order());
    expect_bits(make_dataset({.features = 700, .docs = {1, 16, 40, 130}}), spec);
    SetUp();
  }
}

TEST_P(DuelBits, AreKeptOnFolds) {
  const Dataset data = load_dataset("synthetic", LoadOptions()).value();
  SimulationSpec spec = tiny_duels({"mgd"});
  spec.runs = static_cast<std::uint32_t>(data.folds.size()) + 1;
  expect_bits(data, spec);
}

TEST_P(DuelBits, AreThoseOfTheParameters) {
  for (const Duels& duels : few_and_many()) {
    SCOPED_TRACE(duels.method);
    SimulationSpec spec = tiny_duels(duels);
    spec.impressions = 300;
    spec.protocol = Protocol::kPublished;
    expect_parameters(make_dataset({.features = 33}), spec);
  }
}

TEST_P(DuelBits, AreNotGivenForAScoreThatIsNotFinite) {
  const Duels huge{"mgd", {{"learning-rate", "1e30"}}};
  expect_the_same_failure(make_dataset({.scale = 1e15F}), tiny_duels(huge));
}

// Runs that the device leaves are done by the engine.
TEST_P(DuelBits, AreKeptWhereRoundingCouldDecideADuel) {
  if (!is_on_host()) GTEST_SKIP() << "the host's device can be told to doubt";
  const Dataset data = make_dataset({});
  SimulationSpec spec = tiny_duels({"mgd", {{"candidates", "9"}}});
  spec.runs = 12;
  spec.protocol = Protocol::kPublished;
  std::size_t left = 0;
  for (const double normal_error : {1e-4, 1e-3, 1.0}) {
    auto device = std::make_unique<HostDevice>(order());
    const HostDevice* host = device.get();
    const auto backend = make_device_backend(std::move(device), normal_error);
    expect_the_engines_bits(data, spec, *backend);
    EXPECT_GE(host->runs_in_doubt(), left);
    left = host->runs_in_doubt();
  }
  EXPECT_EQ(left, spec.runs);
}

TEST_P(EngineBits, AreKeptForMethodsInOneBatch) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations;
  for (const std::string_view method : {"pdgd", "pairwise", "mgd", "pdgd", "dbgd", "pairwise"}) {
    SimulationSpec spec = tiny_spec();
    spec.method = method;
    spec.seed = simulations.size();
    if (method == "mgd") spec.settings = {{"candidates", "4"}};
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
  EXPECT_EQ(count, 18U);
}

}  // namespace
}  // namespace plackett::gpu
