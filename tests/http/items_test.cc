// Items and their features, stored or sent along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::HasStatus;
using testing::IsError;
using testing::IsErrorAt;
using testing::item;
using testing::items;
using testing::Json;

class Items : public testing::ShopTest {
 protected:
  Answer store(const Json& all) { return client.put("/models/shop/items", {{"items", all}}); }
};

TEST_F(Items, AreStoredByPositionOrByName) {
  const Answer answer = store({item("a", {3, 4.5}), item("b", {{"rating", 2}, {"price", 1}}),
                               item("c", {{"rating", 2}}), item("d", Json::object())});
  EXPECT_EQ(answer.json(), (Json{{"stored", 4}, {"items", 4}})) << answer.body;
  const auto features = [&](const std::string& id) {
    return client.get("/models/shop/items/" + id).json();
  };
  EXPECT_EQ(features("a"), item("a", {3, 4.5}));
  EXPECT_EQ(features("b"), item("b", {1, 2}));
  EXPECT_EQ(features("c"), item("c", {0, 2})) << "names left out are 0";
  EXPECT_EQ(features("d"), item("d", {0, 0}));
}

TEST_F(Items, AreReplacedById) {
  store({item("a", {1, 1}), item("b", {2, 2})});
  EXPECT_EQ(store(Json::array({item("a", {9, 9})})).json(), (Json{{"stored", 1}, {"items", 2}}));
  EXPECT_EQ(client.get("/models/shop/items/a").json()["features"], Json({9, 9}));
  EXPECT_EQ(client.get("/models/shop/items/b").json()["features"], Json({2, 2}));
}

TEST_F(Items, AreGoneWhenDeleted) {
  store({item("a", {1, 1}), item("b", {2, 2})});
  EXPECT_THAT(client.remove("/models/shop/items/a"), HasStatus(204));
  EXPECT_THAT(client.get("/models/shop/items/a"), IsError(404));
  EXPECT_THAT(client.remove("/models/shop/items/a"), IsError(404));
  EXPECT_EQ(model()["items"], 1);
}

TEST_F(Items, AreStoredAllOrNone) {
  EXPECT_THAT(store({item("a", {1, 1}), item("b", {2})}), IsError(400));
  EXPECT_EQ(model()["items"], 0);
  EXPECT_THAT(client.get("/models/shop/items/a"), IsError(404));
}

TEST_F(Items, HaveIdsOfAnyTextUpTo256Bytes) {
  const std::string longest(256, 'x');
  ASSERT_THAT(store({item(longest, {1, 1}), item("Käse / 100% \"x\"", {2, 2})}), HasStatus(200));
  EXPECT_EQ(client.get("/models/shop/items/" + longest).json()["id"], longest);
  EXPECT_EQ(client.get("/models/shop/items/K%C3%A4se%20%2F%20100%25%20%22x%22").json()["features"],
            Json({2, 2}));
  EXPECT_THAT(store(Json::array({item(longest + "x", {1, 1})})), IsErrorAt(400, "items[0].id"));
  EXPECT_THAT(store(Json::array({item("", {1, 1})})), IsErrorAt(400, "items[0].id"));
  EXPECT_THAT(store(Json::array({{{"id", 5}, {"features", {1, 1}}}})),
              IsErrorAt(400, "items[0].id"));
}

struct BadFeatures {
  const char* json;
  const char* where;  // after items[1]; "?" where it may be any place or none
};

constexpr BadFeatures kBadFeatures[] = {
    {"[1]", ".features"},
    {"[1, 2, 3]", ".features"},
    {"[]", ".features"},
    {"[1, \"2\"]", ".features[1]"},
    {"[null, 2]", ".features[0]"},
    {"[true, 2]", ".features[0]"},
    {"[[1], 2]", ".features[0]"},
    {"{\"price\": \"1\"}", ".features.price"},
    {"{\"price\": null}", ".features.price"},
    {"{\"colour\": 1}", ".features.colour"},
    {"\"1 2\"", ".features"},
    {"2", ".features"},
    {"[1, NaN]", "?"},
    {"[1, Infinity]", "?"},
    {"[1, -Infinity]", "?"},
    {"[1, nan]", "?"},
    {"[1, 1e999]", "?"},
    {"[1, -1e999]", "?"},
    {"[1, 1e39]", ".features[1]"},  // more than a float holds
    {"[1, 0x10]", "?"},
    {"[1, 01]", "?"},
    {"[1, .5]", "?"},
    {"[1, +1]", "?"},
    {"[1, 2,]", "?"},
};

TEST_F(Items, WithFeaturesThatAreNotSoManyFiniteNumbersAreRefused) {
  for (const auto& [json, where] : kBadFeatures) {
    const std::string body = R"({"items": [{"id": "a", "features": [1, 2]}, {"id": "b", )"
                             R"("features": )" +
                             std::string(json) + "}]}";
    for (const auto& [method, target] :
         {std::pair("PUT", "/models/shop/items"), std::pair("POST", "/models/shop/rank")}) {
      const Answer answer = client.send(method, target, body);
      EXPECT_THAT(answer, IsError(400)) << target << json;
      if (*where != '?' && answer.status == 400) {
        EXPECT_EQ(answer.json()["error"].value("where", ""), std::string("items[1]") + where)
            << target << json << answer.body;
      }
    }
  }
  EXPECT_EQ(model()["items"], 0);
  EXPECT_EQ(model()["impressions"], 0);
}

TEST_F(Items, StoredRankAsTheSameFeaturesSentAlong) {
  for (int round = 0; round < 5; ++round) {
    testing::rank_click_close(client, "shop", {{"items", items(6)}});
  }
  ASSERT_THAT(store(items(6)), HasStatus(200));
  const Json sent = rank({{"items", items(6)}, {"k", 6}, {"mode", "exploit"}}).json();
  const Json stored = rank({{"items", {"a", {{"id", "b"}}, "c", {{"id", "d"}}, "e", items(6)[5]}},
                            {"k", 6},
                            {"mode", "exploit"}})
                          .json();
  EXPECT_EQ(stored["items"], sent["items"]);
  EXPECT_NE(sent["items"][0]["score"], sent["items"][5]["score"]) << "it has learned nothing";
}

TEST_F(Items, SentAlongAreNotStored) {
  ASSERT_THAT(rank({{"items", items(3)}}), HasStatus(200));
  EXPECT_EQ(model()["items"], 0);
}

TEST_F(Items, ThatAreNeitherStoredNorSentCannotBeRanked) {
  store(Json::array({item("a", {1, 1})}));
  const Answer answer = rank({{"items", {"a", "b"}}});
  EXPECT_THAT(answer, IsErrorAt(400, "items[1]"));
}

}  // namespace
}  // namespace plackett
