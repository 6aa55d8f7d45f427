#include "learner/coltr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner_samples.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 6;
constexpr std::uint32_t kDocs = 9;

std::vector<double> softmax(const std::vector<float>& scores) {
  double sum = 0;
  for (const float score : scores) sum += std::exp(double{score});
  std::vector<double> shares;
  for (const float score : scores) shares.push_back(std::exp(double{score}) / sum);
  return shares;
}

// The definition: SNIPS over the shown list, with propensities over all documents, and the penalty.
double plain_cost(const std::vector<double>& candidate, const std::vector<double>& logged,
                  const std::vector<Doc>& shown, const std::vector<double>& costs, double gamma) {
  const auto count = static_cast<double>(shown.size());
  std::vector<double> ratios;
  for (const Doc doc : shown) ratios.push_back(candidate[index(doc)] / logged[index(doc)]);
  double ips = 0;
  double normaliser = 0;
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    ips += ratios[rank] * costs[rank] / count;
    normaliser += ratios[rank] / count;
  }
  const double snips = ips / normaliser;
  double above = 0;
  double below = 0;
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    above += std::pow(costs[rank] - snips, 2) * std::pow(ratios[rank], 2);
    below += std::pow(ratios[rank], 2);
  }
  return snips + gamma * std::sqrt(above / below / count);
}

std::vector<float> scores_of(Ranker& ranker, const FeatureView& docs,
                             const std::vector<float>& parameters) {
  ranker.set_parameters(parameters);
  std::vector<float> scores(docs.doc_count());
  ranker.score(docs, scores);
  return scores;
}

std::unique_ptr<Ranker> ranker_of(RankerKind kind) {
  Rng rng({.seed = 3});
  auto ranker = make_ranker({.kind = kind, .feature_count = kFeatures, .hidden = {4}}, rng).value();
  if (kind == RankerKind::kLinear) {
    ranker->set_parameters(std::vector<float>{0.3F, -0.2F, 0.9F, 0.1F, -0.5F, 0.4F});
  }
  return ranker;
}

// Draws the same candidates, evaluates each by the definition, and steps.
TEST(Coltr, StepsTowardsTheMeanOfThoseThatWouldHaveCostLess) {
  constexpr std::uint32_t kCandidates = 30;
  for (const RankerKind kind : {RankerKind::kLinear, RankerKind::kNeural}) {
    for (const double gamma : {0.0, 1.0, 10.0}) {
      const auto rows = testing::random_rows(kDocs, kFeatures);
      const FeatureView docs(rows.data(), kDocs, kFeatures);
      Coltr coltr(ranker_of(kind), {.candidates = kCandidates, .penalty = gamma, .shown = 6});
      const auto before = testing::parameters_of(coltr.ranker());
      const auto probe = coltr.ranker().clone();
      Rng rng({.seed = 4});
      Ranking ranking;
      ASSERT_TRUE(coltr.rank(docs, rng, ranking));
      coltr.learn(docs, ranking, std::vector<std::uint8_t>{0, 1, 0, 1, 0, 0});
      const std::vector<double> costs{1, 0, 1, 0, 0, 0};  // not examined: costs nothing

      Candidates candidates(*probe, kCandidates);
      candidates.draw(rng);
      const auto logged = softmax(scores_of(*probe, docs, before));
      const double current = plain_cost(logged, logged, ranking.shown, costs, gamma);
      std::vector<double> sum(before.size());
      int winners = 0;
      for (std::uint32_t candidate = 0; candidate < kCandidates; ++candidate) {
        std::vector<float> parameters = before;
        candidates.add_direction(candidate, 1, parameters);
        const auto own = softmax(scores_of(*probe, docs, parameters));
        if (!(plain_cost(own, logged, ranking.shown, costs, gamma) < current)) continue;
        ++winners;
        for (std::size_t at = 0; at < sum.size(); ++at) {
          sum[at] += double{parameters[at]} - double{before[at]};
        }
      }
      EXPECT_GT(winners, 3);
      EXPECT_LT(winners, 27);
      const auto after = testing::parameters_of(coltr.ranker());
      for (std::size_t at = 0; at < sum.size(); ++at) {
        EXPECT_NEAR(after[at] - before[at], 0.1 * sum[at] / winners, 1e-6) << gamma;
      }
    }
  }
}

TEST(Coltr, SharperListsAtALowerTemperature) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  const auto best_first = [&](double temperature) {
    Coltr coltr(ranker_of(RankerKind::kLinear), {.temperature = temperature});
    const auto probe = coltr.ranker().clone();
    std::vector<float> scores(kDocs);
    probe->score(docs, scores);
    int found = 0;
    for (std::uint64_t draw = 0; draw < 2'000; ++draw) {
      Rng rng({.seed = draw});
      Ranking ranking;
      EXPECT_TRUE(coltr.rank(docs, rng, ranking));
      EXPECT_NEAR(ranking.scores[0], scores[index(ranking.shown[0])] / temperature, 1e-5);
      const auto best = std::max_element(scores.begin(), scores.end());
      found += *best == scores[index(ranking.shown[0])] ? 1 : 0;
    }
    double sum = 0;  // the expected share, by the softmax
    const float highest = *std::max_element(scores.begin(), scores.end());
    for (const float score : scores) sum += std::exp((score - highest) / temperature);
    // Six standard deviations: a false alarm in 5e8.
    EXPECT_NEAR(found / 2000.0, 1 / sum, 6 * 0.5 / std::sqrt(2000.0));
    return found;
  };
  EXPECT_GT(best_first(0.1), best_first(1) + 200);
}

TEST(Coltr, LearnsOnceOnlyFromItsLastRankingAndOnlyFromClicks) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Coltr coltr(ranker_of(RankerKind::kLinear), {.candidates = 20, .learning_rate_decay = 0.5});
  Rng rng({.seed = 5});
  Ranking ranking;
  ASSERT_TRUE(coltr.rank(docs, rng, ranking));
  std::vector<std::uint8_t> clicks(ranking.shown.size());
  clicks[3] = 1;
  Ranking other = ranking;
  std::swap(other.shown[0], other.shown[1]);
  coltr.learn(docs, other, clicks);
  EXPECT_EQ(coltr.state().updates, 0U);
  coltr.learn(docs, ranking, clicks);
  coltr.learn(docs, ranking, clicks);
  EXPECT_EQ(coltr.state().updates, 1U);
  EXPECT_EQ(coltr.state().learning_rate, 0.05);
  ASSERT_TRUE(coltr.rank(docs, rng, ranking));
  coltr.learn(docs, ranking, std::vector<std::uint8_t>(ranking.shown.size()));
  EXPECT_EQ(coltr.state().updates, 1U);
  coltr.ranker().set_parameters(std::vector<float>(kFeatures, 3e38F));
  EXPECT_FALSE(coltr.rank(docs, rng, ranking));
}

}  // namespace
}  // namespace plackett
