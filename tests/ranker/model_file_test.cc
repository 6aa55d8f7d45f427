#include "plackett/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

SavedModel example(RankerKind kind) {
  SavedModel model;
  model.ranker.kind = kind;
  model.ranker.feature_count = 3;
  model.ranker.hidden =
      has_network(kind) ? std::vector<std::uint32_t>{5, 2} : std::vector<std::uint32_t>{};
  model.ranker.activation = Activation::kTanh;
  model.feature_ids = {1, 7, 40};
  model.scaling = "query-minmax";
  model.learner = {"pdgd", 0.0987, 12'345, 20'000};
  const std::size_t network = 4 * 5 + 6 * 2 + 2;
  const std::size_t count = kind == RankerKind::kLinear   ? 3
                            : kind == RankerKind::kNeural ? network
                                                          : 3 + network;
  for (std::size_t at = 0; at < count; ++at) {
    model.parameters.push_back(std::sin(static_cast<float>(at)));
  }
  return model;
}

TEST(ModelFile, SurvivesTheRoundTrip) {
  const testing::TemporaryFolder folder;
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    const SavedModel model = example(kind);
    ASSERT_TRUE(save_model(model, folder / "model").ok());
    const SavedModel loaded = load_model(folder / "model").value();
    EXPECT_EQ(loaded.ranker.kind, model.ranker.kind);
    EXPECT_EQ(loaded.ranker.hidden, model.ranker.hidden);
    EXPECT_EQ(loaded.ranker.activation, model.ranker.activation);
    EXPECT_EQ(loaded.feature_ids, model.feature_ids);
    EXPECT_EQ(loaded.scaling, model.scaling);
    EXPECT_EQ(loaded.parameters, model.parameters);
    EXPECT_EQ(loaded.learner.method, "pdgd");
    EXPECT_EQ(loaded.learner.learning_rate, 0.0987);
    EXPECT_EQ(loaded.learner.updates, 12'345U);
    EXPECT_EQ(loaded.learner.impressions, 20'000U);
    std::vector<float> restored(model.parameters.size());
    restore_ranker(loaded).value()->get_parameters(restored);
    EXPECT_EQ(restored, model.parameters);
  }
}

TEST(ModelFile, EveryFlippedBitIsFound) {
  const auto bytes = serialise_model(example(RankerKind::kNeural));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 12 && at < 16) continue;  // reserved
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[at] ^= std::byte{1} << bit;
      EXPECT_FALSE(parse_model(damaged, {}).ok()) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(ModelFile, EveryCutIsFound) {
  const auto bytes = serialise_model(example(RankerKind::kLinear));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_model(std::span(bytes).first(size), {}).ok()) << size;
  }
}

TEST(ModelFile, DamageBehindTheChecksumIsStillNoCrash) {
  const auto bytes = serialise_model(example(RankerKind::kNeural));
  for (std::size_t at = 32; at < bytes.size(); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      auto damaged = bytes;
      damaged[at] = std::byte(value);
      const auto model = parse_model(damaged, {.check = false});
      if (!model) continue;
      EXPECT_TRUE(restore_ranker(*model).ok());
    }
  }
}

TEST(ModelFile, ErrorsSayWhatIsWrong) {
  const auto message = [](std::span<const std::byte> bytes) {
    return parse_model(bytes, {.name = "m.plk"}).error().message;
  };
  const std::string foreign(100, 'x');
  EXPECT_EQ(message(std::as_bytes(std::span(foreign))),
            "m.plk: not a plackett model; one starts with PLKMODEL");
  auto bytes = serialise_model(example(RankerKind::kLinear));
  bytes[8] = std::byte{9};
  EXPECT_EQ(message(bytes), "m.plk: model format version 9; this plackett reads versions 1 to 3");
  bytes[8] = std::byte{1};
  bytes.back() ^= std::byte{1};
  EXPECT_EQ(message(bytes), "m.plk: checksum does not match: the file is damaged");
}

TEST(ModelFile, ALearnersMemorySurvivesAndOnlyThenIsTheVersion2) {
  SavedModel model = example(RankerKind::kLinearPlusNeural);
  const auto plain = serialise_model(model);
  EXPECT_EQ(plain[8], std::byte{1});
  model.learner.memory = {0.5F, 0, 3e-9F};
  auto bytes = serialise_model(model);
  EXPECT_EQ(bytes[8], std::byte{2});
  EXPECT_EQ(bytes.size(), plain.size() + 8 + 3 * 4);
  EXPECT_EQ(parse_model(bytes, {}).value().learner.memory, model.learner.memory);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_model(std::span(bytes).first(size), {.check = false}).ok()) << size;
  }
  model.learner.memory[1] = INFINITY;
  EXPECT_EQ(parse_model(serialise_model(model), {.name = "m"}).error().message,
            "m: a learner's memory that is not finite");
}

TEST(ModelFile, ALearnersSettingsSurviveAndOnlyThenIsTheVersion3) {
  SavedModel model = example(RankerKind::kLinear);
  const auto plain = serialise_model(model);
  model.settings = {{"restart", "50"}, {"pairs", "above"}};
  const auto bytes = serialise_model(model);
  EXPECT_EQ(bytes[8], std::byte{3});
  EXPECT_EQ(bytes.size(), plain.size() + 8 + 4 + 4 * 4 + 7 + 2 + 5 + 5);
  const SavedModel read = parse_model(bytes, {}).value();
  EXPECT_EQ(read.settings, model.settings);
  EXPECT_TRUE(read.learner.memory.empty());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_model(std::span(bytes).first(size), {.check = false}).ok()) << size;
  }
}

TEST(ModelFile, LinearPlusNeuralNeedsBothItsParts) {
  SavedModel model = example(RankerKind::kLinearPlusNeural);
  model.parameters.resize(model.parameters.size() - 3);
  EXPECT_EQ(parse_model(serialise_model(model), {.name = "m"}).error().message,
            "m: 34 parameters; its shape needs 37");
  model.ranker.hidden.clear();
  EXPECT_EQ(parse_model(serialise_model(model), {.name = "m"}).error().message,
            "m: a network without layers");
}

TEST(ModelFile, AnUnknownKindIsRefused) {
  auto bytes = serialise_model(example(RankerKind::kLinear));
  bytes[32] = std::byte{3};
  EXPECT_EQ(parse_model(bytes, {.name = "m", .check = false}).error().message,
            "m: ranker kind 3; known are 0 to 2");
}

TEST(ModelFile, AScalingThatNoReaderKnowsIsNeitherWrittenNorRead) {
  const testing::TemporaryFolder folder;
  for (const char* scaling : {"", "minmax", "Query-MinMax"}) {
    SavedModel model = example(RankerKind::kLinear);
    model.scaling = scaling;
    EXPECT_THAT(save_model(model, folder / "m").error().message, HasSubstr("scaling"));
    EXPECT_FALSE(std::filesystem::exists(folder / "m"));
    EXPECT_THAT(parse_model(serialise_model(model), {}).error().message, HasSubstr("scaling"));
  }
}

TEST(ModelFile, AModelThatMakesNoSenseIsNotWritten) {
  const testing::TemporaryFolder folder;
  SavedModel model = example(RankerKind::kLinear);
  model.parameters[1] = NAN;
  EXPECT_THAT(save_model(model, folder / "m").error().message, HasSubstr("not finite"));
  model = example(RankerKind::kLinear);
  model.parameters.pop_back();
  EXPECT_THAT(save_model(model, folder / "m").error().message,
              HasSubstr("2 parameters; its shape needs 3"));
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

}  // namespace
}  // namespace plackett
