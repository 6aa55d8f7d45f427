// What was learned: kept, undone, stopped and moved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
using testing::event;
using testing::HasStatus;
using testing::ids_of;
using testing::IsError;
using testing::items;
using testing::Json;

class Learning : public testing::ShopTest {
 protected:
  void learn(int impressions) {
    for (int round = 0; round < impressions; ++round) {
      testing::rank_click_close(client, "shop", {{"items", items(6)}});
    }
  }

  Answer import(const std::string& name, const std::string& file) {
    return client.send("POST", "/models/" + name + "/import", file,
                       {{"Content-Type", "application/octet-stream"}});
  }
};

TEST_F(Learning, GoesBackToTheVeryWeightsOfASnapshot) {
  learn(3);
  const Json then = weights();
  const Json snapshot = client.post("/models/shop/snapshots", {{"note", "before"}}).json();
  EXPECT_EQ(snapshot["kind"], "asked");
  EXPECT_EQ(snapshot["note"], "before");
  EXPECT_EQ(snapshot["learned"], 3);
  learn(3);
  ASSERT_NE(weights(), then);
  const Json before = model();
  const Answer back = client.post("/models/shop/rollback", {{"snapshot", snapshot["id"]}});
  ASSERT_THAT(back, HasStatus(200));
  EXPECT_EQ(weights(), then);
  EXPECT_GT(back.json()["version"], before["version"]);
  learn(1);
  EXPECT_NE(weights(), then) << "it goes on learning";
}

TEST_F(Learning, WhatWasLearnedCanBeRolledBackToAfterWeightsOrAFileReplacedIt) {
  ASSERT_THAT(client.put("/models/linear", {{"features", {"price", "rating"}},
                                            {"learner", "steady"},
                                            {"ranker", "linear+neural"}}),
              HasStatus(201));
  const std::string file = client.get("/models/linear/export").body;
  const auto newest = [&] { return client.get("/models/shop/snapshots").json()["snapshots"]; };
  const auto kept = [&](const char* note) -> Json {
    for (const Json& snapshot : newest()) {
      if (snapshot["note"] == note) return snapshot["id"];
    }
    return nullptr;
  };
  learn(3);
  const Json learned = weights();
  ASSERT_THAT(client.put("/models/shop/weights", {{"weights", {1, 2}}}), HasStatus(200));
  ASSERT_NE(weights(), learned);
  ASSERT_NE(kept("before weights were set"), nullptr);
  // Nothing was learned since, so that nothing is lost.
  const std::size_t snapshots = newest().size();
  ASSERT_THAT(client.put("/models/shop/weights", {{"weights", {3, 4}}}), HasStatus(200));
  EXPECT_EQ(newest().size(), snapshots + 1);
  client.post("/models/shop/rollback", {{"snapshot", kept("before weights were set")}});
  EXPECT_EQ(weights(), learned);
  ASSERT_THAT(import("shop", file), HasStatus(200));
  EXPECT_NE(weights(), learned);
  ASSERT_NE(kept("before a file was imported"), nullptr);
  client.post("/models/shop/rollback", {{"snapshot", kept("before a file was imported")}});
  EXPECT_EQ(weights(), learned);
}

TEST_F(Learning, ListsSnapshotsNewestFirst) {
  for (const char* note : {"one", "two", "three"}) {
    ASSERT_THAT(client.post("/models/shop/snapshots", {{"note", note}}), HasStatus(201));
  }
  std::vector<std::string> asked;
  Json newer = 1000'000;
  const Json list = client.get("/models/shop/snapshots").json();
  for (const Json& snapshot : list["snapshots"]) {
    EXPECT_LT(snapshot["id"], newer);
    newer = snapshot["id"];
    if (snapshot["kind"] == "asked") asked.push_back(snapshot["note"]);
  }
  EXPECT_THAT(asked, ElementsAre("three", "two", "one"));
}

TEST_F(Learning, GoesNowhereForASnapshotThatIsNotThere) {
  learn(2);
  const Json before = weights();
  EXPECT_THAT(client.post("/models/shop/rollback", {{"snapshot", 999}}), IsError(404));
  EXPECT_THAT(client.post("/models/shop/rollback", {{"snapshot", -1}}), IsError(400));
  EXPECT_THAT(client.post("/models/shop/rollback", {{"snapshot", "1"}}), IsError(400));
  EXPECT_THAT(client.post("/models/shop/rollback", Json::object()), IsError(400));
  EXPECT_THAT(client.post("/models/shop/rollback"), IsError(400));
  EXPECT_EQ(weights(), before);
}

TEST_F(Learning, StopsWhileFrozenAndGoesOnWhenResumed) {
  learn(2);
  const Json frozen = client.post("/models/shop/freeze").json();
  EXPECT_EQ(frozen["learning"], false);
  EXPECT_EQ(frozen["frozen_because"], "asked");
  const Json before = weights();
  const Json ranking = testing::rank_click_close(client, "shop", {{"items", items(6)}});
  EXPECT_EQ(weights(), before);
  EXPECT_EQ(model()["learned"], 2);
  EXPECT_EQ(impression(ranking["impression"])["state"], "closed");
  const Json resumed = client.post("/models/shop/resume").json();
  EXPECT_EQ(resumed["learning"], true);
  EXPECT_EQ(resumed["frozen_because"], nullptr);
  learn(1);
  EXPECT_NE(weights(), before);
}

