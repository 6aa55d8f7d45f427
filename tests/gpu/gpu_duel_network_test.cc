// DBGD's and MGD's kernels for networks against the engine's runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/engine_bits.h"
#include "gpu/network_candidates.h"
#include "gpu/network_parameters.h"
#include "plackett/make_user.h"
#include "plackett/method_entry.h"

namespace plackett::gpu {
namespace {

class NetworkDuelBits : public EngineBits {};
INSTANTIATE_TEST_SUITE_P(On, NetworkDuelBits, devices(), device_name);

struct Bandit {
  std::string_view method = "dbgd";
  std::vector<GivenSetting> settings = {};
};

std::vector<Bandit> bandits() {
  return {{"dbgd"},
          {"dbgd", {{"interleaving", "team-draft"}}},
          {"mgd", {{"candidates", "9"}}},
          {"mgd", {{"candidates", "3"}, {"interleaving", "team-draft"}}}};
}

SimulationSpec tiny_bandit(const Bandit& bandit = {}, RankerKind kind = RankerKind::kNeural,
                           std::uint32_t units = 20) {
  SimulationSpec spec = tiny_spec();
  spec.runs = 2;
  spec.impressions = 40;
  spec.method = bandit.method;
  spec.settings = bandit.settings;
  spec.ranker.kind = kind;
  spec.ranker.hidden = {units};
  return spec;
}

// So many that a GPU divides units among warps, too: beside queries that it does not.
TEST_P(NetworkDuelBits, AreKeptForFewDocumentsOfManyFeatures) {
  SimulationSpec spec = tiny_spec();
  apply(parse_method_entry("dbgd:neural").value(), spec);
  spec.impressions = 30;
  expect_bits(make_dataset({.features = 260, .docs = {1, 9, 17, 33, 48, 150}}), spec);
}

TEST_P(NetworkDuelBits, AreKeptForAnyNumberOfFeaturesAndUnits) {
  for (const std::uint32_t features : {1, 2, 3, 15, 16, 17, 46, 136}) {
    for (const std::uint32_t units : {1, 16, 33, 64, 100}) {
      SCOPED_TRACE(fmt::format("{} features, {} units", features, units));
      SimulationSpec spec = tiny_bandit({}, kNetworks[(features + units) % 2], units);
      spec.impressions = 30;
      spec.runs = 1;
      expect_bits(make_dataset({.features = features, .docs = {1, 9, 33, 113, 128}}), spec);
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForAsManyDocumentsAsABlocksWarpsDivideByUnits) {
  for (const auto& [warps, docs] : few_docs_cases()) {
    use_blocks_of(warps);
    const Dataset data = make_dataset({.features = 35, .docs = docs});
    for (const std::uint32_t units : {1, 16, 17, 64, 65, 100}) {
      for (const Activation activation :
           {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
        for (const RankerKind kind : kNetworks) {
          SCOPED_TRACE(fmt::format("{} warps, {} units, {} {}", warps, units, name_of(activation),
                                   name_of(kind)));
          SimulationSpec spec = tiny_bandit(bandits()[units % 3], kind, units);
          spec.ranker.activation = activation;
          spec.runs = 3;
          spec.impressions = 30;
          expect_bits(data, spec);
        }
      }
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForEveryActivation) {
  const Dataset data = make_dataset({.features = 7});
  for (const Bandit& bandit : bandits()) {
    for (const RankerKind kind : kNetworks) {
      for (const Activation activation :
           {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
        SCOPED_TRACE(fmt::format("{} {} {}", bandit.method, name_of(kind), name_of(activation)));
        SimulationSpec spec = tiny_bandit(bandit, kind);
        spec.ranker.activation = activation;
        expect_bits(data, spec);
      }
    }
  }
}

// Directions of several candidates share groups of normals where parameters are no multiple of 64.
TEST_P(NetworkDuelBits, AreKeptForAnyNumberOfCandidates) {
  const Dataset data = make_dataset({});
  for (const std::string_view interleaving : {"probabilistic", "team-draft"}) {
    for (const std::string_view candidates : {"1", "2", "10", "33", "49"}) {
      SCOPED_TRACE(fmt::format("{} {}", interleaving, candidates));
      const Bandit bandit{
          "mgd",
          {{"candidates", std::string(candidates)}, {"interleaving", std::string(interleaving)}}};
      SimulationSpec spec = tiny_bandit(bandit, RankerKind::kLinearPlusNeural, 3);
      spec.impressions = 20;
      expect_bits(data, spec);
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForEveryClickModelAndProtocol) {
  const Dataset data = make_dataset({});
  for (const Bandit& bandit : bandits()) {
    for (const std::string_view model : click_model_names()) {
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{} {} {}", bandit.method, model, name_of(protocol)));
        SimulationSpec spec = tiny_bandit(bandit);
        spec.click_model = model;
        spec.protocol = protocol;
        expect_bits(data, spec);
      }
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForListsOfAnyLength) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120}});
  for (const Bandit& bandit : bandits()) {
    for (const std::uint32_t shown : {1, 2, 3, 10, 13, 33, 100}) {
      SCOPED_TRACE(fmt::format("{} {}", bandit.method, shown));
      SimulationSpec spec = tiny_bandit(bandit, kNetworks[shown % 2]);
      spec.impressions = 20;
      spec.shown = shown;
      spec.click_model = "position-based";
      spec.protocol = shown % 3 == 0 ? Protocol::kPublished : Protocol::kDescribed;
      expect_bits(data, spec);
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForEqualScores) {
  for (const Bandit& bandit : bandits()) {
    for (const std::uint32_t levels : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} {}", bandit.method, levels));
      SimulationSpec spec = tiny_bandit(bandit, kNetworks[levels % 2]);
      spec.protocol = levels == 2 ? Protocol::kPublished : Protocol::kDescribed;
      expect_bits(
          make_dataset(
              {.features = 2, .docs = {1, 2, 31, 32, 33, 64, 65, 127, 129, 150}, .levels = levels}),
          spec);
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForScoresFarApart) {
  for (const float scale : {10.0F, 1e5F}) {
    for (const Activation activation : {Activation::kSigmoid, Activation::kRelu}) {
      SCOPED_TRACE(scale);
      SimulationSpec spec = tiny_bandit({"mgd", {{"candidates", "5"}}});
      spec.ranker.activation = activation;
      expect_bits(make_dataset({.scale = scale}), spec);
    }
  }
}

TEST_P(NetworkDuelBits, AreKeptForTheShapeOfMslr) {
  SimulationSpec spec = tiny_bandit({}, RankerKind::kNeural, 64);
  spec.runs = 1;
  const Dataset data = make_dataset({.features = 136, .docs = {125}});
  expect_bits(data, spec);
  spec.ranker.kind = RankerKind::kLinearPlusNeural;
  expect_bits(data, spec);
}

TEST_P(NetworkDuelBits, AreKeptForManyDocuments) {
  const Dataset data = make_dataset({.docs = {300, 1, 1251}});
  for (const Bandit& bandit : bandits()) {
    SCOPED_TRACE(bandit.method);
    SimulationSpec spec = tiny_bandit(bandit);
    spec.impressions = 12;
    expect_bits(data, spec);
    if (!is_on_host()) continue;
    // With so little shared memory that most queries' scratch is elsewhere.
    backend_ = host_backend({.free_bytes = std::uint64_t{1} << 30,
                             .shared_bytes = 32 << 10,
                             .all_shared_bytes = 16 << 10,
                             .processors = 2},
                            order());
    expect_bits(data, spec);
    SetUp();
  }
}

TEST_P(NetworkDuelBits, AreKeptForEverySetting) {
  const Dataset data = make_dataset({});
  for (const Bandit& bandit : bandits()) {
    SCOPED_TRACE(bandit.method);
    SimulationSpec spec = tiny_bandit(bandit);
    spec.settings.push_back({"learning-rate", "0.7"});
    spec.learning_rate_decay = 0.99;
    spec.no_relevant = NoRelevant::kSkip;
    spec.seed = ~std::uint64_t{0} - 3;
    expect_bits(data, spec);
  }
}

TEST_P(NetworkDuelBits, AreThoseOfTheParameters) {
  const Dataset data = make_dataset({.features = 33});
  for (const Bandit& bandit : bandits()) {
    for (const RankerKind kind : kNetworks) {
      for (const std::uint32_t units : {20, 32}) {  // rows with padding and without
        SCOPED_TRACE(fmt::format("{} {} {}", bandit.method, name_of(kind), units));
        SimulationSpec spec = tiny_bandit(bandit, kind, units);
        spec.impressions = 200;
        spec.protocol = Protocol::kPublished;
        expect_parameters(data, spec);
      }
    }
  }
}

TEST_P(NetworkDuelBits, AreNotGivenForAScoreThatIsNotFinite) {
  SimulationSpec spec =
      tiny_bandit({"mgd", {{"learning-rate", "1e30"}}}, RankerKind::kLinearPlusNeural);
  expect_the_same_failure(make_dataset({.scale = 1e15F}), spec);
  spec.ranker.kind = RankerKind::kNeural;
  spec.ranker.activation = Activation::kRelu;
  expect_the_same_failure(make_dataset({.scale = 1e15F}), spec);
}

// Runs that the device leaves are done by the engine.
TEST_P(NetworkDuelBits, AreKeptWhereRoundingCouldDecideADuel) {
  if (!is_on_host()) GTEST_SKIP() << "the host's device can be told to doubt";
  const Dataset data = make_dataset({});
  SimulationSpec spec = tiny_bandit({"mgd", {{"candidates", "9"}}});
  spec.protocol = Protocol::kPublished;
  auto device = std::make_unique<HostDevice>(order());
  const HostDevice* host = device.get();
  const auto backend = make_device_backend(std::move(device), 1.0);
  expect_the_engines_bits(data, spec, *backend);
  EXPECT_EQ(host->runs_in_doubt(), spec.runs);
}

TEST_P(NetworkDuelBits, AreKeptForRankersInOneBatch) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations;
  for (std::uint32_t at = 0; at < 6; ++at) {
    SimulationSpec spec = tiny_bandit(bandits()[at % 4], kNetworks[at % 2], 16 + at % 3);
    if (at == 4) spec.ranker.kind = RankerKind::kLinear;
    if (at == 5) spec.method = "pdgd", spec.settings = {};
    spec.seed = at;
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

TEST(ParameterPlaces, AreWherePackedParametersLie) {
  for (const bool has_linear : {false, true}) {
    for (const std::uint32_t units : {1, 7, 16, 20, 64, 999}) {
      const std::uint32_t features = 53;
      const NetworkLayout layout(padded_width(features), units, Activation::kTanh, has_linear);
      const std::uint32_t count = (has_linear ? features : 0) + features * units + 2 * units;
      std::vector<float> values;
      for (std::uint32_t at = 0; at < count; ++at) values.push_back(1.0F + static_cast<float>(at));
      const std::vector<float> packed = pack_network(layout, features, NetworkPart::kAll, values);
      const ParameterPlaces place_of(layout, features);
      for (std::uint32_t at = 0; at < count; ++at) {
        EXPECT_EQ(packed[place_of(at)], 1.0F + static_cast<float>(at));
      }
    }
  }
}

}  // namespace
}  // namespace plackett::gpu
