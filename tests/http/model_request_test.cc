// The small bodies: models, notes of snapshots, rollbacks; and items to store.
#include "http/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "http/json_writer.h"
#include "plackett/feature_view.h"
#include "plackett/method.h"
#include "support/run_command.h"

namespace plackett::http {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;

simdjson::padded_string padded(std::string_view text) { return simdjson::padded_string(text); }

Result<serving::ModelSpec> read(const std::string& body) {
  JsonReader json;
  auto wanted = read_model_request(json, padded(body), "shop");
  if (!wanted) return wanted.error();
  return std::move(wanted->spec);
}

TEST(ModelRequest, HasDefaultsForAllButFeatures) {
  const auto spec = read(R"({"features": 136})");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->name, "shop");
  EXPECT_EQ(spec->ranker.feature_count, 136U);
  EXPECT_EQ(spec->learner, kDefaultMethod);
  EXPECT_EQ(spec->ranker.kind, RankerKind::kLinearPlusNeural);
  EXPECT_TRUE(spec->settings.empty());
  EXPECT_EQ(spec->shown, 10U);
}

TEST(ModelRequest, TakesTheLearnersOwnRanker) {
  const auto spec = read(R"({"features": 2, "learner": "cascade"})");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->ranker.kind, RankerKind::kLinearPlusNeural);
}

TEST(ModelRequest, TheDescriptionNamesTheLearnersThatAreServed) {
  const Json schemas = Json::parse(plackett::testing::slurp(
      std::string(PLACKETT_SOURCE_DIR) + "/docs/openapi.json"))["components"]["schemas"];
  std::vector<std::string> served;
  for (const std::string_view name : serving::served_learners()) served.emplace_back(name);
  EXPECT_THAT(schemas["Model"]["properties"]["learner"]["enum"].get<std::vector<std::string>>(),
              ::testing::UnorderedElementsAreArray(served));
  const Json& given = schemas["ModelSpec"]["properties"]["learner"];
  EXPECT_EQ(given["default"], kDefaultMethod);
  served.emplace_back("default");
  EXPECT_THAT(given["enum"].get<std::vector<std::string>>(),
              ::testing::UnorderedElementsAreArray(served));
}

TEST(ModelRequest, AnExistingModelKeepsItsLearnerAndRankerWhereNoneIsNamed) {
  const auto existing = read(R"({"features": 2, "learner": "pdgd", "ranker": "neural"})");
  ASSERT_TRUE(existing.ok());
  JsonReader json;
  const auto again = [&](const char* body) {
    return read_model_request(json, padded(body), "shop", &*existing).value().spec;
  };
  EXPECT_EQ(again(R"({"features": 2})"), *existing);
  EXPECT_EQ(again(R"({"features": 2, "ranker": "linear"})").ranker.kind, RankerKind::kLinear);
  EXPECT_EQ(again(R"({"features": 2, "learner": "cascade"})").ranker.kind,
            RankerKind::kLinearPlusNeural);
}

TEST(ModelRequest, TakesEverythingItIsTold) {
  const auto spec = read(R"({"features": ["a", "b"], "ranker": "neural", "hidden": [8, 4],
      "activation": "relu", "learner": "pdgd", "settings": {"steps": "adagrad"},
      "learning_rate": 0.25, "k": 7, "scaling": "none", "seed": 18446744073709551615,
      "temperature": 0.5, "open_seconds": 60})");
  ASSERT_TRUE(spec.ok()) << spec.error().message;
  EXPECT_THAT(spec->feature_names, ElementsAre("a", "b"));
  EXPECT_THAT(spec->ranker.hidden, ElementsAre(8, 4));
  EXPECT_EQ(spec->ranker.activation, Activation::kRelu);
  EXPECT_THAT(spec->settings,
              ElementsAre(GivenSetting{"steps", "adagrad"}, GivenSetting{"learning-rate", "0.25"}));
  EXPECT_EQ(spec->shown, 7U);
  EXPECT_EQ(spec->scaling, "none");
  EXPECT_EQ(spec->seed, ~std::uint64_t{0});
  EXPECT_EQ(spec->temperature, 0.5);
  EXPECT_EQ(spec->open_seconds, 60U);
}

TEST(ModelRequest, KnowsWhatIsGivenOfTheLog) {
  JsonReader json;
  const auto given = [&](const char* body) {
    const auto wanted = read_model_request(json, padded(body), "shop").value();
    return std::pair(wanted.candidates_given, wanted.events_given);
  };
  EXPECT_EQ(given(R"({"features": 2})"), std::pair(false, false));
  EXPECT_EQ(given(R"({"features": 2, "candidates": "all"})"), std::pair(true, false));
  EXPECT_EQ(given(R"({"features": 2, "events": {}})"), std::pair(false, true));
}

