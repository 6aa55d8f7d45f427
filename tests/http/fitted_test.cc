// A model that was fitted to a present ranking, from its first request on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "http/service.h"
#include "support/order_text.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::HasStatus;
using testing::IsError;
using testing::Json;
using testing::Present;
using testing::PresentRanking;

constexpr std::uint32_t kDocs = 12;

class Fitted : public testing::ShopTest {
 protected:
  // The file that `plackett fit` writes.
  std::string fit(const std::string& options) {
    std::ofstream(folder / "orders") << testing::order_text(present, 400, kDocs, 8);
    const auto result = testing::run_command("fit --orders " + folder / "orders" +
                                             " --save-model " + folder / "m" + " " + options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return testing::slurp(folder / "m");
  }
  Answer import(const std::string& name, const std::string& file) {
    return client.send("POST", "/models/" + name + "/import", file,
                       {{"Content-Type", "application/octet-stream"}});
  }
  // A list that was not fitted, its candidates not in order.
  Json rank(const std::string& name, std::uint64_t list, const std::string& mode) {
    Json items = testing::list_items(present, 1000 + list, kDocs);
    std::rotate(items.begin(), items.begin() + 5, items.end());
    std::reverse(items.begin(), items.begin() + 3);
    const Answer answer =
        client.post("/models/" + name + "/rank", {{"items", items}, {"mode", mode}, {"k", kDocs}});
    EXPECT_THAT(answer, HasStatus(200)) << answer.body;
    return answer.json();
  }
  // Kendall's tau with the present ranking, in which item "0" is the first.
  static double tau_of(const Json& ranking) {
    std::vector<int> places;
    for (const Json& item : ranking["items"]) places.push_back(std::stoi(std::string(item["id"])));
    double lead = 0;
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      for (std::size_t below = rank + 1; below < places.size(); ++below) {
        lead += places[rank] < places[below] ? 1 : -1;
      }
    }
    return 2 * lead / (kDocs * (kDocs - 1.0));
  }
  double mean_tau(const std::string& name, const std::string& mode) {
    constexpr int kLists = 40;
    double sum = 0;
    for (std::uint64_t list = 0; list < kLists; ++list) sum += tau_of(rank(name, list, mode));
    return sum / kLists;
  }
  // Both ways to rank give an item the same score.
  void expect_same_scores(const std::string& name) {
    std::map<std::string, double> scores;
    const Json sorted = rank(name, 1, "exploit");
    const Json sampled = rank(name, 1, "explore");
    for (const Json& item : sorted["items"]) scores[item["id"]] = item["score"];
    EXPECT_EQ(scores.size(), kDocs);
    for (const Json& item : sampled["items"]) EXPECT_EQ(item["score"], scores[item["id"]]);
  }

  PresentRanking present{Present::kNonlinear};
  testing::TemporaryFolder folder;
};

TEST_F(Fitted, AModelRanksAsThePresentRankingFromItsFirstRequest) {
  for (const std::string options :
       {"", "--learner pdgd --ranker linear+neural", "--learner cascade"}) {
    const std::string name = "m" + std::to_string(options.size());
    const std::string fitted = fit(options + " --scaling none --temperature 0.05");
    ASSERT_THAT(import(name, fitted), HasStatus(200)) << options;
    EXPECT_GT(mean_tau(name, "exploit"), 0.95) << options;
    EXPECT_GT(mean_tau(name, "explore"), 0.95) << options;
    expect_same_scores(name);
  }
}

TEST_F(Fitted, TheTemperatureOfTheFitIsThatOfTheSampledLists) {
  ASSERT_THAT(import("cold", fit("--temperature 0.05")), HasStatus(200));
  ASSERT_THAT(import("hot", fit("--temperature 20")), HasStatus(200));
  EXPECT_LT(mean_tau("hot", "explore"), 0.5);
  EXPECT_EQ(mean_tau("hot", "exploit"), mean_tau("cold", "exploit"));
}

