// Feedback: what becomes of each event, and what is learned when an impression closes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/service.h"
#include "support/eventually.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::event;
using testing::eventually;
using testing::HasStatus;
using testing::HttpClient;
using testing::ids_of;
using testing::IsError;
using testing::item;
using testing::items;
using testing::Json;
using testing::Server;

class Feedback : public testing::ShopTest {
 protected:
  // What became of each event, checked against the sums beside it.
  std::vector<std::string> statuses(const Json& body) {
    const Answer answer = feedback(body);
    EXPECT_THAT(answer, HasStatus(200));
    EXPECT_THAT(testing::faults_of(answer, "FeedbackResult"), ::testing::IsEmpty());
    std::vector<std::string> all;
    const Json said = answer.json();
    for (const Json& result : said["results"]) all.push_back(result["status"]);
    for (const char* kind :
         {"accepted", "duplicate", "late", "unknown_impression", "unknown_item"}) {
      EXPECT_EQ(said[kind], std::count(all.begin(), all.end(), kind)) << kind;
    }
    return all;
  }

  static Json with_id(Json made, const std::string& id) {
    made["event_id"] = id;
    return made;
  }
};

TEST_F(Feedback, SaysOfEachEventInABatchWhatBecameOfIt) {
  const Json one = rank({{"items", items(6)}}).json();
  const Json two = rank({{"items", items(6)}}).json();
  const std::vector<std::string> ids = ids_of(one);
  const Json unknown = {{"impression", "never-shown"}};
  EXPECT_THAT(statuses({event(one, "click", ids[1]),       //
                        event(one, "click", ids[1]),       //
                        event(one, "view", ids[1]),        //
                        event(unknown, "click", ids[0]),   //
                        event(one, "click", "not-there"),  //
                        event(two, "close"),               //
                        event(two, "click", ids_of(two)[0])}),
              ElementsAre("accepted", "duplicate", "accepted", "unknown_impression", "unknown_item",
                          "accepted", "late"));
}

TEST_F(Feedback, IsTakenAsOneEventAsAnArrayOrAsAnObjectOfEvents) {
  const Json ranking = rank({{"items", items(6)}}).json();
  const std::vector<std::string> ids = ids_of(ranking);
  EXPECT_THAT(statuses(event(ranking, "click", ids[0])), ElementsAre("accepted"));
  EXPECT_THAT(statuses(Json::array({event(ranking, "click", ids[1])})), ElementsAre("accepted"));
  EXPECT_THAT(statuses({{"events", Json::array({event(ranking, "click", ids[2])})}}),
              ElementsAre("accepted"));
  const Json seen = impression(ranking["impression"]);
  for (const Json& shown : seen["items"]) {
    EXPECT_EQ(shown["clicked"], true);
    EXPECT_EQ(shown["viewed"], false);
  }
}

TEST_F(Feedback, CountsAnEventIdOnce) {
  const Json ranking = rank({{"items", items(6)}}).json();
  const std::vector<std::string> ids = ids_of(ranking);
  const Json click = with_id(event(ranking, "click", ids[0]), "e1");
  EXPECT_THAT(statuses(click), ElementsAre("accepted"));
  EXPECT_THAT(statuses(click), ElementsAre("duplicate"));
  EXPECT_THAT(statuses(with_id(event(ranking, "click", ids[1]), "e1")), ElementsAre("duplicate"));
  EXPECT_EQ(impression(ranking["impression"])["items"][1]["clicked"], false);
  EXPECT_THAT(statuses(with_id(event(ranking, "click", ids[0]), "e2")), ElementsAre("duplicate"))
      << "another id, but the same event";
}

TEST_F(Feedback, OfAClosedImpressionSentAgainIsADuplicate) {
  const Json ranking = rank({{"items", items(6)}}).json();
  const Json batch = {with_id(event(ranking, "click", ids_of(ranking)[0]), "e1"),
                      with_id(event(ranking, "close"), "e2")};
  EXPECT_THAT(statuses(batch), ElementsAre("accepted", "accepted"));
  const Json after = weights();
  EXPECT_THAT(statuses(batch), ElementsAre("duplicate", "duplicate"));
  EXPECT_EQ(weights(), after);
  EXPECT_EQ(model()["learned"], 1);
}

TEST_F(Feedback, MayComeInAnyOrder) {
  Server twin;
  HttpClient other = twin.client();
  ASSERT_THAT(other.put("/models/shop", testing::shop()), HasStatus(201));
  const Json one = rank({{"items", items(6)}}).json();
  const Json two = other.post("/models/shop/rank", {{"items", items(6)}}).json();
  ASSERT_EQ(one, two);
  const std::vector<std::string> ids = ids_of(one);
  feedback({event(one, "click", ids[0]), event(one, "click", ids[2]), event(one, "close")});
  other.post("/models/shop/feedback", event(two, "click", ids[2]));
  other.post("/models/shop/feedback", {event(two, "click", ids[0]), event(two, "close")});
  EXPECT_EQ(other.get("/models/shop/weights").json()["weights"], weights());
}

