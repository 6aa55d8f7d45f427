// Experiments as their owners meet them: started, read, ended and promoted over HTTP, and what
// hostile requests get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::ElementsAre;
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

Json arm(const std::string& name, const std::string& policy, double share) {
  return {{"name", name}, {"policy", policy}, {"share", share}};
}
Json split(const std::string& policy = "model") {
  return {{"arms", {arm("old", "given", 0.5), arm("new", policy, 0.5)}}};
}

class ExperimentsOverHttp : public testing::ShopTest {
 protected:
  static std::string path(const std::string& name = "e", const std::string& action = "") {
    return "/models/shop/experiments/" + name + (action.empty() ? "" : "/" + action);
  }
  Answer start(const Json& body, const std::string& name = "e") {
    return client.put(path(name), body);
  }
  Answer ask(const std::string& action, const Json& body = Json::object()) {
    return client.post(path("e", action), body);
  }
  Json results(const std::string& name = "e") {
    const Answer answer = client.get(path(name));
    EXPECT_THAT(faults_of(answer, "Experiment"), IsEmpty());
    return answer.json();
  }
  Json show(const std::string& unit, Json more = Json::object()) {
    more["items"] = items(6);
    more["unit"] = unit;
    const Answer answer = rank(more);
    EXPECT_THAT(faults_of(answer, "Ranking"), IsEmpty());
    return answer.json();
  }
};

TEST_F(ExperimentsOverHttp, AreStartedCountedAndStopped) {
  const Answer started = start(split());
  ASSERT_THAT(started, HasStatus(201)) << started.body;
  EXPECT_THAT(faults_of(started, "Experiment"), IsEmpty());
  EXPECT_THAT(start(split()), HasStatus(200)) << "the same again";
  std::map<std::string, std::uint64_t> clicks;
  std::map<std::string, std::uint64_t> lists;
  for (int unit = 0; unit < 30; ++unit) {
    const Json ranking = show("u" + std::to_string(unit));
    EXPECT_EQ(ranking["experiment"], "e");
    const std::string arm = ranking["arm"];
    ++lists[arm];
    if (arm == "old") {
      EXPECT_THAT(ids_of(ranking), ElementsAre("a", "b", "c"));
    }
    if (unit % 2 == 0) {
      EXPECT_EQ(feedback(event(ranking, "click", ids_of(ranking)[0])).json()["accepted"], 1);
      ++clicks[arm];
    }
    EXPECT_EQ(show("u" + std::to_string(unit))["arm"], arm) << "a unit stays in its arm";
    const Json seen = impression(ranking["impression"]);
    EXPECT_EQ(seen["experiment"], "e");
    EXPECT_EQ(seen["arm"], arm);
  }
  Json now = results();
  EXPECT_EQ(now["state"], "running");
  EXPECT_EQ(now["baseline"], "old");
  EXPECT_EQ(now["ended_at"], nullptr);
  EXPECT_EQ(now["promoted"], nullptr);
  for (const Json& one : now["arms"]) {
    EXPECT_EQ(one["units"], lists[one["name"]]);
    EXPECT_EQ(one["impressions"], 2 * lists[one["name"]]);
    EXPECT_EQ(one["clicks"], clicks[one["name"]]);
    EXPECT_TRUE(one["detects"].is_array());
  }
  EXPECT_EQ(now["arms"][0]["model"], nullptr);
  EXPECT_EQ(now["arms"][1]["model"], "shop");
  EXPECT_EQ(model()["experiment"], "e");
  EXPECT_EQ(model()["serves"], "explore") << "as before the start";

  const Answer stopped = ask("stop");
  ASSERT_THAT(stopped, HasStatus(200)) << stopped.body;
  EXPECT_EQ(model()["serves"], "explore");
  EXPECT_EQ(stopped.json()["state"], "ended");
  EXPECT_EQ(stopped.json()["ended_because"], "asked");
  EXPECT_EQ(ask("stop").json()["ended_at"], stopped.json()["ended_at"]) << "again, unchanged";
  EXPECT_EQ(model()["experiment"], nullptr);
  EXPECT_FALSE(show("u1").contains("experiment"));
  EXPECT_THAT(client.remove(path()), HasStatus(204));
  EXPECT_THAT(client.get(path()), IsError(404));
  EXPECT_THAT(ask("stop"), IsError(404));
}

