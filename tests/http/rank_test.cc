// Rankings: what is in them, at which place, and how likely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::ids_of;
using testing::IsError;
using testing::IsErrorAt;
using ::testing::IsSubsetOf;
using testing::item;
using testing::items;
using testing::Json;
using ::testing::Not;
using testing::rank_click_close;
using testing::Server;
using testing::shop;
using ::testing::SizeIs;

using Rank = testing::ShopTest;

const std::vector<std::string> kSix = {"a", "b", "c", "d", "e", "f"};

TEST_F(Rank, ShowsAsManyAsAskedForEachOnce) {
  for (const int k : {1, 2, 5, 6, 50}) {
    const Json ranking = rank({{"items", items(6)}, {"k", k}}).json();
    const std::vector<std::string> ids = ids_of(ranking);
    EXPECT_THAT(ids, SizeIs(std::min(k, 6)));
    EXPECT_THAT(ids, IsSubsetOf(kSix));
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
    for (std::size_t at = 0; at < ids.size(); ++at) {
      EXPECT_EQ(ranking["items"][at]["rank"], at + 1);
      EXPECT_FALSE(ranking["items"][at].contains("pinned"));
    }
  }
  EXPECT_THAT(ids_of(rank({{"items", items(6)}}).json()), SizeIs(3)) << "the model's own k";
}

TEST_F(Rank, OfAModelThatKnowsNothingIsEquallyLikelyInAnyOrder) {
  const Json ranking = rank({{"items", items(6)}}).json();
  EXPECT_THAT(ranking["log_probability"].get<double>(), DoubleNear(-std::log(6. * 5 * 4), 1e-6));
  EXPECT_THAT(ranking["entropy"].get<double>(), DoubleNear(std::log(6.), 1e-6));
}

TEST_F(Rank, CountsOnlyWhatWasDrawnInItsProbability) {
  const Json ranking =
      rank({{"items", items(6)}, {"pinned", {{{"id", "b"}, {"rank", 2}}}}, {"blocked", {"a"}}})
          .json();
  EXPECT_THAT(ranking["log_probability"].get<double>(), DoubleNear(-std::log(4. * 3), 1e-6));
  EXPECT_THAT(ranking["entropy"].get<double>(), DoubleNear(std::log(4.), 1e-6));
}

TEST_F(Rank, IsTheSameOnAnotherServerWithTheSameModelAndPast) {
  Server twin;
  HttpClient other = twin.client();
  ASSERT_THAT(other.put("/models/shop", shop()), HasStatus(201));
  std::set<std::vector<std::string>> seen;
  for (int round = 0; round < 12; ++round) {
    const Json one = rank_click_close(client, "shop", {{"items", items(6)}});
    const Json two = rank_click_close(other, "shop", {{"items", items(6)}});
    EXPECT_EQ(one, two) << round;
    seen.insert(ids_of(one));
  }
  EXPECT_GT(seen.size(), 3U) << "it does not explore";
}

TEST_F(Rank, PutsPinnedItemsAtTheirPlaces) {
  for (int round = 0; round < 20; ++round) {
    const Json ranking =
        rank({{"items", items(6)},
              {"k", 4},
              {"pinned", {{{"id", "e"}, {"rank", 4}}, {{"id", "b"}, {"rank", 2}}}}})
            .json();
    const std::vector<std::string> ids = ids_of(ranking);
    ASSERT_THAT(ids, SizeIs(4));
    EXPECT_EQ(ids[1], "b");
    EXPECT_EQ(ids[3], "e");
    EXPECT_EQ(ranking["items"][1]["pinned"], true);
    EXPECT_EQ(ranking["items"][3]["pinned"], true);
    EXPECT_FALSE(ranking["items"][0].contains("pinned"));
  }
}

TEST_F(Rank, NeverLearnsFromPinnedItems) {
  for (int round = 0; round < 10; ++round) {
    const Json ranking =
        rank({{"items", items(6)}, {"k", 4}, {"pinned", {{{"id", "b"}, {"rank", 2}}}}}).json();
    const std::vector<std::string> ids = ids_of(ranking);
    ASSERT_THAT(
        feedback({testing::event(ranking, "click", ids[1]),
                  testing::event(ranking, "click", ids[2]), testing::event(ranking, "close")}),
        HasStatus(200));
    const Json shown = impression(ranking["impression"]);
    EXPECT_EQ(shown["items"][1]["pinned"], true);
    EXPECT_EQ(shown["items"][1]["clicked"], true);
    EXPECT_FALSE(shown["pairs"].empty());
    for (const Json& pair : shown["pairs"]) {
      EXPECT_NE(pair["winner"], "b");
      EXPECT_NE(pair["loser"], "b");
      EXPECT_EQ(pair["winner"], ids[2]);
    }
  }
}

