#include "serving/model_spec.h"

#include <gmock/gmock.h>

#include "serving/spec_text.h"

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

TEST(ModelSpec, ReadsBackFromTheTextThatTheStoreKeeps) {
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
  const auto again = parse_spec_text(to_text(*checked));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(*again == *checked);
  EXPECT_EQ(again->feature_names, given.feature_names);
  EXPECT_EQ(again->ranker.hidden, given.ranker.hidden);
  ModelSpec other = *checked;
  other.temperature = 0.2;
  EXPECT_FALSE(other == *checked);
}

TEST(ModelSpec, TextWithAFieldOfAnotherVersionIsRefused) {
  EXPECT_FALSE(parse_spec_text(to_text(*check(spec())) + "colour red\n").ok());
  EXPECT_FALSE(parse_spec_text(to_text(*check(spec())) + "shown ten\n").ok());
}

TEST(ModelSpec, EqualSpecsInOtherWordsAreEqual) {
  ModelSpec given = spec();
  given.settings = {{"learning-rate", "0.100"}};
  EXPECT_TRUE(*check(given) == *check(spec()));
}

}  // namespace
}  // namespace plackett::serving
