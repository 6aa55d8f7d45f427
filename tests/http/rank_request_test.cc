// The body of a request to rank: what is taken from it, and what is refused where.
#include "http/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plackett/feature_view.h"

namespace plackett::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RankRequestTest : public ::testing::Test {
 protected:
  RankRequestTest() {
    spec.ranker.feature_count = 2;
    spec.feature_names = {"price", "rating"};
    names = feature_names(spec);
  }

  Result<void> read(const std::string& body, std::size_t max_items = 5) {
    text = simdjson::padded_string(body);
    return reader.read(json, text, spec, names, max_items, request);
  }
  std::string where(const std::string& body) {
    const auto result = read(body);
    return result ? "accepted" : result.error().where;
  }

  serving::ModelSpec spec;
  FeatureNames names;
  JsonReader json;
  RankRequestReader reader;
  simdjson::padded_string text;
  serving::RankRequest request;
};

TEST_F(RankRequestTest, TakesIdsAndFeaturesInAllTheirForms) {
  ASSERT_TRUE(read(R"({"items": ["a", {"id": "b"}, {"features": [1, -2.5], "id": "c"},
                        {"id": "d", "features": {"rating": 4e0}}]})"));
  EXPECT_THAT(request.items, ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(request.given, ElementsAre(0, 0, 1, 1));
  const std::size_t width = padded_width(2);
  ASSERT_EQ(request.rows.size(), 4 * width);
  EXPECT_EQ(request.rows[2 * width], 1.F);
  EXPECT_EQ(request.rows[2 * width + 1], -2.5F);
  EXPECT_EQ(request.rows[2 * width + 2], 0.F);
  EXPECT_EQ(request.rows[3 * width], 0.F);
  EXPECT_EQ(request.rows[3 * width + 1], 4.F);
}

TEST_F(RankRequestTest, LeavesRowsEmptyWhereNoFeaturesAreGiven) {
  ASSERT_TRUE(read(R"({"items": ["a", "b"]})"));
  EXPECT_TRUE(request.rows.empty());
}

TEST_F(RankRequestTest, TakesTheRestInAnyOrder) {
  ASSERT_TRUE(read(R"({"blocked": ["b"], "pinned": [{"rank": 2, "id": "c"}], "mode": "exploit",
                        "context": {"q": [1, {"x": null}]} , "k": 7, "id": "mine",
                        "items": ["a", "b", "c"]})"));
  EXPECT_EQ(request.id, "mine");
  EXPECT_EQ(request.k, 7U);
  EXPECT_EQ(request.mode, serving::Mode::kExploit);
  EXPECT_EQ(request.context, R"({"q": [1, {"x": null}]})");
  EXPECT_THAT(request.blocked, ElementsAre(0, 1, 0));
  ASSERT_EQ(request.pinned.size(), 1U);
  EXPECT_EQ(request.pinned[0].item, 2U);
  EXPECT_EQ(request.pinned[0].rank, 1U);
}

TEST_F(RankRequestTest, ForgetsTheRequestBefore) {
  ASSERT_TRUE(read(R"({"id": "mine", "k": 2, "mode": "exploit", "context": 1, "blocked": ["a"],
                        "items": ["a", {"id": "b", "features": [1, 2]}]})"));
  ASSERT_TRUE(read(R"({"items": ["b"]})"));
  EXPECT_TRUE(request.id.empty());
  EXPECT_EQ(request.k, 0U);
  EXPECT_EQ(request.mode, std::nullopt);
  EXPECT_TRUE(request.context.empty());
  EXPECT_TRUE(request.rows.empty());
  EXPECT_THAT(request.blocked, ElementsAre(0));
}

TEST_F(RankRequestTest, UnescapesIds) {
  ASSERT_TRUE(read(R"({"items": ["K\u00e4se \"\\\n", "a\u0001b"]})"));
  EXPECT_EQ(request.items[0], "Käse \"\\\n");
  EXPECT_EQ(request.items[1],
            "a\x01"
            "b");
}

TEST_F(RankRequestTest, TakesAnyValueAsContext) {
  for (const std::string value : {"7", "-1.5e3", "true", "\"x y\"", "[]", "{}", "[1, [2]]"}) {
    ASSERT_TRUE(read(R"({"items": ["a"], "context": )" + value + " }")) << value;
    EXPECT_EQ(request.context, value);
    ASSERT_TRUE(read(R"({"context":  )" + value + R"( , "items": ["a"]})")) << value;
    EXPECT_EQ(request.context, value);
  }
  ASSERT_TRUE(read(R"({"items": ["a"], "context": null})"));
  EXPECT_TRUE(request.context.empty());
}