TEST_F(Rank, NeverShowsBlockedItems) {
  for (int round = 0; round < 20; ++round) {
    const Json ranking = rank({{"items", items(6)}, {"k", 6}, {"blocked", {"a", "f"}}}).json();
    EXPECT_THAT(ids_of(ranking), ::testing::UnorderedElementsAre("b", "c", "d", "e"));
  }
}

TEST_F(Rank, SortsByScoreWhereAskedToExploit) {
  for (int round = 0; round < 5; ++round) rank_click_close(client, "shop", {{"items", items(6)}});
  const Json ranking = rank({{"items", items(6)}, {"k", 6}, {"mode", "exploit"}}).json();
  std::vector<double> scores;
  for (const Json& shown : ranking["items"]) scores.push_back(shown["score"]);
  EXPECT_TRUE(std::is_sorted(scores.rbegin(), scores.rend())) << ranking;
  EXPECT_GT(scores.front(), scores.back());
  EXPECT_EQ(ranking["log_probability"], 0);
  const Json again = rank({{"items", items(6)}, {"k", 6}, {"mode", "exploit"}}).json();
  EXPECT_EQ(again["items"], ranking["items"]);
}

TEST_F(Rank, LearnsNothingFromWhatItExploited) {
  rank_click_close(client, "shop", {{"items", items(6)}});
  const Json before = weights();
  const Json learned = model()["learned"];
  const Json ranking = rank({{"items", items(6)}, {"mode", "exploit"}}).json();
  feedback(
      {testing::event(ranking, "click", ids_of(ranking).back()), testing::event(ranking, "close")});
  EXPECT_EQ(weights(), before);
  EXPECT_EQ(model()["learned"], learned);
  EXPECT_EQ(impression(ranking["impression"])["state"], "closed");
  EXPECT_EQ(impression(ranking["impression"])["mode"], "exploit");
}

TEST_F(Rank, KeepsTheContextWithTheImpression) {
  const Json contexts[] = {
      {{"query", "schöne Schuhe"}, {"deep", {1, {2, {3}}}}}, "text", 7, {1, 2}, true, nullptr};
  for (const Json& context : contexts) {
    const Json ranking = rank({{"items", items(3)}, {"context", context}}).json();
    EXPECT_EQ(impression(ranking["impression"])["context"], context);
  }
  const Json ranking = rank({{"items", items(3)}}).json();
  EXPECT_EQ(impression(ranking["impression"])["context"], nullptr);
}

TEST_F(Rank, TakesAnImpressionIdOnce) {
  const Json ranking = rank({{"items", items(3)}, {"id", "mine"}}).json();
  EXPECT_EQ(ranking["impression"], "mine");
  EXPECT_THAT(rank({{"items", items(3)}, {"id", "mine"}}), IsError(409));
  EXPECT_EQ(model()["impressions"], 1);
  for (const std::string id : {"i-0", "i-5", "i-123456789"}) {
    const Answer refused = rank({{"items", items(3)}, {"id", id}});
    EXPECT_THAT(refused, IsErrorAt(400, "id"));
    EXPECT_THAT(refused.json()["error"]["message"].get<std::string>(), HasSubstr("i-NUMBER"));
  }
  for (const std::string id : {"i-", "i-x", "i-5x", "i-05", "I-5", "5"}) {
    EXPECT_EQ(rank({{"items", items(3)}, {"id", id}}).json().value("impression", ""), id);
    EXPECT_EQ(impression(id)["impression"], id);
  }
  EXPECT_THAT(rank({{"items", items(3)}, {"id", ""}}), IsErrorAt(400, "id"));
  EXPECT_THAT(rank({{"items", items(3)}, {"id", std::string(257, 'x')}}), IsErrorAt(400, "id"));
  EXPECT_THAT(rank({{"items", items(3)}, {"id", std::string(256, 'x')}}), HasStatus(200));
}