TEST_F(Feedback, TeachesWhenItClosesTheImpressionAndNotBefore) {
  const Json ranking = rank({{"items", items(6)}}).json();
  const Json before = model();
  EXPECT_EQ(before["open"], 1);
  statuses(event(ranking, "click", ids_of(ranking)[2]));
  EXPECT_EQ(rank({{"items", items(6)}}).json()["model_version"], ranking["model_version"]);
  EXPECT_EQ(impression(ranking["impression"])["state"], "open");
  statuses(event(ranking, "close"));
  EXPECT_GT(rank({{"items", items(6)}}).json()["model_version"], ranking["model_version"]);
  EXPECT_EQ(impression(ranking["impression"])["state"], "learned");
  const Json after = model();
  EXPECT_GT(after["version"], before["version"]);
  EXPECT_EQ(after["updates"], 1);
  EXPECT_EQ(after["learned"], 1);
  EXPECT_EQ(after["open"], 2);
}

TEST_F(Feedback, WithoutAClickChangesNothing) {
  const Json ranking = rank({{"items", items(6)}}).json();
  statuses({event(ranking, "view", ids_of(ranking)[0]), event(ranking, "close")});
  for (const Json& weight : weights()) EXPECT_EQ(weight["weight"], 0);
}

TEST_F(Feedback, MakesWhatIsClickedCount) {
  const Json cheap_and_dear = {item("cheap", {1, 0}), item("dear", {9, 0}), item("mid", {5, 0})};
  for (int round = 0; round < 60; ++round) {
    const Json ranking = rank({{"items", cheap_and_dear}}).json();
    feedback({event(ranking, "click", "cheap"), event(ranking, "close")});
  }
  EXPECT_LT(weights()[0]["weight"], 0) << "dear items should sink";
  EXPECT_EQ(weights()[0]["name"], "price");
  EXPECT_EQ(weights()[1]["weight"], 0) << "a feature that never differed";
  const Json best = rank({{"items", cheap_and_dear}, {"mode", "exploit"}}).json();
  EXPECT_THAT(ids_of(best), ElementsAre("cheap", "mid", "dear"));
}

TEST_F(Feedback, ThatMakesNoSenseIsRefusedWhole) {
  const Json ranking = rank({{"items", items(6)}}).json();
  const Json good = event(ranking, "click", ids_of(ranking)[0]);
  Json no_item = good;
  no_item.erase("item");
  Json no_impression = good;
  no_impression.erase("impression");
  Json no_event = good;
  no_event.erase("event");
  Json odd_event = good;
  odd_event["event"] = "purchase";
  Json number = good;
  number["item"] = 4;
  Json more = good;
  more["colour"] = "red";
  Json long_id = with_id(good, std::string(257, 'x'));
  Json no_id = with_id(good, "");
  for (const Json& bad : {no_item, no_impression, no_event, odd_event, number, more, long_id, no_id,
                          Json(), Json(5), Json("click")}) {
    EXPECT_THAT(feedback(bad), IsError(400)) << bad;
    EXPECT_THAT(feedback({good, bad}), IsError(400)) << bad;
    EXPECT_THAT(feedback({{"events", {good, bad}}}), IsError(400)) << bad;
  }
  EXPECT_THAT(feedback({{"events", Json::array({good})}, {"more", 1}}), IsError(400));
  EXPECT_EQ(impression(ranking["impression"])["items"][0]["clicked"], false);
}

TEST(FeedbackThatDoesNotCome, IsNotWaitedForLongerThanTheModelSays) {
  Server server;
  HttpClient client = server.client();
  Json spec = testing::shop();
  spec["open_seconds"] = 3;  // the click must come in time on a busy machine, too
  ASSERT_THAT(client.put("/models/shop", spec), HasStatus(201));
  const Json clicked = client.post("/models/shop/rank", {{"items", items(6)}}).json();
  const Json ignored = client.post("/models/shop/rank", {{"items", items(6)}}).json();
  client.post("/models/shop/feedback", event(clicked, "click", ids_of(clicked)[2]));
  // Its time is up when it is closed, which is a moment before it is learned from.
  ASSERT_TRUE(eventually([&] {
    const Json now = client.get("/models/shop").json();
    return now["open"] == 0 && now["updates"] == 1;
  })) << "the click was not learned from";
  const Json model = client.get("/models/shop").json();
  EXPECT_GE(model["version"], 1);
  EXPECT_NE(client.get("/models/shop/weights").json()["weights"][0]["weight"], 0);
  const auto state = [&](const Json& ranking) {
    const std::string id = ranking["impression"];
    return client.get("/models/shop/impressions/" + id).json()["state"].get<std::string>();
  };
  EXPECT_THAT(state(clicked), AnyOf("learned", "expired"));
  EXPECT_EQ(state(ignored), "expired");
  const Answer late = client.post("/models/shop/feedback", event(ignored, "click", "a"));
  EXPECT_THAT(late.json()["results"][0]["status"], AnyOf("late", "unknown_item")) << late.body;
  const std::string shown = ids_of(ignored)[0];
  EXPECT_EQ(client.post("/models/shop/feedback", event(ignored, "click", shown)).json()["late"], 1);
}

}  // namespace
}  // namespace plackett