TEST(ModelRequest, SaysWhereItIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "features"},
      {R"({"features": 0})", "features"},
      {R"({"features": 65537})", "features"},
      {R"({"features": ["a", "a"]})", "features[1]"},
      {R"({"features": 2, "ranker": "forest"})", "ranker"},
      {R"({"features": 2, "ranker": "linear", "hidden": [4]})", "hidden"},
      {R"({"features": 2, "learner": "pdgd", "activation": "tanh"})", "activation"},
      {R"({"features": 2, "ranker": "neural", "hidden": []})", "hidden"},
      {R"({"features": 2, "ranker": "neural", "hidden": [4, 0]})", "hidden[1]"},
      {R"({"features": 2, "learner": "dbgd"})", "learner"},
      {R"({"features": 2, "settings": {"magic": 1}})", "settings.magic"},
      {R"({"features": 2, "settings": {"learning-rate": 1}})", "settings.learning-rate"},
      {R"({"features": 2, "learning_rate": 0})", "learning_rate"},
      {R"({"features": 2, "temperature": 0})", "temperature"},
      {R"({"features": 2, "colour": 1})", "colour"},
  };
  for (const auto& [body, place] : cases) {
    const auto spec = read(body);
    ASSERT_FALSE(spec.ok()) << body;
    EXPECT_EQ(spec.error().where, place) << body;
  }
}

TEST(SnapshotRequest, NeedsNoBody) {
  JsonReader json;
  EXPECT_EQ(*read_snapshot_request(json, padded("")), "");
  EXPECT_EQ(*read_snapshot_request(json, padded("{}")), "");
  EXPECT_EQ(*read_snapshot_request(json, padded(R"({"note": "before the sale"})")),
            "before the sale");
  EXPECT_FALSE(read_snapshot_request(json, padded(R"({"note": 5})")).ok());
}

TEST(RollbackRequest, NamesASnapshot) {
  JsonReader json;
  EXPECT_EQ(*read_rollback_request(json, padded(R"({"snapshot": 3})")), 3);
  for (const char* body : {"{}", "", R"({"snapshot": -1})", R"({"snapshot": "3"})",
                           R"({"snapshot": 18446744073709551615})"}) {
    EXPECT_FALSE(read_rollback_request(json, padded(body)).ok()) << body;
  }
}

TEST(ItemsRequest, HasARowAnItem) {
  serving::ModelSpec spec;
  spec.ranker.feature_count = 2;
  JsonReader json;
  const auto items = read_items_request(
      json,
      padded(R"({"items": [{"features": [1, 2], "id": "a"}, {"id": "b", "features": [3, 4]}]})"),
      spec, feature_names(spec));
  ASSERT_TRUE(items.ok());
  EXPECT_THAT(items->ids, ElementsAre("a", "b"));
  EXPECT_EQ(items->rows[padded_width(2) + 1], 4.F);
  for (const char* body : {R"({"items": []})", R"({"items": ["a"]})", R"({"items": [{"id": "a"}]})",
                           R"({"items": [{"features": [1, 2]}]})", R"({})",
                           R"({"items": [{"id": "a", "features": {"x": 1}}]})"}) {
    EXPECT_FALSE(read_items_request(json, padded(body), spec, feature_names(spec)).ok()) << body;
  }
}

TEST(WeightsRequest, SpeaksOfWeightsWhereItIsWrong) {
  serving::ModelSpec spec;
  spec.ranker.feature_count = 2;
  spec.feature_names = {"price", "rating"};
  JsonReader json;
  const std::pair<const char*, const char*> cases[] = {
      {R"({"weights": [1, 2, 3]})", "3 weights; the model has 2 features"},
      {R"({"weights": [1e39, 2]})", "1e39; a weight is a number from -1e+15 to 1e+15"},
      {R"({"weights": {"price": -3e38}})", "-3e38; a weight is a number from -1e+15 to 1e+15"},
      {R"({"weights": []})", "0 weights; the model has 2 features"},
      {R"({"weights": {}})", "no weights; give those that are not 0, or an array of all"},
      {R"({"weights": 1})", "weights must be an array of numbers, or an object of numbers by name"},
      {R"({"weights": {"price": 1, "price": 2}})", "duplicate weight"},
      {R"({"weights": {"prize": 1}})", "the model has no feature of this name"},
      {R"({})", "no weights; give one per feature, or those not 0"},
  };
  for (const auto& [body, message] : cases) {
    const auto weights = read_weights_request(json, padded(body), spec, feature_names(spec));
    ASSERT_FALSE(weights.ok()) << body;
    EXPECT_EQ(weights.error().message, message) << body;
  }
  EXPECT_THAT(*read_weights_request(json, padded(R"({"weights": {"rating": -2}})"), spec,
                                    feature_names(spec)),
              ElementsAre(0.F, -2.F));
}

TEST(JsonWriter, WritesWhatReadsBack) {
  std::string out;
  JsonWriter json(out);
  json.object(
      "text", "a\"\\\n\x01 \xC3\xA4 \xFF", "number", 0.1, "none",
      std::numeric_limits<double>::infinity(), "whole", 18446744073709551615U, "list",
      [&] {
        json.array(std::vector{0, 1}, [&](int at) {
          if (at == 0) return json.value(true);
          json.object([] {});
        });
      },
      "names", std::vector<std::string>{"a", "b"}, "missing", null_if_empty(""), "raw",
      RawJson{"[1]"});
  EXPECT_EQ(
      out,
      "{\"text\":\"a\\\"\\\\\\u000a\\u0001 \xC3\xA4 \xEF\xBF\xBD\",\"number\":0.1,\"none\":null,"
      "\"whole\":18446744073709551615,\"list\":[true,{}],\"names\":[\"a\",\"b\"],"
      "\"missing\":null,\"raw\":[1]}");
}

}  // namespace
}  // namespace plackett::http
