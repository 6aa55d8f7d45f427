#include "learner/pairwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "learner_samples.h"
#include "plackett/pairs.h"
#include "ranker/linear.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

using List = std::vector<std::uint32_t>;

constexpr std::uint32_t kFeatures = 3;
constexpr std::uint32_t kDocs = 4;

List shown_of(const Ranking& ranking) {
  List list;
  for (const Doc doc : ranking.shown) list.push_back(index(doc));
  return list;
}

// The protocol, word for word: a random order and the model's order, and each place takes the
// next of one of them that is not yet placed.
List plain_list(const List& model_order, double epsilon, std::size_t k, Rng& rng) {
  List random_order(model_order.size());
  std::iota(random_order.begin(), random_order.end(), 0U);
  for (auto left = static_cast<std::uint32_t>(random_order.size()); left > 1; --left) {
    std::swap(random_order[left - 1], random_order[rng.below(left)]);
  }
  List list;
  while (list.size() < k) {
    const List& from = rng.uniform() < epsilon ? random_order : model_order;
    list.push_back(*std::find_if(from.begin(), from.end(), [&](std::uint32_t doc) {
      return std::find(list.begin(), list.end(), doc) == list.end();
    }));
  }
  return list;
}

struct Asked {
  double epsilon = 0.8;
  bool worst_first = false;
};

// Whether the lists come as often as those of the plain way with `expected`: a p-value.
double equality_p(const Asked& asked, const Asked& expected) {
  constexpr std::uint64_t kDraws = 40'000;
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  auto ranker = std::make_unique<LinearRanker>(kFeatures);
  ranker->set_parameters(std::vector<float>{1, -2, 3});
  std::vector<float> scores(kDocs);
  ranker->score(docs, scores);
  List order(kDocs);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  if (expected.worst_first) std::reverse(order.begin(), order.end());

  Pairwise pairwise(std::move(ranker),
                    {.epsilon = asked.epsilon, .shown = 3, .worst_first = asked.worst_first});
  std::map<List, std::array<double, 2>> seen;
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < kDraws; ++impression) {
    Rng rng({.seed = 51, .impression = impression});
    EXPECT_TRUE(pairwise.rank(docs, rng, ranking));
    ++seen[shown_of(ranking)][0];
    ++seen[plain_list(order, expected.epsilon, 3, rng)][1];
  }
  double statistic = 0;
  for (const auto& [list, counts] : seen) {
    statistic += (counts[0] - counts[1]) * (counts[0] - counts[1]) / (counts[0] + counts[1]);
  }
  return boost::math::gamma_q((static_cast<double>(seen.size()) - 1) / 2, statistic / 2);
}

TEST(Pairwise, ListsAreThoseOfTheTwoOrders) {
  EXPECT_GT(equality_p({}, {}), testing::kFalseAlarmRate);
  EXPECT_GT(equality_p({.epsilon = 0.3}, {.epsilon = 0.3}), testing::kFalseAlarmRate);
  EXPECT_GT(equality_p({.worst_first = true}, {.worst_first = true}), testing::kFalseAlarmRate);
}

TEST(Pairwise, TheListCheckRejectsAnotherEpsilonAndTheReversedOrder) {
  EXPECT_LT(equality_p({}, {.epsilon = 0.75}), testing::kFalseAlarmRate);
  EXPECT_LT(equality_p({}, {.worst_first = true}), testing::kFalseAlarmRate);
}

TEST(Pairwise, EqualScoresComeInRandomOrder) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pairwise pairwise(std::make_unique<LinearRanker>(kFeatures), {.epsilon = 0});
  std::map<List, std::uint64_t> seen;
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 24'000; ++impression) {
    Rng rng({.seed = 52, .impression = impression});
    ASSERT_TRUE(pairwise.rank(docs, rng, ranking));
    ++seen[shown_of(ranking)];
  }
  std::vector<std::uint64_t> counts;
  for (const auto& [list, count] : seen) counts.push_back(count);
  ASSERT_EQ(counts.size(), 24U);
  EXPECT_GT(testing::chi_square_p(counts, std::vector<double>(24, 1.0 / 24)),
            testing::kFalseAlarmRate);
}

TEST(Pairwise, StepsAlongEveryInferredPair) {
  constexpr std::uint32_t kMany = 12;
  const auto rows = testing::random_rows(kMany, kFeatures);
  const FeatureView docs(rows.data(), kMany, kFeatures);
  Pairwise pairwise(std::make_unique<LinearRanker>(kFeatures), {.learning_rate_decay = 0.9});
  std::vector<double> theta(kFeatures);
  double rate = 0.01;
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 200; ++impression) {
    Rng rng({.seed = 53, .impression = impression});
    ASSERT_TRUE(pairwise.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    for (auto& click : clicks) click = rng.uniform() < 0.3 ? 1 : 0;
    pairwise.learn(docs, ranking, clicks);

    PairInference inference;
    const auto pairs = inference.infer(ranking, clicks);
    for (const WeightedPair& pair : pairs) {
      for (std::uint32_t f = 0; f < kFeatures; ++f) {
        theta[f] += rate * (double{docs.row(ranking.shown[pair.winner_rank])[f]} -
                            double{docs.row(ranking.shown[pair.loser_rank])[f]});
      }
    }
    if (!pairs.empty()) rate *= 0.9;
    std::vector<float> learned(kFeatures);
    pairwise.ranker().get_parameters(learned);
    for (std::uint32_t f = 0; f < kFeatures; ++f) ASSERT_NEAR(learned[f], theta[f], 1e-4);
  }
}

}  // namespace
}  // namespace plackett
