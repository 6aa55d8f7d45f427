// What the service shows of itself: impressions, statistics, metrics.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "http/service.h"
#include "support/eventually.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::event;
using testing::eventually;
using testing::HasStatus;
using testing::ids_of;
using ::testing::IsEmpty;
using testing::IsError;
using testing::items;
using testing::Json;
using ::testing::SizeIs;

using Seeing = testing::ShopTest;

TEST_F(Seeing, AnImpressionTellsItsWholeStory) {
  const Json ranking =
      rank({{"items", items(6)}, {"k", 4}, {"context", {{"query", "shoes"}}}}).json();
  const std::vector<std::string> ids = ids_of(ranking);
  feedback(
      {event(ranking, "view", ids[0]), event(ranking, "click", ids[2]), event(ranking, "close")});
  const Json shown = impression(ranking["impression"]);
  EXPECT_EQ(shown["impression"], ranking["impression"]);
  EXPECT_EQ(shown["model_version"], ranking["model_version"]);
  EXPECT_EQ(shown["log_probability"], ranking["log_probability"]);
  EXPECT_EQ(shown["entropy"], ranking["entropy"]);
  EXPECT_EQ(shown["mode"], "explore");
  EXPECT_EQ(shown["state"], "learned");
  EXPECT_EQ(ids_of(shown), ids);
  for (std::size_t at = 0; at < 4; ++at) {
    EXPECT_EQ(shown["items"][at]["rank"], at + 1);
    EXPECT_EQ(shown["items"][at]["score"], ranking["items"][at]["score"]);
    EXPECT_EQ(shown["items"][at]["pinned"], false);
    EXPECT_EQ(shown["items"][at]["clicked"], at == 2);
    EXPECT_EQ(shown["items"][at]["viewed"], at == 0);
  }
  // The clicked one beats the two above it and the one below, the last unclicked that was seen.
  std::vector<std::string> losers;
  for (const Json& pair : shown["pairs"]) {
    EXPECT_EQ(pair["winner"], ids[2]);
    EXPECT_GT(pair["rho"], 0);
    EXPECT_LT(pair["rho"], 1);
    losers.push_back(pair["loser"]);
  }
  EXPECT_THAT(losers, ::testing::UnorderedElementsAre(ids[0], ids[1], ids[3]));
}

TEST_F(Seeing, AnOpenImpressionHasNoPairsYet) {
  const Json ranking = rank({{"items", items(6)}}).json();
  EXPECT_EQ(impression(ranking["impression"])["state"], "open");
  EXPECT_THAT(impression(ranking["impression"])["pairs"], IsEmpty());
}

TEST_F(Seeing, ImpressionsAreListedNewestFirstUpToALimitAndByClick) {
  std::vector<std::string> shown;
  for (int round = 0; round < 5; ++round) {
    const Json ranking = rank({{"items", items(6)}}).json();
    shown.push_back(ranking["impression"]);
    if (round % 2 == 0) feedback(event(ranking, "click", ids_of(ranking)[0]));
  }
  const auto listed = [&](const std::string& query) {
    std::vector<std::string> ids;
    const Json list = client.get("/models/shop/impressions" + query).json();
    for (const Json& one : list["impressions"]) ids.push_back(one["impression"]);
    return ids;
  };
  EXPECT_THAT(listed(""), ElementsAre(shown[4], shown[3], shown[2], shown[1], shown[0]));
  EXPECT_THAT(listed("?limit=2"), ElementsAre(shown[4], shown[3]));
  EXPECT_THAT(listed("?clicked=true"), ElementsAre(shown[4], shown[2], shown[0]));
  EXPECT_THAT(listed("?clicked=true&limit=1"), ElementsAre(shown[4]));
  EXPECT_THAT(listed("?limit=100"), ::testing::SizeIs(5));
  EXPECT_THAT(client.get("/models/shop/impressions?limit=101"), IsError(400));
  EXPECT_THAT(client.get("/models/shop/impressions?limit=0"), IsError(400));
  EXPECT_THAT(client.get("/models/shop/impressions?limit=x"), IsError(400));
  EXPECT_THAT(client.get("/models/shop/impressions?clicked=maybe"), IsError(400));
}

TEST_F(Seeing, StatisticsCountImpressionsAndClicks) {
  // Clicked at ranks 2 and 3; at 1; not at all: twice.
  const std::vector<std::vector<std::size_t>> clicks = {{1, 2}, {0}, {}, {}};
  for (const auto& ranks : clicks) {
    const Json ranking = rank({{"items", items(6)}}).json();
    Json events = Json::array({event(ranking, "close")});
    for (const std::size_t at : ranks) {
      events.insert(events.begin(), event(ranking, "click", ids_of(ranking)[at]));
    }
    feedback(events);
  }
  // Updates are counted a little later than they are made.
  Json stats;
  std::map<std::string, int> sums;
  const auto counted = [&] {
    stats = client.get("/models/shop/stats").json();
    sums.clear();
    for (const Json& point : stats["points"]) {
      for (const char* key : {"impressions", "clicked", "clicks", "updates"}) {
        sums[key] += point[key].get<int>();
      }
    }
    return sums["updates"] == 2;
  };
  EXPECT_TRUE(eventually(counted)) << stats;
  for (const Json& sum : {stats["total"], stats["first_day"]}) {
    EXPECT_EQ(sum["impressions"], 4);
    EXPECT_EQ(sum["clicked"], 2);
    EXPECT_EQ(sum["clicks"], 3);
    EXPECT_EQ(sum["ctr"], 0.5);
    EXPECT_EQ(sum["mrr"], 0.75);
  }
  EXPECT_EQ(sums["impressions"], 4);
  EXPECT_EQ(sums["clicked"], 2);
  EXPECT_EQ(sums["clicks"], 3);
  Json before = 0;
  for (const Json& point : stats["points"]) {
    EXPECT_GT(point["at"], before);
    before = point["at"];
  }
}

