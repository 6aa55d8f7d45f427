#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "sampling/probabilistic_multileaving.h"
#include "sampling/team_draft_multileaving.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

using Ties = ProbabilisticMultileaving::Ties;
using List = std::vector<std::uint32_t>;
using Rankings = std::vector<List>;  // a ranker's documents, best first

ScoreTable table_of(const Rankings& rankings) {
  ScoreTable table;
  const auto docs = static_cast<std::uint32_t>(rankings.front().size());
  table.resize(static_cast<std::uint32_t>(rankings.size()), docs);
  for (std::uint32_t ranker = 0; ranker < rankings.size(); ++ranker) {
    for (std::uint32_t rank = 0; rank < docs; ++rank) {
      table.row(ranker)[rankings[ranker][rank]] = -static_cast<float>(rank);
    }
  }
  return table;
}

List shown_by(Multileaving& multileaving, const ScoreTable& table, std::size_t k, Rng& rng) {
  std::vector<Doc> shown(k);
  multileaving.show(table, rng, shown);
  List list;
  for (const Doc doc : shown) list.push_back(index(doc));
  return list;
}

std::vector<List> all_lists(std::uint32_t docs, std::uint32_t k) {
  List order(docs);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<List> lists;
  do {
    List head(order.begin(), order.begin() + k);
    if (lists.empty() || lists.back() != head) lists.push_back(head);
  } while (std::next_permutation(order.begin(), order.end()));
  lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
  return lists;
}

// A ranker's softmax over ranks, 1 / r^tau, of the documents not yet in the list.
double plain_weight(const List& ranking, const List& placed, std::uint32_t doc, double tau) {
  double total = 0;
  double own = 0;
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    if (std::find(placed.begin(), placed.end(), ranking[rank]) != placed.end()) continue;
    const double weight = std::pow(static_cast<double>(rank) + 1, -tau);
    total += weight;
    if (ranking[rank] == doc) own = weight;
  }
  return own / total;
}

double plain_probability(const Rankings& rankings, const List& list, double tau) {
  double probability = 1;
  List placed;
  for (const std::uint32_t doc : list) {
    double sum = 0;
    for (const List& ranking : rankings) sum += plain_weight(ranking, placed, doc, tau);
    probability *= sum / static_cast<double>(rankings.size());
    placed.push_back(doc);
  }
  return probability;
}

const Rankings kThree{{0, 1, 2, 3}, {3, 2, 0, 1}, {1, 3, 2, 0}};

double frequency_p(Multileaving& multileaving, const Rankings& rankings, std::uint32_t k,
                   const std::map<List, double>& expected) {
  const ScoreTable table = table_of(rankings);
  std::map<List, std::uint64_t> seen;
  for (std::uint64_t impression = 0; impression < 100'000; ++impression) {
    Rng rng({.seed = 41, .impression = impression});
    ++seen[shown_by(multileaving, table, k, rng)];
  }
  std::vector<std::uint64_t> counts;
  std::vector<double> probabilities;
  for (const auto& [list, probability] : expected) {
    counts.push_back(seen[list]);
    probabilities.push_back(probability);
    seen.erase(list);
  }
  EXPECT_TRUE(seen.empty()) << "a list that can't be";
  return testing::chi_square_p(counts, probabilities);
}

std::map<List, double> probabilistic_lists(double tau, std::uint32_t k) {
  std::map<List, double> expected;
  for (const List& list : all_lists(4, k)) expected[list] = plain_probability(kThree, list, tau);
  return expected;
}

TEST(ProbabilisticMultileaving, ListFrequenciesMatchEnumeration) {
  ProbabilisticMultileaving multileaving(Ties::kLost);
  for (const std::uint32_t k : {2U, 4U}) {
    EXPECT_GT(frequency_p(multileaving, kThree, k, probabilistic_lists(3, k)),
              testing::kFalseAlarmRate);
  }
}

TEST(ProbabilisticMultileaving, FrequencyCheckRejectsAnotherTau) {
  ProbabilisticMultileaving multileaving(Ties::kLost);
  EXPECT_LT(frequency_p(multileaving, kThree, 2, probabilistic_lists(2.8, 2)),
            testing::kFalseAlarmRate);
}

TEST(ProbabilisticMultileaving, CreditsAreThePosteriorOfTheRankers) {
  ProbabilisticMultileaving multileaving(Ties::kLost);
  const ScoreTable table = table_of(kThree);
  for (std::uint64_t impression = 0; impression < 50; ++impression) {
    Rng rng({.seed = 42, .impression = impression});
    const List list = shown_by(multileaving, table, 4, rng);
    List placed;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      double total = 0;
      for (const List& ranking : kThree) total += plain_weight(ranking, placed, list[rank], 3);
      for (std::uint32_t ranker = 0; ranker < 3; ++ranker) {
        EXPECT_NEAR(multileaving.credit(rank, ranker),
                    plain_weight(kThree[ranker], placed, list[rank], 3) / total, 1e-6);
      }
      placed.push_back(list[rank]);
    }
  }
}

