// PDGD's and the pairwise baseline's kernels for networks against the engine's runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "gpu/engine_bits.h"
#include "gpu/network_parameters.h"
#include "plackett/make_user.h"
#include "plackett/method_entry.h"

namespace plackett::gpu {

std::span<const EmbeddedFile> embedded_files();

namespace {

class NetworkBits : public EngineBits {};
INSTANTIATE_TEST_SUITE_P(On, NetworkBits, devices(), device_name);

SimulationSpec tiny_network(RankerKind kind = RankerKind::kNeural, std::uint32_t units = 20) {
  SimulationSpec spec = tiny_spec();
  spec.ranker.kind = kind;
  spec.ranker.hidden = {units};
  spec.runs = 2;
  return spec;
}

// So many that a GPU divides units among warps, too: beside queries that it does not.
TEST_P(NetworkBits, AreKeptForFewDocumentsOfManyFeatures) {
  for (const char* method : {"pdgd:neural", "pairwise:neural"}) {
    SCOPED_TRACE(method);
    SimulationSpec spec = tiny_spec();
    apply(parse_method_entry(method).value(), spec);
    spec.impressions = 40;
    expect_bits(make_dataset({.features = 260, .docs = {1, 9, 17, 33, 48, 150}}), spec);
  }
}

TEST_P(NetworkBits, AreKeptForAnyNumberOfFeaturesAndUnits) {
  for (const std::uint32_t features : {1, 2, 3, 15, 16, 17, 46, 136}) {
    for (const std::uint32_t units : {1, 16, 33, 64, 100}) {
      SCOPED_TRACE(fmt::format("{} features, {} units", features, units));
      SimulationSpec spec = tiny_network(kNetworks[(features + units) % 2], units);
      spec.impressions = 60;
      spec.runs = 1;
      expect_bits(make_dataset({.features = features, .docs = {1, 9, 33, 113, 128}}), spec);
    }
  }
}

TEST_P(NetworkBits, AreKeptForAsManyDocumentsAsABlocksWarpsDivideByUnits) {
  for (const auto& [warps, docs] : few_docs_cases()) {
    use_blocks_of(warps);
    const Dataset data = make_dataset({.features = 35, .docs = docs});
    for (const std::uint32_t units : {1, 16, 17, 64, 65, 100}) {
      for (const Activation activation :
           {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
        for (const RankerKind kind : kNetworks) {
          SCOPED_TRACE(fmt::format("{} warps, {} units, {} {}", warps, units, name_of(activation),
                                   name_of(kind)));
          SimulationSpec spec = tiny_network(kind, units);
          spec.ranker.activation = activation;
          spec.settings = {{"steps", units % 2 == 0 ? "constant" : "adagrad"}};
          spec.runs = 3;
          spec.impressions = 40;
          expect_bits(data, spec);
        }
      }
    }
  }
}

TEST_P(NetworkBits, AreKeptForEveryActivationAndKindOfSteps) {
  const Dataset data = make_dataset({.features = 7});
  for (const RankerKind kind : kNetworks) {
    for (const Activation activation :
         {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
      for (const std::string_view steps : {"constant", "adagrad", "forgetting"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(kind), name_of(activation), steps));
        SimulationSpec spec = tiny_network(kind);
        spec.ranker.activation = activation;
        spec.settings = {{"steps", std::string(steps)}};
        if (steps == "forgetting") spec.settings.push_back({"step-memory", "30"});
        expect_bits(data, spec);
      }
    }
  }
}

TEST_P(NetworkBits, AreKeptForEveryClickModelAndProtocol) {
  const Dataset data = make_dataset({});
  for (const std::string_view model : click_model_names()) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      for (const RankerKind kind : kNetworks) {
        SCOPED_TRACE(fmt::format("{} {} {}", model, name_of(protocol), name_of(kind)));
        SimulationSpec spec = tiny_network(kind);
        spec.click_model = model;
        spec.protocol = protocol;
        spec.impressions = 80;
        expect_bits(data, spec);
      }
    }
  }
}

TEST_P(NetworkBits, AreKeptForListsOfAnyLength) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120}});
  for (const std::uint32_t shown : {1, 2, 3, 10, 16, 17, 20, 21, 100}) {
    for (const RankerKind kind : kNetworks) {
      SCOPED_TRACE(fmt::format("{} shown, {}", shown, name_of(kind)));
      SimulationSpec spec = tiny_network(kind);
      spec.shown = shown;
      spec.click_model = "position-based";
      spec.settings = {{"steps", shown % 2 == 0 ? "constant" : "adagrad"}};
      expect_bits(data, spec);
    }
  }
}