TEST_F(ExperimentsOverHttp, LeaveRequestsWithAModeAlone) {
  ASSERT_THAT(start(split()), HasStatus(201));
  for (const std::string mode : {"explore", "exploit", "given"}) {
    const Json ranking = show("u", {{"mode", mode}});
    EXPECT_FALSE(ranking.contains("experiment")) << mode;
    EXPECT_FALSE(ranking.contains("arm")) << mode;
  }
  EXPECT_EQ(results()["arms"][0]["impressions"], 0);
  EXPECT_EQ(results()["arms"][1]["impressions"], 0);
}

TEST_F(ExperimentsOverHttp, OfASnapshotNameTheirListsAfterItsModel) {
  const Json snapshot = client.post("/models/shop/snapshots", Json::object()).json();
  ASSERT_THAT(start(split("snapshot:" + snapshot["id"].dump())), HasStatus(201));
  EXPECT_THAT(client.get("/models/shop.e.new"), HasStatus(200));
  std::set<std::string> arms;
  for (int unit = 0; unit < 20; ++unit) {
    const Json ranking = show("u" + std::to_string(unit));
    const std::string name = ranking["impression"];
    EXPECT_EQ(name.ends_with("@shop.e.new"), ranking["arm"] == "new") << name;
    arms.insert(ranking["arm"]);
    EXPECT_EQ(feedback(event(ranking, "click", ids_of(ranking)[1])).json()["accepted"], 1) << name;
    EXPECT_EQ(impression(name)["impression"], name);
  }
  EXPECT_EQ(arms.size(), 2U);
  EXPECT_THAT(client.remove("/models/shop.e.new"), IsError(409));
  ASSERT_THAT(ask("stop"), HasStatus(200));
  EXPECT_THAT(client.remove("/models/shop.e.new"), HasStatus(204));
  EXPECT_THAT(ask("promote", {{"arm", "new"}}), IsErrorAt(409, "arm")) << "its model is gone";
  EXPECT_EQ(results()["arms"][1]["model"], "shop.e.new");
}

TEST_F(ExperimentsOverHttp, KeepTheModelsOfTheirArmsWhileTheyRun) {
  ASSERT_THAT(client.put("/models/a2", shop()), HasStatus(201));
  ASSERT_THAT(start(split("model:a2")), HasStatus(201));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(client.remove("/models/a2"), IsError(409)) << "restarts: " << round;
    server.kill();
    server.start();
    client = server.client();
  }
  ASSERT_THAT(ask("stop"), HasStatus(200));
  EXPECT_THAT(client.remove("/models/a2"), HasStatus(204));
}

TEST_F(ExperimentsOverHttp, ArePromotedAndUndone) {
  ASSERT_THAT(start(split()), HasStatus(201));
  EXPECT_THAT(ask("undo"), IsError(409)) << "nothing to undo";
  EXPECT_THAT(client.remove(path()), IsError(409)) << "it runs";
  EXPECT_THAT(ask("promote", {{"arm", "none"}}), IsErrorAt(400, "arm"));
  EXPECT_THAT(ask("promote"), IsErrorAt(400, "arm"));
  const Answer promoted = ask("promote", {{"arm", "new"}});
  ASSERT_THAT(promoted, HasStatus(200)) << promoted.body;
  EXPECT_EQ(promoted.json()["promoted"], "new");
  EXPECT_EQ(promoted.json()["can_undo"], true);
  EXPECT_EQ(promoted.json()["state"], "ended");
  EXPECT_EQ(model()["serves"], "explore");
  EXPECT_THAT(ask("promote", {{"arm", "old"}}), IsError(409)) << "undo first";
  const Answer undone = ask("undo");
  ASSERT_THAT(undone, HasStatus(200)) << undone.body;
  EXPECT_EQ(undone.json()["promoted"], nullptr);
  EXPECT_EQ(undone.json()["can_undo"], false);
  EXPECT_EQ(model()["serves"], "explore");
  EXPECT_THAT(ask("undo"), IsError(409));
}