TEST_F(Rank, RefusesRequestsThatMakeNoSense) {
  const std::pair<Json, std::string> cases[] = {
      {Json::object(), ""},
      {Json::array(), ""},
      {{{"items", Json::array()}}, "items"},
      {{{"items", "a"}}, "items"},
      {{{"items", {1}}}, "items[0]"},
      {{{"items", Json::array({Json::object()})}}, "items[0]"},
      {{{"items", {item("a", {1, 1}), item("b", {1, 1}), item("a", {2, 2})}}}, "items[2]"},
      {{{"items", {{{"id", "a"}, {"features", {1, 1}}, {"colour", 1}}}}}, "items[0]"},
      {{{"items", items(3)}, {"k", 0}}, "k"},
      {{{"items", items(3)}, {"k", -1}}, "k"},
      {{{"items", items(3)}, {"k", "3"}}, "k"},
      {{{"items", items(3)}, {"k", 1.5}}, "k"},
      {{{"items", items(3)}, {"k", 101}}, "k"},
      {{{"items", items(3)}, {"mode", "guess"}}, "mode"},
      {{{"items", items(3)}, {"id", 7}}, "id"},
      {{{"items", items(3)}, {"colour", 1}}, "colour"},
      {{{"items", items(3)}, {"pinned", "a"}}, "pinned"},
      {{{"items", items(3)}, {"pinned", {{{"id", "a"}}}}}, "pinned[0]"},
      {{{"items", items(3)}, {"pinned", {{{"rank", 1}}}}}, "pinned[0]"},
      {{{"items", items(3)}, {"pinned", {{{"id", "a"}, {"rank", 0}}}}}, "pinned[0]"},
      {{{"items", items(3)}, {"pinned", {{{"id", "z"}, {"rank", 1}}}}}, "pinned[0]"},
      {{{"items", items(3)}, {"k", 2}, {"pinned", {{{"id", "a"}, {"rank", 3}}}}}, "pinned[0]"},
      {{{"items", items(3)}, {"pinned", {{{"id", "a"}, {"rank", 1}}, {{"id", "b"}, {"rank", 1}}}}},
       "pinned[1]"},
      {{{"items", items(3)}, {"pinned", {{{"id", "a"}, {"rank", 1}}, {{"id", "a"}, {"rank", 2}}}}},
       "pinned[1]"},
      {{{"items", items(3)}, {"blocked", "a"}}, "blocked"},
      {{{"items", items(3)}, {"blocked", {1}}}, "blocked[0]"},
  };
  for (const auto& [body, where] : cases) {
    const Answer answer = rank(body);
    EXPECT_THAT(answer, IsError(400)) << body;
    if (answer.status == 400) {
      EXPECT_THAT(answer.json()["error"].value("where", ""), ::testing::StartsWith(where)) << body;
    }
  }
  EXPECT_EQ(model()["impressions"], 0);
}

TEST(RankLimits, RefusesMoreItemsThanTheServerAllows) {
  Server server({"--max-items", "5"});
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  EXPECT_THAT(client.post("/models/shop/rank", {{"items", items(6)}}), IsError(413));
  EXPECT_THAT(client.post("/models/shop/rank", {{"items", items(5)}}), HasStatus(200));
}

// The largest floats, whose differences no float holds.
TEST_F(Rank, OfTheLargestNumbersHasFiniteScores) {
  const double largest = 3.4e38;
  for (const std::string scaling : {"query-minmax", "none"}) {
    ASSERT_THAT(client.put("/models/far-" + scaling, {{"features", 2}, {"scaling", scaling}}),
                HasStatus(201));
    const Json body = {{"items",
                        {item("a", {largest, -largest}), item("b", {-largest, largest}),
                         item("c", {largest, largest}), item("d", {0, 0})}},
                       {"k", 3}};
    for (int round = 0; round < 5; ++round) {
      const Answer answer = client.post("/models/far-" + scaling + "/rank", body);
      if (answer.status != 200) {
        EXPECT_THAT(answer, AnyOf(IsError(400), IsError(409), IsError(503))) << scaling;
        break;
      }
      EXPECT_THAT(testing::faults_of(answer, "Ranking"), ::testing::IsEmpty()) << scaling;
      const Json ranking = answer.json();
      client.post("/models/far-" + scaling + "/feedback",
                  {testing::event(ranking, "click", ids_of(ranking).back()),
                   testing::event(ranking, "close")});
    }
    EXPECT_THAT(testing::faults_of(client.get("/models/far-" + scaling + "/weights"), "Weights"),
                ::testing::IsEmpty())
        << scaling;
  }
}

}  // namespace
}  // namespace plackett
