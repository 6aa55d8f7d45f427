// Nothing that was answered is lost when the server stops or is killed, and none of it counts
// twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "http/service.h"
#include "support/eventually.h"

namespace plackett {
namespace {

using testing::event;
using testing::eventually;
using testing::HasStatus;
using testing::HttpClient;
using testing::ids_of;
using testing::item;
using testing::items;
using testing::Json;

class Restart : public testing::ShopTest {
 protected:
  void restart(bool killed) {
    if (killed) {
      server.kill();
    } else {
      EXPECT_EQ(server.stop(), 0) << server.error_output();
    }
    server.start();
    client = server.client();
  }

  // Everything that can be asked about and that a restart has no part in.
  std::map<std::string, Json> everything() {
    std::map<std::string, Json> answers;
    for (const std::string path :
         {"/models", "/models/shop/items/a", "/models/shop/weights", "/models/net/weights",
          "/models/shop/stats", "/models/shop/impressions?limit=100"}) {
      answers[path] = client.get(path).json();
    }
    // The server may take snapshots by itself.
    const Json list = client.get("/models/shop/snapshots").json();
    for (const Json& snapshot : list["snapshots"]) {
      if (snapshot["kind"] == "asked") answers["snapshots"].push_back(snapshot);
    }
    return answers;
  }

  Json best() { return rank({{"items", items(6)}, {"k", 6}, {"mode", "exploit"}}).json()["items"]; }
};

TEST_F(Restart, KeepsEverything) {
  ASSERT_THAT(client.put("/models/net", {{"features", 2}, {"ranker", "neural"}, {"hidden", {4}}}),
              HasStatus(201));
  client.put("/models/shop/items", {{"items", items(4)}});
  for (const std::string model : {"shop", "net"}) {
    testing::rank_click_close(client, model, {{"items", items(6)}});
  }
  client.post("/models/shop/snapshots", {{"note", "kept"}});
  testing::rank_click_close(client, "shop", {{"items", items(6)}, {"context", "kept"}});
  ASSERT_THAT(rank({{"items", items(6)}}), HasStatus(200));  // stays open
  // Updates are counted a little later than they are made.
  ASSERT_TRUE(eventually([&] {
    const Json stats = client.get("/models/shop/stats?points=1").json();
    return stats["points"][0]["updates"] == 2;
  }));
  for (const bool killed : {false, true}) {
    const Json best_before = best();
    const auto before = everything();
    restart(killed);
    const auto after = everything();
    for (const auto& [path, answer] : before) {
      EXPECT_EQ(after.at(path), answer) << path << (killed ? ", killed" : ", stopped");
    }
    EXPECT_EQ(best(), best_before);
  }
}

TEST_F(Restart, LetsOpenImpressionsGetTheirFeedbackOnce) {
  const Json ranking = rank({{"items", items(6)}}).json();
  Json click = event(ranking, "click", ids_of(ranking)[1]);
  click["event_id"] = "e1";
  ASSERT_EQ(feedback(click).json()["accepted"], 1);
  restart(true);
  EXPECT_EQ(feedback(click).json()["duplicate"], 1);
  EXPECT_EQ(feedback(event(ranking, "close")).json()["accepted"], 1);
  EXPECT_EQ(model()["learned"], 1);
  const Json learned = weights();
  restart(true);
  EXPECT_EQ(weights(), learned);
  EXPECT_EQ(model()["learned"], 1);
  EXPECT_EQ(feedback(click).json()["duplicate"], 1);
  EXPECT_EQ(feedback(event(ranking, "view", ids_of(ranking)[0])).json()["late"], 1);
}

TEST_F(Restart, KeepsFreezingAndDeleting) {
  ASSERT_THAT(client.put("/models/gone", {{"features", 1}}), HasStatus(201));
  client.put("/models/shop/items", {{"items", items(2)}});
  ASSERT_THAT(client.remove("/models/gone"), HasStatus(204));
  ASSERT_THAT(client.remove("/models/shop/items/a"), HasStatus(204));
  ASSERT_THAT(client.post("/models/shop/freeze"), HasStatus(200));
  restart(true);
  EXPECT_THAT(client.get("/models/gone"), HasStatus(404));
  EXPECT_THAT(client.get("/models/shop/items/a"), HasStatus(404));
  EXPECT_THAT(client.get("/models/shop/items/b"), HasStatus(200));
  EXPECT_EQ(model()["learning"], false);
  EXPECT_EQ(model()["frozen_because"], "asked");
}

TEST_F(Restart, AfterAKillAtAnyMomentHasEveryImpressionThatWasAnswered) {
  std::set<std::string> answered;
  for (int round = 0; round < 4; ++round) {
    std::set<std::string> now;
    std::thread busy([&, port = server.port()] {
      HttpClient mine(port);
      try {
        for (;;) {
          const Json ranking = mine.post("/models/shop/rank", {{"items", items(6)}}).json();
          now.insert(ranking["impression"].get<std::string>());
          mine.post("/models/shop/feedback",
                    {event(ranking, "click", ids_of(ranking)[1]), event(ranking, "close")});
        }
      } catch (const std::exception&) {  // killed
      }
    });
    EXPECT_TRUE(eventually(
        [&, wanted = model()["learned"].get<int>() + 10] { return model()["learned"] >= wanted; }));
    server.kill();
    busy.join();
    EXPECT_GE(now.size(), 10U);
    server.start();
    client = server.client();
    for (const std::string& id : now) {
      EXPECT_TRUE(answered.insert(id).second) << id << " was given twice";
    }
  }
  for (const std::string& id : answered) {
    EXPECT_THAT(client.get("/models/shop/impressions/" + id), HasStatus(200)) << id;
  }
  EXPECT_GE(model()["impressions"], answered.size());
}

TEST_F(Restart, StopsCleanlyWhileRequestsRun) {
  std::thread busy([&, port = server.port()] {
    HttpClient mine(port);
    try {
      for (;;) {
        if (mine.post("/models/shop/rank", {{"items", items(6)}}).status != 200) return;
      }
    } catch (const std::exception&) {  // stopped
    }
  });
  EXPECT_TRUE(eventually([&] { return model()["impressions"] >= 20; }));
  EXPECT_EQ(server.stop(), 0) << server.error_output();
  busy.join();
  server.start();
  client = server.client();
  EXPECT_GE(model()["impressions"], 20);
}

}  // namespace
}  // namespace plackett