TEST_F(ExperimentsOverHttp, RunOneAtATimeAndAreListedNewestFirst) {
  ASSERT_THAT(start(split()), HasStatus(201));
  EXPECT_THAT(start(split(), "f"), IsError(409));
  Json other = split();
  other["level"] = 0.9;
  EXPECT_THAT(start(other), IsError(409)) << "another spec";
  ASSERT_THAT(ask("stop"), HasStatus(200));
  ASSERT_THAT(start(split(), "f"), HasStatus(201));
  const Answer listed = client.get("/models/shop/experiments");
  EXPECT_THAT(faults_of(listed, "Experiments"), IsEmpty());
  const Json all = listed.json()["experiments"];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["name"], "f");
  EXPECT_EQ(all[0]["points"], Json::array());
}

TEST_F(ExperimentsOverHttp, StayWhatTheyAreThroughRestarts) {
  ASSERT_THAT(start(split()), HasStatus(201));
  std::map<std::string, std::string> arms;
  for (int unit = 0; unit < 10; ++unit) {
    const std::string name = "u" + std::to_string(unit);
    const Json ranking = show(name);
    arms[name] = ranking["arm"];
    feedback(event(ranking, "click", ids_of(ranking)[0]));
  }
  const auto restart = [&] {
    server.kill();
    server.start();
    client = server.client();
  };
  const Json before = results();
  restart();
  Json after = results();
  EXPECT_EQ(after["arms"][0]["clicks"], before["arms"][0]["clicks"]);
  EXPECT_EQ(after["arms"][1]["units"], before["arms"][1]["units"]);
  for (const auto& [unit, in] : arms) EXPECT_EQ(show(unit)["arm"], in);
  ASSERT_THAT(ask("promote", {{"arm", "new"}}), HasStatus(200));
  restart();
  EXPECT_EQ(model()["serves"], "explore");
  EXPECT_EQ(results()["promoted"], "new");
  ASSERT_THAT(ask("undo"), HasStatus(200));
  restart();
  EXPECT_EQ(model()["serves"], "explore");
  EXPECT_EQ(results()["state"], "ended");
  ASSERT_THAT(client.remove(path()), HasStatus(204));
  restart();
  EXPECT_THAT(client.get(path()), IsError(404));
  EXPECT_EQ(model()["serves"], "explore");
}

struct HostileSpec {
  std::string what;
  std::string body;
  std::string where;
  std::string says;
};

// A body with these arms, as text.
std::string with(const std::string& second_arm, const std::string& more = "") {
  return R"({"arms": [{"name": "old", "policy": "given", "share": 0.5}, )" + second_arm + "]" +
         more + "}";
}
std::string named(const std::string& name) {
  return with(R"({"name": )" + name + R"(, "policy": "model", "share": 0.5})");
}
std::string shared(const std::string& share) {
  return with(R"({"name": "new", "policy": "model", "share": )" + share + "}");
}
std::string ruled(const std::string& more) {
  return with(R"({"name": "new", "policy": "model", "share": 0.5})", ", " + more);
}
std::string nine_arms() {
  Json arms = Json::array();
  for (int at = 0; at < 9; ++at) arms.push_back(arm("a" + std::to_string(at), "given", 1.0 / 9));
  return Json{{"arms", arms}}.dump();
}

