// Creating models, and refusing those that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::api_description;
using ::testing::Contains;
using testing::HasStatus;
using testing::HttpClient;
using testing::IsError;
using testing::IsErrorAt;
using testing::items;
using testing::Json;
using testing::Server;
using testing::shop;

using Models = testing::ShopTest;

TEST_F(Models, AreCreatedOnceAndKeptAsTheyWereAskedFor) {
  EXPECT_THAT(client.put("/models/shop", shop()), HasStatus(200));
  Json other = shop();
  other["k"] = 4;
  EXPECT_THAT(client.put("/models/shop", other), IsError(409));
  EXPECT_EQ(model()["k"], 3);
}

TEST_F(Models, AreGoneWhenDeletedAndStartAnewUnderTheSameName) {
  testing::rank_click_close(client, "shop", {{"items", items(4)}});
  EXPECT_THAT(client.remove("/models/shop"), HasStatus(204));
  EXPECT_THAT(client.get("/models/shop"), IsError(404));
  EXPECT_THAT(client.remove("/models/shop"), IsError(404));
  EXPECT_THAT(rank({{"items", items(4)}}), IsError(404));
  EXPECT_THAT(client.put("/models/shop", {{"features", 5}}), HasStatus(201));
  EXPECT_EQ(model()["features"], 5);
  EXPECT_EQ(model()["impressions"], 0);
  EXPECT_EQ(model()["learned"], 0);
  for (const Json& weight : weights()) EXPECT_EQ(weight["weight"], 0);
}

TEST_F(Models, SayWhatTheyWereAskedToBe) {
  const Json spec = {{"features", {"price", "rating", "age"}},
                     {"ranker", "neural"},
                     {"hidden", {8, 4}},
                     {"activation", "tanh"},
                     {"learner", "pdgd"},
                     {"learning_rate", 0.25},
                     {"k", 7},
                     {"scaling", "none"},
                     {"seed", 123456789},
                     {"temperature", 0.5},
                     {"open_seconds", 60}};
  const Answer answer = client.put("/models/net", spec);
  ASSERT_THAT(answer, HasStatus(201));
  Json expected = spec;
  expected["feature_names"] = expected["features"];
  expected["features"] = 3;
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(answer.json()[key], value) << key;
  EXPECT_EQ(client.get("/models/net").json(), answer.json());
  EXPECT_GT(answer.json()["parameters"], 3 * 8 + 8 * 4);
}

TEST_F(Models, HaveTheDefaultsOfTheDescription) {
  const Json made = client.put("/models/plain", {{"features", 2}}).json();
  int defaults = 0;
  const Json& properties = api_description()["components"]["schemas"]["ModelSpec"]["properties"];
  for (const auto& [key, property] : properties.items()) {
    if (!property.contains("default")) continue;
    EXPECT_EQ(made[key], property["default"]) << key;
    ++defaults;
  }
  EXPECT_GE(defaults, 6);
  EXPECT_EQ(made["ranker"], "linear+neural");
  EXPECT_EQ(made["learning_rate"], 0.12);
  EXPECT_EQ(made["feature_names"], Json());
  Json said = {{"features", 2}, {"k", 10}, {"learner", "default"}, {"scaling", "query-minmax"}};
  EXPECT_THAT(client.put("/models/plain", said), HasStatus(200)) << "the same, said aloud";
}

TEST_F(Models, AreListedEach) {
  ASSERT_THAT(client.put("/models/another", {{"features", 1}}), HasStatus(201));
  std::vector<std::string> names;
  const Json list = client.get("/models").json();
  for (const Json& one : list["models"]) names.push_back(one["name"]);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("another", "shop"));
}

TEST_F(Models, ThatMakeNoSenseAreRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", ""},
      {R"([])", ""},
      {R"("features")", ""},
      {R"({"features": 0})", "features"},
      {R"({"features": -1})", "features"},
      {R"({"features": 1.5})", "features"},
      {R"({"features": "two"})", "features"},
      {R"({"features": null})", "features"},
      {R"({"features": 1000000000000000})", "features"},
      {R"({"features": []})", "features"},
      {R"({"features": ["a", 1]})", "features[1]"},
      {R"({"features": ["a", "b", "a"]})", "features[2]"},
      {R"({"features": 2, "ranker": "forest"})", "ranker"},
      {R"({"features": 2, "ranker": "neural", "hidden": [0]})", "hidden[0]"},
      {R"({"features": 2, "ranker": "neural", "hidden": 4})", "hidden"},
      {R"({"features": 2, "ranker": "neural", "hidden": [1000000000000000]})", "hidden[0]"},
      {R"({"features": 2, "ranker": "neural", "activation": "step"})", "activation"},
      {R"({"features": 2, "learner": "magic"})", "learner"},
      {R"({"features": 2, "settings": {"magic": 1}})", "settings"},
      {R"({"features": 2, "settings": {"steps": "magic"}})", "settings"},
      {R"({"features": 2, "settings": []})", "settings"},
      {R"({"features": 2, "learning_rate": 0})", "learning_rate"},
      {R"({"features": 2, "learning_rate": "0.1"})", "learning_rate"},
      {R"({"features": 2, "k": 0})", "k"},
      {R"({"features": 2, "k": -3})", "k"},
      {R"({"features": 2, "k": 2.5})", "k"},
      {R"({"features": 2, "scaling": "log"})", "scaling"},
      {R"({"features": 2, "seed": -1})", "seed"},
      {R"({"features": 2, "temperature": 0})", "temperature"},
      {R"({"features": 2, "temperature": -1})", "temperature"},
      {R"({"features": 2, "open_seconds": -1})", "open_seconds"},
      {R"({"features": 2, "colour": "red"})", "colour"},
  };
  for (const auto& [body, where] : cases) {
    const Answer answer = client.send("PUT", "/models/odd", body);
    EXPECT_THAT(answer, IsError(400)) << body;
    if (answer.status == 400) {
      EXPECT_THAT(answer.json()["error"].value("where", ""), ::testing::StartsWith(where)) << body;
    }
    EXPECT_THAT(client.get("/models/odd"), IsError(404)) << body;
  }
}

TEST_F(Models, HaveNamesOfUpTo64PlainCharacters) {
  const std::string longest = "Az09._-" + std::string(57, 'n');
  EXPECT_THAT(client.put("/models/" + longest, {{"features", 1}}), HasStatus(201));
  EXPECT_EQ(model(longest)["name"], longest);
  for (const std::string& bad : {longest + "n", std::string("a%20b"), std::string("%C3%BC"),
                                 std::string("a%2Fb"), std::string("a%00b"), std::string("a+b")}) {
    const Answer answer = client.put("/models/" + bad, {{"features", 1}});
    EXPECT_THAT(answer, AnyOf(IsError(400), IsError(404))) << bad;
  }
}

TEST_F(Models, CreatedAlikeAtOnceAreAllAnsweredAlike) {
  for (int round = 0; round < 10; ++round) {
    const std::string name = "/models/m" + std::to_string(round);
    std::vector<std::thread> threads;
    std::atomic<int> created = 0;
    std::atomic<int> there = 0;
    for (int at = 0; at < 8; ++at) {
      threads.emplace_back([&] {
        const int status = server.client().put(name, testing::shop()).status;
        if (status == 201) ++created;
        if (status == 200) ++there;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(created, 1);
    EXPECT_EQ(there, 7);
  }
}

}  // namespace
}  // namespace plackett