TEST_F(Seeing, StatisticsOfNothingAverageNothing) {
  const Json stats = client.get("/models/shop/stats").json();
  EXPECT_EQ(stats["total"]["impressions"], 0);
  EXPECT_EQ(stats["total"]["ctr"], nullptr);
  EXPECT_EQ(stats["total"]["mrr"], nullptr);
  EXPECT_THAT(stats["points"], IsEmpty());
}

TEST_F(Seeing, StatisticsGiveNoMorePointsThanAskedFor) {
  for (int round = 0; round < 3; ++round) rank({{"items", items(6)}});
  EXPECT_THAT(client.get("/models/shop/stats?points=1").json()["points"], SizeIs(1));
  EXPECT_THAT(client.get("/models/shop/stats?points=0"), IsError(400));
  EXPECT_THAT(client.get("/models/shop/stats?points=-5"), IsError(400));
  EXPECT_THAT(client.get("/models/shop/stats?points=1e3"), IsError(400));
}

struct Metrics {
  std::map<std::string, double> samples;     // by name and labels
  std::map<std::string, std::string> types;  // by family
};

// Prometheus' text format; what is not of it is a failure.
Metrics parse_metrics(const std::string& text) {
  static const std::regex comment("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  static const std::regex sample(
      R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{([a-zA-Z_][a-zA-Z0-9_]*="([^"\\]|\\.)*",?)*\})? (\S+))re");
  Metrics metrics;
  std::map<std::string, int> helped;
  EXPECT_TRUE(text.ends_with("\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.empty()) continue;
    if (std::regex_match(line, match, comment)) {
      if (match[1] == "HELP") ++helped[match[2]];
      if (match[1] == "TYPE") metrics.types[match[2]] = match[3];
      continue;
    }
    if (!std::regex_match(line, match, sample)) {
      ADD_FAILURE() << "not a sample: " << line;
      continue;
    }
    const std::string family =
        std::regex_replace(match[1].str(), std::regex("_(bucket|sum|count)$"), "");
    const std::string& name = metrics.types.contains(match[1]) ? match[1].str() : family;
    EXPECT_EQ(helped[name], 1) << line;
    EXPECT_TRUE(metrics.types.contains(name)) << line;
    EXPECT_TRUE(
        metrics.samples.emplace(match[1].str() + match[2].str(), std::stod(match[5])).second)
        << "twice: " << line;
  }
  return metrics;
}

TEST_F(Seeing, MetricsAreOfPrometheusFormAndCount) {
  const testing::Answer answer = client.get("/metrics");
  EXPECT_EQ(answer.type(), "text/plain");
  const Metrics before = parse_metrics(answer.body);
  EXPECT_THAT(before.samples, ::testing::Not(IsEmpty()));
  for (int round = 0; round < 5; ++round) {
    testing::rank_click_close(client, "shop", {{"items", items(6)}});
  }
  const Metrics after = parse_metrics(client.get("/metrics").body);
  int counters = 0;
  int grown = 0;
  for (const auto& [name, value] : after.samples) {
    const auto type = after.types.find(name.substr(0, name.find('{')));
    if (type == after.types.end() || type->second != "counter") continue;
    ++counters;
    const auto old = before.samples.find(name);
    const double grew = value - (old == before.samples.end() ? 0 : old->second);
    EXPECT_GE(grew, 0) << name << " fell";
    if (grew == 5) ++grown;
  }
  EXPECT_GE(counters, 2);
  EXPECT_GE(grown, 2) << "nothing counts rankings and feedback";
}

TEST(MetricsCheck, RefusesWhatIsNotOfTheForm) {
  const std::string head = "# HELP a_total Things.\n# TYPE a_total counter\n";
  EXPECT_EQ(parse_metrics(head + "a_total{m=\"x\",n=\"\"} 3\n").samples.size(), 1U);
  EXPECT_NONFATAL_FAILURE(parse_metrics(head + "a_total{m=x} 3\n"), "not a sample");
  EXPECT_NONFATAL_FAILURE(parse_metrics(head + "a_total 3\na_total 4\n"), "twice");
  EXPECT_NONFATAL_FAILURE(parse_metrics("# TYPE a gauge\na 3\n"), "a 3");
}

}  // namespace
}  // namespace plackett