TEST(ProbabilisticMultileaving, TheRankerThatPutTheClickHigherWins) {
  ProbabilisticMultileaving multileaving(Ties::kLost);
  const ScoreTable table = table_of({{0, 1, 2}, {2, 1, 0}, {0, 1, 2}, {1, 0, 2}});
  for (std::uint64_t impression = 0; impression < 20; ++impression) {
    Rng rng({.seed = 43, .impression = impression});
    const List list = shown_by(multileaving, table, 3, rng);
    std::vector<std::uint8_t> clicks(3);
    clicks[static_cast<std::size_t>(std::find(list.begin(), list.end(), 2U) - list.begin())] = 1;
    const auto duels = multileaving.judge(clicks, rng);
    ASSERT_EQ(duels.size(), 3U);
    if (list.back() == 2) {  // all that is left: every ranker would have placed it
      EXPECT_FALSE(duels[0].won);
      EXPECT_EQ(duels[0].expected, 0);
    } else {
      EXPECT_TRUE(duels[0].won);
    }
    EXPECT_EQ(duels[1].expected, 0) << "the same ranking is a tie";
    EXPECT_FALSE(duels[1].won);
  }
}

TEST(ProbabilisticMultileaving, ByChanceATieIsWonAboutHalfTheTime) {
  ProbabilisticMultileaving multileaving(Ties::kByChance);
  const ScoreTable table = table_of({{0, 1, 2}, {0, 1, 2}});
  constexpr int kRepeats = 4'000;
  int wins = 0;
  for (std::uint64_t impression = 0; impression < kRepeats; ++impression) {
    Rng rng({.seed = 44, .impression = impression});
    (void)shown_by(multileaving, table, 3, rng);
    const std::vector<std::uint8_t> clicks{1, 0, 0};
    wins += multileaving.judge(clicks, rng)[0].won ? 1 : 0;
    const std::vector<std::uint8_t> none(3);
    EXPECT_FALSE(multileaving.judge(none, rng)[0].won) << "no click, no sample, no win";
  }
  // The sum of 10,000 signs is 0, a loss, with probability 0.008; five standard deviations.
  EXPECT_NEAR(wins, kRepeats * (1 - 0.008) / 2, 5 * std::sqrt(kRepeats) / 2);
}

TEST(ProbabilisticMultileaving, WorksForAsManyDocumentsAsThereAre) {
  ProbabilisticMultileaving multileaving(Ties::kLost);
  for (const std::uint32_t docs : {1U, 2U, 15U, 16U, 17U, 500U}) {
    ScoreTable table;
    table.resize(3, docs);
    Rng rng({.seed = 45, .run = docs});
    for (std::uint32_t ranker = 0; ranker < 3; ++ranker) {
      for (float& score : table.row(ranker)) score = static_cast<float>(rng.normal());
    }
    List list = shown_by(multileaving, table, docs, rng);
    std::sort(list.begin(), list.end());
    for (std::uint32_t doc = 0; doc < docs; ++doc) EXPECT_EQ(list[doc], doc);
  }
}

// Every order of turns in every round.
void extend_team_draft(const Rankings& rankings, std::size_t k, List& list,
                       std::vector<std::size_t> waiting, double probability,
                       std::map<List, double>& expected) {
  if (list.size() == k) {
    expected[list] += probability;
    return;
  }
  if (waiting.empty()) {
    waiting.resize(rankings.size());
    std::iota(waiting.begin(), waiting.end(), 0U);
  }
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    auto left = waiting;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    for (const std::uint32_t doc : rankings[waiting[at]]) {
      if (std::find(list.begin(), list.end(), doc) != list.end()) continue;
      list.push_back(doc);
      extend_team_draft(rankings, k, list, left, probability / static_cast<double>(waiting.size()),
                        expected);
      list.pop_back();
      break;
    }
  }
}

TEST(TeamDraft, ListFrequenciesMatchEnumeration) {
  for (const Rankings& rankings : {kThree, Rankings{{0, 1, 2, 3}, {2, 0, 3, 1}}}) {
    std::map<List, double> expected;
    List list;
    extend_team_draft(rankings, 4, list, {}, 1, expected);
    TeamDraftMultileaving multileaving;
    EXPECT_GT(frequency_p(multileaving, rankings, 4, expected), testing::kFalseAlarmRate);
  }
}

TEST(TeamDraft, ARankerOwnsTheClicksOnWhatItPlaced) {
  TeamDraftMultileaving multileaving;
  const ScoreTable table = table_of({{0, 1, 2, 3}, {3, 2, 1, 0}});
  for (std::uint64_t impression = 0; impression < 100; ++impression) {
    Rng rng({.seed = 46, .impression = impression});
    const List list = shown_by(multileaving, table, 2, rng);
    // Of the first round, document 0 is the current ranker's and 3 the candidate's.
    const auto at = [&](std::uint32_t doc) {
      std::vector<std::uint8_t> clicks(2);
      clicks[static_cast<std::size_t>(std::find(list.begin(), list.end(), doc) - list.begin())] = 1;
      return clicks;
    };
    EXPECT_TRUE(multileaving.judge(at(3), rng)[0].won);
    EXPECT_FALSE(multileaving.judge(at(0), rng)[0].won);
    EXPECT_EQ(multileaving.judge(at(0), rng)[0].expected, -1);
    const std::vector<std::uint8_t> both{1, 1};
    EXPECT_FALSE(multileaving.judge(both, rng)[0].won);
    EXPECT_EQ(multileaving.judge(both, rng)[0].expected, 0);
  }
}

}  // namespace
}  // namespace plackett