TEST_P(NetworkBits, AreKeptForTheShapeOfMslr) {
  SimulationSpec spec = tiny_network(RankerKind::kNeural, 64);
  spec.impressions = 30;
  spec.runs = 1;
  const Dataset data = make_dataset({.features = 136, .docs = {125}});
  expect_bits(data, spec);
  spec.ranker.kind = RankerKind::kLinearPlusNeural;
  spec.settings = {{"steps", "adagrad"}};
  expect_bits(data, spec);
}

TEST_P(NetworkBits, AreKeptForManyDocuments) {
  const Dataset data = make_dataset({.docs = {300, 1, 1251}});
  SimulationSpec spec = tiny_network(RankerKind::kLinearPlusNeural);
  spec.runs = 1;
  expect_bits(data, spec);
  // With so little shared memory that most queries' scratch is elsewhere, and that few warps
  // measure.
  if (!is_on_host()) return;
  spec.shown = 30;
  const DeviceLimits limits{.free_bytes = std::uint64_t{1} << 30,
                            .shared_bytes = 32 << 10,
                            .all_shared_bytes = 16 << 10,
                            .processors = 2};
  backend_ = host_backend(limits, order());
  expect_bits(data, spec);
}

TEST_P(NetworkBits, AreKeptForEqualScores) {
  for (const std::uint32_t levels : {1, 2, 3}) {
    for (const RankerKind kind : kNetworks) {
      SCOPED_TRACE(levels);
      expect_bits(make_dataset({.features = 2, .levels = levels}), tiny_network(kind));
    }
  }
}

TEST_P(NetworkBits, AreKeptForScoresFarApart) {
  for (const float scale : {10.0F, 1000.0F}) {
    for (const Activation activation : {Activation::kSigmoid, Activation::kRelu}) {
      SCOPED_TRACE(scale);
      SimulationSpec spec = tiny_network();
      spec.ranker.activation = activation;
      spec.click_model = "random";
      expect_bits(make_dataset({.scale = scale}), spec);
    }
  }
  // Pairs whose weights vanish step nowhere, but AdaGrad's sums forget.
  SimulationSpec spec = tiny_network(RankerKind::kLinearPlusNeural);
  spec.settings = {{"steps", "forgetting"}, {"step-memory", "2"}, {"learning-rate", "50"}};
  spec.click_model = "random";
  expect_parameters(make_dataset({.scale = 1e3F}), spec);
}

TEST_P(NetworkBits, AreKeptForEverySettingThatItTakes) {
  const Dataset data = make_dataset({});
  const std::vector<std::vector<GivenSetting>> all{
      {{"learning-rate", "0.7"}}, {{"pairs", "above"}}, {{"sharpness", "3"}, {"steps", "adagrad"}}};
  for (const auto& settings : all) {
    SCOPED_TRACE(settings.front().name);
    SimulationSpec spec = tiny_network();
    spec.settings = settings;
    expect_bits(data, spec);
  }
  SimulationSpec spec = tiny_network(RankerKind::kLinearPlusNeural);
  spec.no_relevant = NoRelevant::kSkip;
  spec.learning_rate_decay = 0.99;
  spec.eta = 2;
  spec.click_model = "trust-bias";
  spec.seed = ~std::uint64_t{0} - 3;
  expect_bits(data, spec);
}

