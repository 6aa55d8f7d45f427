#include "serving/model_spec.h"

#include <gmock/gmock.h>

namespace plackett::serving {
namespace {

using ::testing::HasSubstr;

ModelSpec spec() {
  ModelSpec made;
  made.name = "shop";
  made.ranker.feature_count = 3;
  return made;
}

std::string refusal(const ModelSpec& given) {
  const auto checked = check(given);
  return checked ? "" : checked.error().message;
}

TEST(ModelSpec, SaysWhatIsWrongAndTheRule) {
  ModelSpec given = spec();
  given.name = "a b";
  EXPECT_THAT(refusal(given), HasSubstr("model name \"a b\""));
  given = spec();
  given.ranker.feature_count = 0;
  EXPECT_THAT(refusal(given), HasSubstr("0 features; a model has 1 to"));
  given = spec();
  given.feature_names = {"a", "b"};
  EXPECT_THAT(refusal(given), HasSubstr("2 feature names for 3"));
  given.feature_names = {"a", "b", "a"};
  EXPECT_THAT(refusal(given), HasSubstr("\"a\" twice"));
  given = spec();
  given.learner = "mgd";
  EXPECT_THAT(refusal(given), HasSubstr("those that can be served: cascade, pdgd"));
  given = spec();
  given.shown = 101;
  EXPECT_THAT(refusal(given), HasSubstr("k 101; it is 1 to 100"));
  given = spec();
  given.temperature = 0;
  EXPECT_THAT(refusal(given), HasSubstr("temperature 0"));
  given = spec();
  given.open_seconds = 0;
  EXPECT_THAT(refusal(given), HasSubstr("open_seconds 0"));
  given = spec();
  given.scaling = "log";
  EXPECT_THAT(refusal(given), HasSubstr("unknown scaling"));
  given = spec();
  given.settings = {{"candidates", "9"}};
  EXPECT_THAT(refusal(given), HasSubstr("candidates"));
}

TEST(ModelSpec, ReadsBackFromTheJsonThatTheStoreKeeps) {
  ModelSpec given = spec();
  given.ranker.kind = RankerKind::kNeural;
  given.ranker.hidden = {16, 8};
  given.ranker.activation = Activation::kTanh;
  given.feature_names = {"price in EUR", "rating", "age"};
  given.settings = {{"learning-rate", "0.05"}, {"steps", "adagrad"}};
  given.shown = 7;
  given.scaling = "none";
  given.seed = ~std::uint64_t{0};
  given.temperature = 0.1;
  given.open_seconds = 60;
  const auto checked = check(given);
  ASSERT_TRUE(checked.ok());
  const auto again = parse_spec(to_json(*checked));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(*again == *checked);
  EXPECT_EQ(again->feature_names, given.feature_names);
  EXPECT_EQ(again->ranker.hidden, given.ranker.hidden);
  ModelSpec other = *checked;
  other.temperature = 0.2;
  EXPECT_FALSE(other == *checked);
}

TEST(ModelSpec, JsonWithAMissingOrAnUnknownFieldIsRefused) {
  const std::string json = to_json(*check(spec()));
  ASSERT_TRUE(parse_spec(json).ok());
  const auto with = [&json](const std::string& from, const std::string& to) {
    std::string changed = json;
    changed.replace(changed.find(from), from.size(), to);
    return parse_spec(changed);
  };
  EXPECT_FALSE(with("\"shown\":10", "\"colour\":\"red\",\"shown\":10").ok());
  EXPECT_FALSE(with("\"shown\":10", "\"shown\":\"ten\"").ok());
  EXPECT_FALSE(with("\"shown\":10,", "").ok());
  EXPECT_FALSE(parse_spec(json.substr(0, 40)).ok());
}

// As stores before the JSON form have it.
TEST(ModelSpec, ReadsTheLinesOfOlderStores) {
  const auto old = parse_spec(
      "name shop\nfeatures 3\nfeature price in EUR\nfeature rating\nfeature age\n"
      "feature_ids 1 2 7\nranker neural\nhidden 16 8\nactivation tanh\nlearner pdgd\n"
      "setting learning-rate 0.05\nsetting steps adagrad\nshown 7\nscaling none\n"
      "seed 18446744073709551615\ntemperature 0.1\nopen_seconds 60\n");
  ASSERT_TRUE(old.ok()) << old.error().message;
  ModelSpec same = spec();
  same.feature_names = {"price in EUR", "rating", "age"};
  same.feature_ids = {1, 2, 7};
  same.ranker.kind = RankerKind::kNeural;
  same.ranker.hidden = {16, 8};
  same.ranker.activation = Activation::kTanh;
  same.settings = {{"learning-rate", "0.05"}, {"steps", "adagrad"}};
  same.shown = 7;
  same.scaling = "none";
  same.seed = ~std::uint64_t{0};
  same.temperature = 0.1;
  same.open_seconds = 60;
  EXPECT_TRUE(*old == *check(same));
  // A linear model has no hidden layers, and may have no settings.
  EXPECT_TRUE(parse_spec("name m\nfeatures 2\nfeature_ids 1 2\nranker linear\nhidden \n"
                         "activation sigmoid\nlearner pdgd\nshown 10\nscaling query-minmax\n"
                         "seed 1\ntemperature 1\nopen_seconds 1800\n")
                  .ok());
  EXPECT_FALSE(parse_spec("name m\nfeatures 2\ncolour red\n").ok());
}

TEST(ModelSpec, WeightsOfEventsThatSumsCantHoldAreRefused) {
  ModelSpec given = spec();
  for (const double weight : {1e10, -1e155, 1e300}) {
    given.logging.events = {{"purchase", weight}};
    ASSERT_FALSE(check(given).ok()) << weight;
    EXPECT_THAT(check(given).error().message, ::testing::HasSubstr("weights are 1e+09 at most"));
  }
  given.logging.events = {{"purchase", 1e9}, {"return", -1e9}};
  EXPECT_TRUE(check(given).ok());
}

TEST(ModelSpec, EqualSpecsInOtherWordsAreEqual) {
  ModelSpec given = spec();
  given.settings = {{"learning-rate", "0.100"}};
  EXPECT_TRUE(*check(given) == *check(spec()));
}

}  // namespace
}  // namespace plackett::serving