std::vector<HostileSpec> hostile_specs() {
  const std::string five_megabytes(5'000'000, 'x');
  return {
      {"NoBody", "", "", ""},
      {"NoArms", "{}", "arms", "0 arms; expected 2 to 8"},
      {"ArmsAreText", R"({"arms": "old"})", "arms", "expected an array"},
      {"ArmsAreNumbers", R"({"arms": [1, 2]})", "arms[0]", "expected an object"},
      {"NineArms", nine_arms(), "arms", "9 arms; expected 2 to 8"},
      {"Deep", R"({"arms": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}",
       "arms[0]", "expected an object"},
      {"DeepArm", with(R"({"name": )" + std::string(2000, '[') + std::string(2000, ']') + "}"),
       "arms[1].name", "expected a string"},
      {"ShareNan", shared("NaN"), "arms[1].share", "invalid JSON"},
      {"ShareTooLarge", shared("1e999"), "arms[1].share", "1e999"},
      {"ShareNegative", shared("-0.5"), "arms[1].share", "-0.5; expected a share above 0"},
      {"ShareZero", shared("0"), "arms[1].share", "0; expected a share above 0"},
      {"ShareOne", shared("1"), "arms[1].share", "below 1"},
      {"ShareText", shared(R"("0.5")"), "arms[1].share", "expected a number"},
      {"ShareNull", shared("null"), "arms[1].share", "expected a number"},
      {"SharesOff", shared("0.4"), "arms", "the shares sum to 0.9; expected 1"},
      {"NameNul", named(R"("a\u0000b")"), "arms[1].name", "letters, digits"},
      {"NameQuotes", named(R"("a\"'b")"), "arms[1].name", "letters, digits"},
      {"NameSlashes", named(R"("../../etc")"), "arms[1].name", "letters, digits"},
      {"NameHtml", named(R"("<script>")"), "arms[1].name", "letters, digits"},
      {"NameSpaces", named(R"(" new")"), "arms[1].name", "letters, digits"},
      {"NameEmpty", named(R"("")"), "arms[1]", "needs a name"},
      {"NameLong", named("\"" + std::string(65, 'x') + "\""), "arms[1].name", "1 to 64"},
      {"NameHuge", named("\"" + five_megabytes + "\""), "arms[1].name", "5000000 bytes"},
      {"NameNumber", named("1"), "arms[1].name", "expected a string"},
      {"NameTwice", named(R"("old")"), "arms[1].name", "also the name"},
      {"PolicyUnknown", with(R"({"name": "new", "policy": "best", "share": 0.5})"),
       "arms[1].policy", "expected \"model\", \"given\""},
      {"PolicySnapshotHuge",
       with(R"({"name": "new", "policy": "snapshot:99999999999999999999", "share": 0.5})"),
       "arms[1].policy", "snapshot:ID"},
      {"PolicyHuge",
       with(R"({"name": "new", "policy": "model:)" + five_megabytes + R"(", "share": 0.5})"),
       "arms[1].policy", "bytes"},
      {"ModeOfGiven",
       with(R"({"name": "new", "policy": "given", "share": 0.5, "mode": "explore"})"),
       "arms[1].mode", "has no mode"},
      {"ModeUnknown", with(R"({"name": "new", "policy": "model", "share": 0.5, "mode": "given"})"),
       "arms[1].mode", "expected \"explore\""},
      {"KeyTwice", R"({"arms": [], "arms": []})", "arms", "duplicate key"},
      {"NameKeyTwice", with(R"({"name": "new", "name": "newer", "policy": "model", "share": 0.5})"),
       "arms[1].name", "duplicate key"},
      {"KeyUnknown", ruled(R"("shares": 1)"), "shares", "unknown key \"shares\""},
      {"ArmKeyUnknown", with(R"({"name": "new", "policy": "model", "share": 0.5, "weight": 1})"),
       "arms[1].weight", "unknown key \"weight\""},
      {"Baseline", ruled(R"("baseline": "none")"), "baseline", "not the name of an arm"},
      {"BaselineNumber", ruled(R"("baseline": 1)"), "baseline", "expected a string"},
      {"Design", ruled(R"("design": "multi")"), "design", "split or interleave"},
      {"Metric", ruled(R"("metric": "ndcg")"), "metric", "ndcg"},
      {"Level", ruled(R"("level": 1)"), "level", "0.5 to 0.9999"},
      {"LevelTooLarge", ruled(R"("level": 1e400)"), "level", "1e400"},
      {"When", ruled(R"("promote": {"when": "always", "after": "1d"})"), "promote.when",
       "lower > 0"},
      {"WhenTooLarge", ruled(R"("promote": {"when": "lower > 1e999 %", "after": "1d"})"),
       "promote.when", "lower > 0"},
      {"After", ruled(R"("promote": {"when": "lower > 0", "after": "99999999999999d"})"),
       "promote.after", "up to 3650d"},
      {"AfterNegative", ruled(R"("promote": {"when": "lower > 0", "after": "-1d"})"),
       "promote.after", "up to 3650d"},
      {"AfterNumber", ruled(R"("promote": {"when": "lower > 0", "after": 3})"), "promote.after",
       "expected a string"},
      {"PromoteHalf", ruled(R"("promote": {"when": "lower > 0"})"), "promote", "needs"},
      {"GuardEmpty", ruled(R"("guard": {})"), "guard", "needs"},
      {"PromoteText", ruled(R"("promote": "soon")"), "promote", "expected an object"},
      {"PromoteKeyUnknown", ruled(R"("promote": {"if": "x"})"), "promote.if", "unknown key \"if\""},
      {"Drop", ruled(R"("guard": {"drop": "100 %"})"), "guard.drop", "below 100 %"},
      {"DropNan", ruled(R"("guard": {"drop": "nan %"})"), "guard.drop", "below 100 %"},
      {"InterleavedExplore",
       R"({"design": "interleave", "arms": [{"name": "old", "policy": "given"},
           {"name": "new", "policy": "model", "mode": "explore"}]})",
       "arms[1].mode", "sorted by score"},
      {"InterleavedShare", ruled(R"("design": "interleave")"), "arms[0].share", "have no share"},
  };
}

