// Units, given lists, further events, pages of impressions, and starting from what is known.
#include <gmock/gmock.h>

#include <cmath>

#include "service.h"

namespace plackett::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LogTest = ShopTest;

TEST_F(LogTest, AGivenListIsShownAsItIsAndTeachesNothing) {
  const Json before = weights();
  const Answer answer =
      rank({{"items", items(5)}, {"mode", "given"}, {"k", 4}, {"unit", "user-7"}});
  ASSERT_THAT(answer, HasStatus(200)) << answer.body;
  EXPECT_THAT(ids_of(answer.json()), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(answer.json()["log_probability"], 0);
  EXPECT_EQ(feedback({event(answer.json(), "click", "c"), event(answer.json(), "close")})
                .json()["accepted"],
            2);
  const Json seen = impression(answer.json()["impression"]);
  EXPECT_EQ(seen["mode"], "given");
  EXPECT_EQ(seen["state"], "closed");
  EXPECT_EQ(seen["unit"], "user-7");
  EXPECT_EQ(seen["items"][2]["propensity"], 1);
  EXPECT_EQ(weights(), before);
  EXPECT_THAT(rank({{"items", items(5)}, {"mode", "given"}, {"blocked", {"a"}}}),
              IsErrorAt(400, "mode"));
  EXPECT_THAT(rank({{"items", items(5)}, {"mode", "taken"}}), IsErrorAt(400, "mode"));
}

TEST_F(LogTest, UnknownItemsAreSkippedOnRequest) {
  Json wanted = {{"items", items(3)}, {"missing", "skip"}};
  EXPECT_FALSE(rank(wanted).json().contains("skipped"));
  wanted["items"].push_back("unknown \"one\"");
  const Json ranking = rank(wanted).json();
  EXPECT_EQ(ranking["skipped"], Json({"unknown \"one\""}));
  EXPECT_EQ(ranking["items"].size(), 3U);
  wanted["missing"] = "guess";
  EXPECT_THAT(rank(wanted), IsErrorAt(400, "missing"));
  wanted.erase("missing");
  EXPECT_THAT(rank(wanted), IsErrorAt(400, "items[3]"));
}

TEST_F(LogTest, FurtherEventsAreDeclaredAndCanBeChanged) {
  EXPECT_EQ(model()["candidates"], 0.1);
  const Json ranking = rank({{"items", items(5)}}).json();
  const Json purchase = event(ranking, "purchase", ids_of(ranking)[0]);
  EXPECT_THAT(feedback(purchase), IsErrorAt(400, "event"));
  Json spec = shop();
  spec["events"] = {{"purchase", 10}};
  spec["candidates"] = "all";
  ASSERT_THAT(client.put("/models/shop", spec), HasStatus(200));
  EXPECT_EQ(feedback(purchase).json()["accepted"], 1);
  EXPECT_EQ(feedback(purchase).json()["duplicate"], 1);
  // Put again without them, the model keeps what it has.
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(200));
  ASSERT_THAT(client.put("/models/shop", Json::object()), HasStatus(200));
  EXPECT_THAT(client.put("/models/shop", {{"k", 4}}), IsError(409));
  EXPECT_THAT(client.put("/models/shop", {{"features", 3}}), IsError(409));
  EXPECT_EQ(model()["events"], Json({{"purchase", 10.0}}));
  EXPECT_EQ(model()["candidates"], 1);
  EXPECT_TRUE(impression(rank({{"items", items(9)}}).json()["impression"])["candidates_kept"]);
  for (const Json& wrong : {Json("some"), Json(1.5), Json(-0.1), Json(true), Json(nullptr)}) {
    spec["candidates"] = wrong;
    EXPECT_THAT(client.put("/models/shop", spec), IsErrorAt(400, "candidates")) << wrong;
  }
  spec["candidates"] = 0.5;
  for (const Json& wrong : {Json({{"click", 2}}), Json({{"a b", 2}}), Json({{"", 2}}),
                            Json({{std::string(65, 'a'), 2}}), Json({{"x", "y"}}), Json(3)}) {
    spec["events"] = wrong;
    EXPECT_THAT(client.put("/models/shop", spec), IsError(400)) << wrong;
  }
}

TEST_F(LogTest, AForgottenUnitIsNotFoundAgain) {
  const Json ranking = rank({{"items", items(5)},
                             {"unit", "Ünit/7 %"},
                             {"context", {{"mail", "x@example.org"}}},
                             {"id", "list-of-x"}})
                           .json();
  feedback({event(ranking, "click", ids_of(ranking)[1]), event(ranking, "close")});
  const Json before = weights();
  const Answer forgotten = client.remove("/models/shop/units/%C3%9Cnit%2F7%20%25");
  ASSERT_THAT(forgotten, HasStatus(200)) << forgotten.body;
  EXPECT_EQ(forgotten.json()["impressions"], 1);
  EXPECT_THAT(client.get("/models/shop/impressions/list-of-x"), IsError(404));
  const Json seen = impression("i-0");
  EXPECT_TRUE(seen["unit"].is_null());
  EXPECT_TRUE(seen["context"].is_null());
  EXPECT_TRUE(seen["items"][0]["id"].is_null());
  EXPECT_TRUE(seen["items"][1]["clicked"]);
  EXPECT_THAT(client.post("/vacuum"), HasStatus(200));
  EXPECT_EQ(weights(), before);
  // A late event of it is of an unknown item, or a duplicate close.
  EXPECT_EQ(
      feedback({{"impression", "i-0"}, {"event", "click"}, {"item", "a"}}).json()["unknown_item"],
      1);
  for (const char* unit : {"", "\"\"", "5", "{}", "true"}) {
    const std::string body =
        std::string(R"({"items": [{"id": "a", "features": [1, 2]}], "unit": )") +
        (std::string(unit).empty() ? "\"" + std::string(257, 'u') + "\"" : unit) + "}";
    EXPECT_THAT(client.send("POST", "/models/shop/rank", body), IsErrorAt(400, "unit")) << unit;
  }
  EXPECT_THAT(client.remove("/models/shop/units/"), IsError(404));
  EXPECT_THAT(client.remove("/models/shop/units/%FF"), IsError(400));
  EXPECT_THAT(client.remove("/models/shop/units/a%00"), IsError(400));
  EXPECT_THAT(client.remove("/models/shop/units/" + std::string(300, 'u')), IsError(400));
}

