// GET /models/{m}/what-if. What it estimates is tested in tests/serving/what_if_test.cc.
#include <gmock/gmock.h>

#include "http/service.h"

namespace plackett {
namespace {

using testing::event;
using testing::faults_of;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::ids_of;
using ::testing::IsEmpty;
using testing::IsError;
using testing::IsErrorAt;
using testing::items;
using testing::Json;
using testing::Server;
using testing::shop;

class WhatIfOverHttp : public ::testing::Test {
 protected:
  WhatIfOverHttp() : client(server.client()) {
    Json spec = shop();
    spec["candidates"] = "all";
    EXPECT_THAT(client.put("/models/shop", spec), HasStatus(201));
  }
  void show(int lists) {
    for (int at = 0; at < lists; ++at) {
      const Json ranking = client.post("/models/shop/rank", {{"items", items(5)}}).json();
      Json events = Json::array();
      if (at % 2 == 0) events.push_back(event(ranking, "click", ids_of(ranking).front()));
      events.push_back(event(ranking, "close"));
      EXPECT_THAT(client.post("/models/shop/feedback", events), HasStatus(200));
    }
  }
  Json rank_one() { return client.post("/models/shop/rank", {{"items", items(5)}}).json(); }
  testing::Answer ask(const std::string& query) {
    return client.get("/models/shop/what-if?" + query);
  }

  Server server;
  HttpClient client;
};

TEST_F(WhatIfOverHttp, GivesEachPolicyWithItsEstimates) {
  EXPECT_THAT(client.post("/models/shop/freeze", Json::object()), HasStatus(200));
  show(120);
  EXPECT_THAT(client.post("/models/shop/snapshots", Json::object()), HasStatus(201));
  const auto answer =
      ask("policy=snapshot:1&policy=current@0&policy=logged@2&metric=click-through");
  ASSERT_THAT(answer, HasStatus(200)) << answer.body;
  EXPECT_THAT(faults_of(answer, "WhatIf"), IsEmpty());
  const Json report = answer.json();
  EXPECT_EQ(report["lists"], 120);
  EXPECT_EQ(report["kept"], 120);
  EXPECT_EQ(report["metric"], "click-through");
  EXPECT_EQ(report["logged"]["value"], 0.5);
  EXPECT_LT(report["logged"]["low"], 0.5);
  ASSERT_EQ(report["policies"].size(), 3U);
  const Json& own = report["policies"][0];
  EXPECT_EQ(own["name"], "snapshot:1");
  EXPECT_EQ(own["estimates"][0]["estimator"], "prefix-ips");
  EXPECT_EQ(own["estimates"][0]["value"], 0.5) << "the frozen model is what was logged";
  EXPECT_EQ(own["estimates"][0]["difference"]["value"], 0);
  EXPECT_TRUE(own["estimates"][0]["refused"].is_null());
  ASSERT_FALSE(own["ranks"].empty());
  EXPECT_EQ(own["ranks"][0]["lists"], 120);
  EXPECT_EQ(own["ranks"][0]["effective_lists"], 120);
  EXPECT_EQ(own["ranks"][0]["mean_weight"], 1);
  EXPECT_EQ(report["left_out"]["not_sampled"], 0);
  // A sorted list that was rarely drawn is refused.
  const Json& sorted = report["policies"][1]["estimates"][0];
  EXPECT_TRUE(sorted["value"].is_null());
  EXPECT_THAT(sorted["refused"], HasSubstr("at least 100 are needed"));

  const Json few = ask("policy=logged&lists=110&estimators=doubly-robust&level=0.8&ranks=1").json();
  EXPECT_EQ(few["lists"], 110);
  EXPECT_EQ(few["level"], 0.8);
  ASSERT_EQ(few["policies"][0]["estimates"].size(), 1U);
  EXPECT_EQ(few["policies"][0]["estimates"][0]["estimator"], "doubly-robust");

  // A level that needs more resampled logs than usual.
  const Json sure = ask("policy=logged&level=0.999").json();
  EXPECT_LT(sure["logged"]["low"], report["logged"]["low"]);
  EXPECT_GT(sure["logged"]["high"], report["logged"]["high"]);
}

TEST_F(WhatIfOverHttp, TellsHowManyListsWaitAndFromWhenTheFirstCounts) {
  show(4);
  const Json open = rank_one();
  const testing::Answer answer = ask("policy=current");
  ASSERT_THAT(answer, IsError(409));
  EXPECT_THAT(
      answer.json()["error"]["message"].get<std::string>(),
      ::testing::MatchesRegex(
          "no sampled list whose feedback is complete: 5 lists wait for feedback; the first "
          "can be used from (....-..-.. )?..:.. UTC"));
  const Json left_out = answer.json()["left_out"];
  EXPECT_EQ(left_out["open"], 5);
  const std::int64_t first = client.get("/models/shop/impressions/i-0").json()["shown_at"];
  EXPECT_EQ(left_out["open_until"], first + 1'800'000);
  // And once no list waits, they count at once.
  client.post("/models/shop/feedback", event(open, "close"));
  EXPECT_THAT(ask("policy=current"), HasStatus(200));
}

TEST_F(WhatIfOverHttp, NamesCandidatesThatWereNotKeptBeforeListsThatWait) {
  Json spec = shop();
  spec["candidates"] = "none";
  ASSERT_THAT(client.put("/models/bare", spec), HasStatus(201));
  ASSERT_THAT(client.post("/models/bare/rank", {{"items", items(5)}}), HasStatus(200));
  const testing::Answer answer = client.get("/models/bare/what-if?policy=current");
  ASSERT_THAT(answer, IsError(409));
  EXPECT_THAT(answer.json()["error"]["message"].get<std::string>(),
              ::testing::StartsWith("no sampled list with its other candidates: no candidates were "
                                    "kept"));
}

TEST_F(WhatIfOverHttp, SaysWhatIsWrong) {
  EXPECT_THAT(ask("policy=logged"), IsError(409)) << "no list yet";
  show(2);
  EXPECT_THAT(ask(""), IsErrorAt(400, "policy"));
  std::string nine;
  for (int at = 0; at < 9; ++at) nine += "policy=logged&";
  EXPECT_THAT(ask(nine), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=best"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=logged@hot"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=logged@-1"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=%2Fetc%2Fpasswd"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=order:%2Fetc%2Fpasswd"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=snapshot:99"), IsErrorAt(404, "policy"));
  EXPECT_THAT(ask("policy=snapshot:"), IsErrorAt(400, "policy"));
  EXPECT_THAT(ask("policy=logged&metric=joy"), IsErrorAt(400, "metric"));
  EXPECT_THAT(ask("policy=logged&estimators=guess"), IsErrorAt(400, "estimators"));
  EXPECT_THAT(ask("policy=logged&level=2"), IsErrorAt(400, "level"));
  EXPECT_THAT(ask("policy=logged&level=0.9995"), IsErrorAt(400, "level"));
  EXPECT_THAT(ask("policy=logged&ranks=-1"), IsErrorAt(400, "ranks"));
  EXPECT_THAT(ask("policy=logged&lists=0"), IsError(400));
  EXPECT_THAT(ask("policy=logged&lists=200001"), IsError(400));
  EXPECT_THAT(ask("policy=logged&metric=dcg&metric=dcg"), IsError(400));
  EXPECT_THAT(ask("policy=logged&bootstraps=100000"), IsError(400)) << "not for callers";
  EXPECT_THAT(client.get("/models/none/what-if?policy=logged"), IsError(404));
}

}  // namespace
}  // namespace plackett