class HostileExperiments : public ExperimentsOverHttp {};

TEST_F(HostileExperiments, GetAClearErrorAndStartNothing) {
  for (const HostileSpec& hostile : hostile_specs()) {
    SCOPED_TRACE(hostile.what);
    const Answer answer = client.send("PUT", path(), hostile.body);
    EXPECT_THAT(answer, IsErrorAt(400, hostile.where)) << answer.body.substr(0, 500);
    EXPECT_LT(answer.body.size(), 1000U) << "it tells back what it got";
    EXPECT_THAT(
        answer.body,
        HasSubstr(Json(hostile.says).dump().substr(1, Json(hostile.says).dump().size() - 2)));
    EXPECT_EQ(client.get("/models/shop/experiments").json()["experiments"], Json::array());
  }
  EXPECT_EQ(model()["experiment"], nullptr);
  EXPECT_EQ(client.get("/models").json()["models"].size(), 1U);
}

TEST_F(HostileExperiments, NamesInPathsAreCheckedToo) {
  for (const std::string name :
       {"a%20b", "%22", "a%2Fb", "%3Cscript%3E",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}) {
    EXPECT_THAT(start(split(), name), IsError(400)) << name;
    EXPECT_THAT(client.get(path(name)), IsError(404)) << name;
    EXPECT_THAT(client.remove(path(name)), IsError(404)) << name;
    EXPECT_THAT(client.post(path(name, "stop"), Json::object()), IsError(404)) << name;
  }
  EXPECT_THAT(start(split(), "a%00b"), IsError(400));
  EXPECT_THAT(client.get(path("a%00b")), IsError(400));
  EXPECT_EQ(client.get("/models/shop/experiments").json()["experiments"], Json::array());
}