TEST_F(LogTest, ACursorGoesThroughAllImpressionsOnce) {
  std::vector<std::string> shown;
  for (int list = 0; list < 7; ++list) {
    shown.push_back(rank({{"items", items(4)}}).json()["impression"]);
  }
  std::vector<std::string> seen;
  std::string cursor = "start";
  for (int page = 0; page < 5; ++page) {
    const Json answer = client.get("/models/shop/impressions?limit=3&cursor=" + cursor).json();
    for (const Json& one : answer["impressions"]) seen.push_back(one["impression"]);
    cursor = answer["cursor"];
  }
  EXPECT_EQ(seen, shown);
  shown.push_back(rank({{"items", items(4)}}).json()["impression"]);
  const Json later = client.get("/models/shop/impressions?cursor=" + cursor).json();
  EXPECT_EQ(later["impressions"][0]["impression"], shown.back());
  for (const char* wrong : {"-1", "1x", "99999999999999999999", "i-3"}) {
    EXPECT_THAT(client.get(std::string("/models/shop/impressions?cursor=") + wrong), IsError(400));
  }
  EXPECT_THAT(client.get("/models/shop/impressions?cursor="), IsErrorAt(400, "cursor"));
  EXPECT_THAT(client.get("/models/shop/impressions?cursor=3&clicked=true"), IsError(400));
}

TEST_F(LogTest, GivenWeightsAreWhatItRanksBy) {
  Json spec = shop();
  spec["learner"] = "pdgd";
  spec["scaling"] = "none";
  for (const char* ranker : {"linear", "linear+neural"}) {
    const std::string name = std::string(ranker) == "linear" ? "plain" : "deep";
    spec["ranker"] = ranker;
    ASSERT_THAT(client.put("/models/" + name, spec), HasStatus(201));
    const Answer set =
        client.put("/models/" + name + "/weights", {{"weights", {{"price", -2}, {"rating", 0.5}}}});
    ASSERT_THAT(set, HasStatus(200)) << set.body;
    EXPECT_EQ(set.json()["version"], 1);
    const Json ranking =
        client.post("/models/" + name + "/rank", {{"items", items(5)}, {"mode", "exploit"}}).json();
    for (const Json& one : ranking["items"]) {
      const auto at = static_cast<float>(one["id"].get<std::string>()[0] - 'a');
      EXPECT_FLOAT_EQ(one["score"].get<float>(), -2.0F * at + 0.5F * std::fmod(7 * at, 5.0F))
          << ranker;
    }
    EXPECT_THAT(client.put("/models/" + name + "/weights", {{"weights", {{"prize", 1}}}}),
                IsErrorAt(400, "weights.prize"));
    EXPECT_THAT(client.send("PUT", "/models/" + name + "/weights", R"({"weights": [1e999, 0]})"),
                IsError(400));
    EXPECT_THAT(client.put("/models/" + name + "/weights", Json::object()),
                IsErrorAt(400, "weights"));
  }
}

TEST_F(LogTest, AModelStartsFromAFileOfAnotherLearner) {
  Json linear = shop();
  linear["learner"] = "pdgd";
  linear["ranker"] = "linear";
  ASSERT_THAT(client.put("/models/linear", linear), HasStatus(201));
  client.put("/models/linear/weights", {{"weights", {3, -1}}});
  const std::string file = client.get("/models/linear/export").body;
  // Into the default model, whose ranker is linear+neural, and into a new one with another learner.
  for (const char* target : {"/models/shop/import", "/models/new/import?learner=steady"}) {
    const Answer taken = client.send("POST", target, file);
    ASSERT_THAT(taken, HasStatus(200)) << target << taken.body;
    EXPECT_EQ(taken.json()["learner"], "steady");
    const std::string name = taken.json()["name"];
    EXPECT_EQ(weights(name)[0]["weight"], 3);
    const auto order = [&](const std::string& model) {
      return ids_of(client
                        .post("/models/" + model + "/rank",
                              {{"items", items(5)}, {"mode", "exploit"}, {"k", 3}})
                        .json());
    };
    EXPECT_EQ(order(name), order("linear")) << target;
  }
  // Its scaling is the file's, unless the request states another.
  EXPECT_THAT(client.send("POST", "/models/raw/import?scaling=none", file), HasStatus(200));
  EXPECT_EQ(model("raw")["scaling"], "none");
  const Answer other = client.send("POST", "/models/raw/import", file);
  EXPECT_THAT(other, IsError(409));
  EXPECT_THAT(other.body, HasSubstr("its scaling is query-minmax; this model's is none"));
  EXPECT_THAT(client.send("POST", "/models/raw/import?scaling=none", file), HasStatus(200));
  EXPECT_THAT(client.send("POST", "/models/x/import?scaling=some", file), IsError(400));
  EXPECT_THAT(client.send("POST", "/models/x/import?learner=some", file), IsError(400));
  EXPECT_THAT(client.send("POST", "/models/shop/import?learner=pdgd", file), IsError(409));
}

}  // namespace
}  // namespace plackett::testing
