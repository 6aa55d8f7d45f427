// Many clients at once, and more than the server takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::HasStatus;
using testing::HttpClient;
using testing::IsError;
using testing::items;
using testing::Json;
using testing::Server;

constexpr int kClients = 6;

// Runs `work` on so many threads, each with a client of its own.
template <typename Work>
void at_once(const Server& server, const Work& work) {
  std::vector<std::thread> threads;
  for (int one = 0; one < kClients; ++one) {
    threads.emplace_back([&] {
      HttpClient client = server.client();
      work(client);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Load, OfManyClientsAtOnceCountsEachImpressionOnce) {
  constexpr int kRounds = 25;
  Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", testing::shop()), HasStatus(201));
  at_once(server, [](HttpClient& mine) {
    for (int round = 0; round < kRounds; ++round) {
      testing::rank_click_close(mine, "shop", {{"items", items(6)}});
    }
  });
  const Json model = client.get("/models/shop").json();
  EXPECT_EQ(model["impressions"], kClients * kRounds);
  EXPECT_EQ(model["learned"], kClients * kRounds);
  EXPECT_EQ(model["open"], 0);
  EXPECT_EQ(client.get("/models/shop/stats").json()["total"]["clicks"], kClients * kRounds);
}

TEST(Load, ThatGoesOnLeavesMemoryWhereItWas) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#endif
  // Every impression holds 5 KB of features: kept in memory, those after the warming were 25 MB.
  constexpr int kWarming = 250;
  constexpr int kRounds = 850;
  constexpr long kGrowthKb = 6 * 1024;
  Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/wide", {{"features", 136}, {"open_seconds", 2}}), HasStatus(201));
  Json stored = Json::array();
  Json names = Json::array();
  for (int at = 0; at < 20; ++at) {
    names.push_back("item-" + std::to_string(at));
    stored.push_back(testing::item(names.back(), std::vector<double>(136, 0.01 * at)));
  }
  ASSERT_THAT(client.put("/models/wide/items", {{"items", stored}}), HasStatus(200));
  const auto soak = [&](int rounds) {
    at_once(server, [&](HttpClient& mine) {
      for (int round = 0; round < rounds; ++round) {
        const Answer ranked = mine.post("/models/wide/rank", {{"items", names}});
        ASSERT_THAT(ranked, HasStatus(200));
        if (round % 10 != 0) continue;
        const Json ranking = ranked.json();
        ASSERT_THAT(mine.post("/models/wide/feedback",
                              testing::event(ranking, "click", testing::ids_of(ranking)[3])),
                    HasStatus(200));
      }
    });
  };
  soak(kWarming);
  const long before = server.status("VmRSS");
  soak(kRounds);
  EXPECT_LT(server.status("VmRSS") - before, kGrowthKb);
}

TEST(Load, BeyondTheQueueIsRefusedAndLeavesNoTrace) {
  Server server({"--queue", "1"});
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", testing::shop()), HasStatus(201));
  // Writing these takes the store long enough for the others to fill its queue.
  Json stored = Json::array();
  for (int at = 0; at < 2000; ++at) {
    stored.push_back(testing::item("stored-" + std::to_string(at), {at, 1}));
  }
  const Json many = {{"items", stored}};
  std::atomic<int> ranked = 0;
  std::atomic<int> refused = 0;
  const auto is_taken = [&](const Answer& answer) {
    if (answer.status == 200) return true;
    EXPECT_THAT(answer, IsError(429));
    EXPECT_EQ(answer.header("Retry-After"), "1");
    ++refused;
    return false;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  at_once(server, [&](HttpClient& mine) {
    const auto goes_on = [&] { return refused == 0 && std::chrono::steady_clock::now() < end; };
    for (int round = 0; round < 100 || goes_on(); ++round) {
      if (is_taken(mine.post("/models/shop/rank", {{"items", items(6)}}))) ++ranked;
      if (round % 20 == 0) is_taken(mine.put("/models/shop/items", many));
    }
  });
  EXPECT_GT(ranked, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(client.get("/models/shop").json()["impressions"], ranked.load());
}

TEST(Load, OfModelsMadeAndDeletedWhileTheyAreUsedIsAnsweredInOrder) {
  Server server;
  at_once(server, [](HttpClient& mine) {
    for (int round = 0; round < 15; ++round) {
      EXPECT_THAT(mine.put("/models/shop", testing::shop()).status,
                  ::testing::AnyOf(200, 201, 409));
      const Answer ranked = mine.post("/models/shop/rank", {{"items", items(6)}});
      ASSERT_THAT(ranked.status, ::testing::AnyOf(200, 404)) << ranked.body;
      if (ranked.status == 200) {
        const Json ranking = ranked.json();
        const Answer taken = mine.post("/models/shop/feedback", testing::event(ranking, "close"));
        EXPECT_THAT(taken.status, ::testing::AnyOf(200, 404)) << taken.body;
      }
      EXPECT_THAT(mine.remove("/models/shop").status, ::testing::AnyOf(204, 404));
    }
  });
  EXPECT_THAT(server.client().get("/health"), HasStatus(200));
}

}  // namespace
}  // namespace plackett