TEST_F(HostileExperiments, ArmsThatDontFitAreRefused) {
  EXPECT_THAT(start(split("snapshot:99")), IsErrorAt(404, "arms[1].policy"));
  EXPECT_THAT(start(split("model:none")), IsErrorAt(404, "arms[1].policy"));
  ASSERT_THAT(client.put("/models/wide", {{"features", 3}}), HasStatus(201));
  EXPECT_THAT(start(split("model:wide")), IsErrorAt(409, "arms[1].policy"));
  EXPECT_EQ(model()["experiment"], nullptr);
}

TEST_F(HostileExperiments, PromotionsWithStrangeArmsAreRefused) {
  ASSERT_THAT(start(split()), HasStatus(201));
  for (const std::string& body : std::vector<std::string>{
           "", "[]", "{}", R"({"arm": 1})", R"({"arm": ""})", R"({"arm": "a\u0000"})",
           R"({"arm": "new", "arm": "old"})", R"({"arm": "new", "more": 1})",
           R"({"arm": ")" + std::string(5'000'000, 'x') + "\"}"}) {
    const Answer answer = client.send("POST", path("e", "promote"), body);
    EXPECT_THAT(answer, IsError(400)) << body.substr(0, 50);
    EXPECT_LT(answer.body.size(), 1000U);
  }
  EXPECT_EQ(results()["state"], "running");
}

TEST(ExperimentAccess, IsForAdminsAndWithinTheirModel) {
  Server server({},
                "admin a-token\nread r-token\nfeedback f-token\nadmin eu eu-a\nfeedback eu eu-f\n");
  HttpClient admin = server.client("a-token");
  for (const std::string name : {"eu", "us"}) {
    ASSERT_THAT(admin.put("/models/" + name, shop()), HasStatus(201));
  }
  const std::string path = "/models/eu/experiments/e";
  for (const std::string token : {"r-token", "f-token", "eu-f"}) {
    HttpClient client = server.client(token);
    EXPECT_THAT(client.put(path, split()), IsError(403)) << token;
    for (const std::string action : {"stop", "promote", "undo"}) {
      EXPECT_THAT(client.post(path + "/" + action, {{"arm", "new"}}), IsError(403)) << token;
    }
    EXPECT_THAT(client.remove(path), IsError(403)) << token;
    EXPECT_THAT(client.get("/models/eu/experiments"), HasStatus(200)) << token;
  }
  HttpClient bound = server.client("eu-a");
  EXPECT_THAT(bound.put("/models/us/experiments/e", split()), IsError(403));
  const Answer hidden = bound.put(path, split("model:us"));
  EXPECT_THAT(hidden, IsErrorAt(404, "arms[1].policy"));
  EXPECT_EQ(hidden.body, [&] {
    std::string none = bound.put(path, split("model:zz")).body;
    none.replace(none.find("zz"), 2, "us");
    return none;
  }()) << "it tells what exists";
  EXPECT_THAT(bound.put(path, split()), HasStatus(201));
  EXPECT_THAT(bound.post(path + "/stop", Json::object()), HasStatus(200));

  // Through an arm that somebody else chose, it sees the lists of the experiment alone.
  ASSERT_THAT(admin.put("/models/eu/experiments/f", split("model:us")), HasStatus(201));
  const Json own = admin.post("/models/us/rank", {{"items", items(4)}, {"unit", "x"}}).json();
  const std::string name = own["impression"].get<std::string>() + "@us";
  HttpClient user = server.client("eu-f");
  EXPECT_THAT(user.get("/models/eu/impressions/" + name), IsError(404));
  Json click = event(own, "click", ids_of(own)[0]);
  click["impression"] = name;
  EXPECT_EQ(user.post("/models/eu/feedback", click).json()["unknown_impression"], 1);
}

}  // namespace
}  // namespace plackett