TEST_P(NetworkBits, AreThoseOfTheParametersAndOfWhatAdaGradKeeps) {
  const Dataset data = make_dataset({.features = 33});
  for (const RankerKind kind : kNetworks) {
    for (const std::string_view steps : {"constant", "adagrad", "forgetting"}) {
      for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(kind), steps, name_of(protocol)));
        SimulationSpec spec = tiny_network(kind);
        spec.protocol = protocol;
        spec.settings = {{"steps", std::string(steps)}};
        expect_parameters(data, spec);
      }
    }
  }
}

TEST_P(NetworkBits, AreNotGivenForAScoreThatIsNotFinite) {
  SimulationSpec spec = tiny_network(RankerKind::kLinearPlusNeural);
  spec.settings = {{"learning-rate", "1e15"}};
  expect_the_same_failure(make_dataset({.scale = 1e18F}), spec);
}

TEST_P(NetworkBits, AreKeptForRankersInOneBatch) {
  const Dataset data = make_dataset({});
  std::vector<Simulation> simulations;
  for (std::uint32_t at = 0; at < 6; ++at) {
    SimulationSpec spec = tiny_network(kNetworks[at % 2], 16 + at % 3);
    if (at > 3) spec.settings = {{"steps", "adagrad"}};
    if (at == 5) spec.ranker.kind = RankerKind::kLinear;
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

class PairwiseNetworkBits : public EngineBits {};
INSTANTIATE_TEST_SUITE_P(On, PairwiseNetworkBits, devices(), device_name);

SimulationSpec tiny_pairwise_network(RankerKind kind, std::uint32_t units = 20) {
  SimulationSpec spec = tiny_network(kind, units);
  spec.method = "pairwise";
  spec.settings = {{"epsilon", "0.3"}};
  spec.impressions = 60;
  return spec;
}

TEST_P(PairwiseNetworkBits, AreKeptForAnyNumberOfFeaturesAndUnits) {
  for (const std::uint32_t features : {1, 15, 16, 17, 136}) {
    for (const std::uint32_t units : {1, 16, 33, 64}) {
      SCOPED_TRACE(fmt::format("{} features, {} units", features, units));
      const auto spec = tiny_pairwise_network(kNetworks[(features + units) % 2], units);
      expect_bits(make_dataset({.features = features, .docs = {1, 9, 33, 113, 128}}), spec);
    }
  }
}

TEST_P(PairwiseNetworkBits, AreKeptForAsManyDocumentsAsABlocksWarpsDivideByUnits) {
  for (const auto& [warps, docs] : few_docs_cases()) {
    use_blocks_of(warps);
    for (const std::uint32_t units : {17, 64}) {
      SCOPED_TRACE(fmt::format("{} warps, {} units", warps, units));
      SimulationSpec spec = tiny_pairwise_network(kNetworks[units % 2], units);
      spec.runs = 3;
      expect_bits(make_dataset({.features = 35, .docs = docs}), spec);
    }
  }
}

TEST_P(PairwiseNetworkBits, AreKeptForEveryClickModelProtocolAndActivation) {
  const Dataset data = make_dataset({});
  for (const std::string_view model : click_model_names()) {
    for (const Activation activation :
         {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
      SCOPED_TRACE(fmt::format("{} {}", model, name_of(activation)));
      SimulationSpec spec = tiny_pairwise_network(RankerKind::kNeural);
      spec.click_model = model;
      spec.protocol = activation == Activation::kRelu ? Protocol::kPublished : Protocol::kDescribed;
      spec.ranker.activation = activation;
      expect_bits(data, spec);
    }
  }
}

TEST_P(PairwiseNetworkBits, AreKeptForListsOfAnyLengthAndManyDocuments) {
  const Dataset data = make_dataset({.docs = {1, 5, 40, 120, 1251}});
  for (const std::uint32_t shown : {1, 2, 10, 16, 17, 33, 100}) {
    SCOPED_TRACE(shown);
    SimulationSpec spec = tiny_pairwise_network(kNetworks[shown % 2]);
    spec.impressions = 30;
    spec.shown = shown;
    spec.click_model = "position-based";
    expect_bits(data, spec);
  }
}

TEST_P(PairwiseNetworkBits, AreKeptForEqualScores) {
  for (const std::uint32_t levels : {1, 2, 3}) {
    for (const Protocol& protocol : {Protocol::kDescribed, Protocol::kPublished}) {
      SCOPED_TRACE(levels);
      SimulationSpec spec = tiny_pairwise_network(kNetworks[levels % 2]);
      spec.protocol = protocol;
      expect_bits(make_dataset({.features = 2, .docs = {2, 31, 32, 33, 120}, .levels = levels}),
                  spec);
    }
  }
}

TEST_P(PairwiseNetworkBits, AreThoseOfTheParameters) {
  for (const RankerKind kind : kNetworks) {
    SimulationSpec spec = tiny_pairwise_network(kind);
    spec.learning_rate_decay = 0.99;
    expect_parameters(make_dataset({.features = 33}), spec);
  }
}

TEST_P(PairwiseNetworkBits, AreNotGivenForAScoreThatIsNotFinite) {
  SimulationSpec spec = tiny_pairwise_network(RankerKind::kLinearPlusNeural);
  spec.settings = {{"learning-rate", "1e15"}};
  expect_the_same_failure(make_dataset({.scale = 1e18F}), spec);
}

TEST(Kernels, AreInWhatIsCompiledForTheCard) {
  const std::string_view ptx = embedded_files().front().bytes;
  for (const char* name : kKernelNames) {
    EXPECT_NE(ptx.find(fmt::format(".visible .entry {}(", name)), ptx.npos) << name;
  }
}

TEST(Launch, GivesABlockWhatItsWarpsNeedEachOrTogether) {
  BatchArgs args;
  args.shared_bytes = 100;
  EXPECT_EQ((Launch{.kernel = Kernel::kLearn, .args = args, .warps_per_block = 4}).shared_bytes(),
            400U);
  for (const Kernel kernel :
       {Kernel::kScore, Kernel::kMeasure, Kernel::kMultileave, Kernel::kLearnNetwork,
        Kernel::kScoreNetwork, Kernel::kDuelNetwork, Kernel::kPairwiseNetwork}) {
    EXPECT_EQ((Launch{.kernel = kernel, .args = args, .warps_per_block = 4}).shared_bytes(), 100U);
  }
}

TEST(NetworkParameters, ComeBackAsTheyWere) {
  for (const bool has_linear : {false, true}) {
    const NetworkLayout layout(padded_width(5), 18, Activation::kTanh, has_linear);
    EXPECT_EQ(layout.size, (has_linear ? 16U : 0U) + 16U * 32 + 2 * 32);
    for (const NetworkPart part : {NetworkPart::kAll, NetworkPart::kNetwork}) {
      const std::size_t count = 5 * 18 + 2 * 18 + (has_linear && part == NetworkPart::kAll ? 5 : 0);
      std::vector<float> values;
      for (std::size_t at = 0; at < count; ++at) values.push_back(1.0F + static_cast<float>(at));
      const std::vector<float> packed = pack_network(layout, 5, part, values);
      EXPECT_EQ(packed.size(), part == NetworkPart::kAll ? layout.size : layout.square_count());
      EXPECT_EQ(std::count(packed.begin(), packed.end(), 0.0F),
                static_cast<std::ptrdiff_t>(packed.size() - count));
      EXPECT_EQ(unpack_network(layout, 5, part, packed), values);
    }
  }
}

}  // namespace
}  // namespace plackett::gpu