TEST_F(RankRequestTest, ChecksWhatItKeepsAsContext) {
  for (const std::string value : {"tru", "[1,]", "{\"a\"}", "[1 2]", "01", "{\"a\":}", "nul"}) {
    EXPECT_EQ(where(R"({"items": ["a"], "context": )" + value + "}"), "context") << value;
  }
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  EXPECT_EQ(where(R"({"items": ["a"], "context": )" + deep + "}"), "context");
  const std::string large = '"' + std::string(serving::kMaxContextBytes, 'x') + '"';
  EXPECT_EQ(where(R"({"items": ["a"], "context": )" + large + "}"), "context");
}

TEST_F(RankRequestTest, SaysWhereItIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"items": ["a", {"id": "b", "features": [1, 1e39]}]})", "items[1].features[1]"},
      {R"({"items": ["a", {"id": "b", "features": [1, 1e400]}]})", "items[1].features[1]"},
      {R"({"items": ["a", {"id": "b", "features": ["1", 2]}]})", "items[1].features[0]"},
      {R"({"items": ["a", {"id": "b", "features": [1, NaN]}]})", "items[1].features[1]"},
      {R"({"items": ["a", {"id": "b", "features": [1, 2, 3]}]})", "items[1].features"},
      {R"({"items": ["a", {"id": "b", "features": [1]}]})", "items[1].features"},
      {R"({"items": ["a", {"id": "b", "features": {"colour": 1}}]})", "items[1].features.colour"},
      {R"({"items": ["a", {"id": "b", "features": {"price": 1, "price": 2}}]})",
       "items[1].features.price"},
      {R"({"items": ["a", "b", "a"]})", "items[2]"},
      {R"({"items": [""]})", "items[0]"},
      {R"({"items": ["a"], "items": ["b"]})", "items"},
      {R"({"items": ["a"], "more": 1})", "more"},
      {R"({"items": ["a"], "k": 0})", "k"},
      {R"({"items": ["a"], "k": 1.0})", "k"},
      {R"({"items": ["a"], "id": ""})", "id"},
      {R"({"items": ["a"], "blocked": ["z"]})", "blocked[0]"},
      {R"({"items": ["a"], "pinned": [{"id": "z", "rank": 1}]})", "pinned[0].id"},
      {R"({"items": ["a"], "pinned": [{"id": "a", "rank": 0}]})", "pinned[0].rank"},
      {R"({"items": []})", "items"},
      {R"({})", "items"},
  };
  for (const auto& [body, place] : cases) EXPECT_EQ(where(body), place) << body;
}

TEST_F(RankRequestTest, NamesValueAndRule) {
  EXPECT_EQ(read(R"({"items": [{"id": "a", "features": [1, 1e39]}]})").error().message,
            "1e39; a feature must be a finite number within the range of floats");
  EXPECT_THAT(read(R"({"items": ["a"], "mode": "guess"})").error().message, HasSubstr("\"guess\""));
}

TEST_F(RankRequestTest, RefusesTextThatIsNoJson) {
  const std::string whole = R"({"items": ["a", {"id": "b", "features": [1, 2]}], "k": 2})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read(whole.substr(0, size))) << size;
  }
  for (const std::string& body :
       {whole + "x", whole + "{}", whole + "}", "[" + whole, whole + "]", std::string("\"a\""),
        std::string("5"), std::string("null"), std::string(" \n"),
        std::string("{\"items\": [\"a\"}"), std::string("{\"items\": [\"\xff\"]}"),
        std::string("{\"items\": [\"\xc3\x28\"]}"), std::string("{\"items\": [\"\\ud800\"]}")}) {
    EXPECT_FALSE(read(body)) << body;
  }
  EXPECT_TRUE(read(" \r\n" + whole + "\t\n "));
}

TEST_F(RankRequestTest, RefusesMoreThanItsLimits) {
  EXPECT_EQ(read(R"({"items": ["a", "b", "c", "d", "e", "f"]})").error().code,
            ErrorCode::kTooLarge);
  spec.ranker.feature_count = serving::kMaxFeatures;
  names.clear();
  std::string ids = "\"0\"";
  for (int at = 1; at < 300; ++at) ids += ",\"" + std::to_string(at) + "\"";
  const auto result = read("{\"items\": [" + ids + "]}", 1000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTooLarge);
}

TEST_F(RankRequestTest, FindsTheSameIdAmongMany) {
  std::string ids = "\"0\"";
  for (int at = 1; at < 3000; ++at) ids += ",\"" + std::to_string(at) + "\"";
  EXPECT_TRUE(read("{\"items\": [" + ids + "]}", 5000));
  const auto result = read("{\"items\": [" + ids + ",\"1234\"]}", 5000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().where, "items[3000]");
  EXPECT_THAT(result.error().message, HasSubstr("items[1234]"));
}

}  // namespace
}  // namespace plackett::http