TEST_F(Learning, FreezingTwiceIsFreezing) {
  EXPECT_THAT(client.post("/models/shop/freeze"), HasStatus(200));
  EXPECT_THAT(client.post("/models/shop/freeze"), HasStatus(200));
  EXPECT_THAT(client.post("/models/shop/resume"), HasStatus(200));
  EXPECT_THAT(client.post("/models/shop/resume"), HasStatus(200));
  EXPECT_EQ(model()["learning"], true);
}

TEST_F(Learning, MovesToAnotherModelByExportAndImport) {
  learn(4);
  const Answer file = client.get("/models/shop/export");
  ASSERT_THAT(file, HasStatus(200));
  EXPECT_EQ(file.type(), "application/octet-stream");
  ASSERT_THAT(client.put("/models/twin", testing::shop()), HasStatus(201));
  const Json before = model("twin");
  ASSERT_THAT(import("twin", file.body), HasStatus(200));
  EXPECT_EQ(weights("twin"), weights());
  EXPECT_GT(model("twin")["version"], before["version"]);
  const Json body = {{"items", items(6)}, {"k", 6}, {"mode", "exploit"}};
  EXPECT_EQ(client.post("/models/twin/rank", body).json()["items"], rank(body).json()["items"]);
}

TEST_F(Learning, MovesToAModelThatImportCreates) {
  learn(4);
  const std::string file = client.get("/models/shop/export").body;
  ASSERT_THAT(import("new", file), HasStatus(200));
  const Json mine = weights();
  const Json theirs = weights("new");
  ASSERT_EQ(theirs.size(), mine.size());
  for (std::size_t at = 0; at < mine.size(); ++at) {
    EXPECT_EQ(theirs[at]["weight"], mine[at]["weight"]);
  }
  EXPECT_EQ(client.get("/models/new/export").body, file);
}

TEST_F(Learning, TakesNoFileThatIsNotWhole) {
  learn(2);
  const Json before = weights();
  const std::string file = client.get("/models/shop/export").body;
  EXPECT_THAT(import("shop", ""), IsError(400));
  EXPECT_THAT(import("shop", "{}"), IsError(400));
  EXPECT_THAT(import("shop", file.substr(0, file.size() - 1)), IsError(400));
  EXPECT_THAT(import("shop", file + "x"), IsError(400));
  for (std::size_t at = 0; at < file.size(); ++at) {
    if (at >= 12 && at < 16) continue;  // reserved, and not read
    std::string flipped = file;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    EXPECT_THAT(import("shop", flipped), IsError(400)) << "byte " << at;
  }
  EXPECT_EQ(weights(), before);
}

TEST_F(Learning, TakesNoFileOfAnotherShape) {
  ASSERT_THAT(client.put("/models/three", {{"features", 3}}), HasStatus(201));
  EXPECT_THAT(import("shop", client.get("/models/three/export").body), IsError(409));
  EXPECT_EQ(model()["features"], 2);
}

TEST_F(Learning, ShowsTheStrengthOfFeaturesAndTheirWeightsWhereThereAreAny) {
  learn(2);
  EXPECT_EQ(weights()[0]["feature"], 1);
  EXPECT_EQ(weights()[1]["feature"], 2);
  ASSERT_THAT(client.put("/models/line", {{"features", 2}, {"learner", "pdgd"}}), HasStatus(201));
  testing::rank_click_close(client, "line", {{"items", items(6)}});
  EXPECT_GT(weights("line")[0]["strength"], 0);
  for (const Json& weight : weights("line")) {
    EXPECT_EQ(weight["strength"], std::abs(weight["weight"].get<double>()));
  }
  ASSERT_THAT(client.put("/models/net", {{"features", 3}, {"ranker", "neural"}, {"hidden", {4}}}),
              HasStatus(201));
  ASSERT_EQ(weights("net").size(), 3U);
  for (const Json& weight : weights("net")) {
    EXPECT_FALSE(weight.contains("weight"));
    EXPECT_EQ(weight["name"], nullptr);
    EXPECT_GT(weight["strength"], 0);
  }
}

TEST_F(Learning, WorksWithEveryLearnerAndRanker) {
  for (const Json& spec : {Json{{"learner", "pdgd"}, {"ranker", "neural"}, {"hidden", {4}}},
                           Json{{"learner", "pdgd"}, {"ranker", "linear+neural"}, {"hidden", {4}}},
                           Json{{"learner", "cascade"}}, Json{{"learner", "steady"}},
                           Json{{"learner", "pdgd"}, {"settings", {{"steps", "adagrad"}}}}}) {
    Json whole = spec;
    whole["features"] = 2;
    ASSERT_THAT(client.put("/models/any", whole), HasStatus(201)) << spec;
    const Json before = weights("any");
    const Json version = model("any")["version"];
    testing::rank_click_close(client, "any", {{"items", items(6)}});
    EXPECT_NE(weights("any"), before) << spec;
    EXPECT_GT(model("any")["version"], version) << spec;
    ASSERT_THAT(client.remove("/models/any"), HasStatus(204));
  }
}

}  // namespace
}  // namespace plackett