TEST_F(Fitted, AFileIsLoadedIntoAnExistingModelOfTheSameKind) {
  ASSERT_THAT(client.put("/models/default", {{"features", 10}, {"k", 5}}), HasStatus(201));
  const Json before = model("default");
  EXPECT_LT(mean_tau("default", "exploit"), 0.5);
  ASSERT_THAT(import("default", fit("")), HasStatus(200));
  EXPECT_GT(mean_tau("default", "exploit"), 0.9);
  expect_same_scores("default");
  EXPECT_EQ(model("default")["k"], 5);
  EXPECT_EQ(model("default")["updates"], 0);
  // Of another learner's file the parameters are taken, here those of a linear ranker.
  ASSERT_THAT(client.put("/models/again", {{"features", 10}, {"k", 5}}), HasStatus(201));
  ASSERT_THAT(import("again", fit("--learner pdgd")), HasStatus(200));
  ASSERT_THAT(import("own", fit("--learner pdgd")), HasStatus(200));
  EXPECT_EQ(model("again")["learner"], "steady");
  EXPECT_EQ(model("own")["learner"], "pdgd");
  EXPECT_GT(mean_tau("again", "exploit"), 0.7);
  EXPECT_EQ(mean_tau("again", "exploit"), mean_tau("own", "exploit"));
  EXPECT_THAT(import("default", fit("--hidden 8")), IsError(409));
}

TEST_F(Fitted, ClicksTeachItFromThereAndTheFirstOnesCostLittle) {
  ASSERT_THAT(import("shown", fit("")), HasStatus(200));
  const double before = mean_tau("shown", "exploit");
  for (std::uint64_t list = 0; list < 20; ++list) {
    const Json ranking = rank("shown", 100 + list, "explore");
    const std::string clicked = ranking["items"][list % 3]["id"];
    ASSERT_THAT(client.post("/models/shown/feedback", {testing::event(ranking, "click", clicked),
                                                       testing::event(ranking, "close")}),
                HasStatus(200));
  }
  EXPECT_GT(model("shown")["updates"], 10);
  EXPECT_GT(mean_tau("shown", "exploit"), before - 0.02);
}

// Lists of a test's arm may have pinned items, which the present ranking did not place.
TEST_F(Fitted, PinnedItemsOfTheLogAreNotImitated) {
  const PresentRanking linear(Present::kLinear);
  for (const bool pinned : {false, true}) {
    const std::string name = pinned ? "pinned" : "plain";
    ASSERT_THAT(client.put("/models/" + name, {{"features", linear.features()},
                                               {"ranker", "linear"},
                                               {"learner", "pdgd"},
                                               {"k", 5},
                                               {"candidates", "all"}}),
                HasStatus(201));
    const std::string test = "/models/" + name + "/experiments/e";
    ASSERT_THAT(client.put(test, {{"arms",
                                   {{{"name", "old"}, {"policy", "given"}, {"share", 0.5}},
                                    {{"name", "new"}, {"policy", "model"}, {"share", 0.5}}}}}),
                HasStatus(201));
    ASSERT_THAT(client.post(test + "/promote", {{"arm", "old"}}), HasStatus(200));
    for (std::uint64_t list = 0; list < 200; ++list) {
      Json request{{"items", testing::list_items(linear, list, kDocs)}};
      // The best item at the first place, where it is in the given order, too.
      if (pinned) request["pinned"] = {{{"id", "0"}, {"rank", 1}}};
      const Answer answer = client.post("/models/" + name + "/rank", request);
      ASSERT_THAT(answer, HasStatus(200)) << answer.body;
      ASSERT_EQ(answer.json()["items"][0]["id"], "0");
      ASSERT_EQ(answer.json()["items"].size(), 5U);
    }
    const auto result = testing::run_command("fit --json --db " + server.db() + " --model " + name +
                                             " --save-model " + folder / "m");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json report = Json::parse(result.out);
    EXPECT_EQ(report["fitted"]["lists"].get<int>() + report["held_out"]["lists"].get<int>(), 200);
    EXPECT_GT(report["held_out"]["kendall_tau"], 0.9) << name;
  }
}

}  // namespace
}  // namespace plackett
