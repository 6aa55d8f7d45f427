#include "plackett/split_evaluator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "small_split.h"

namespace plackett {
namespace {

using testing::small_split;

// Scores a document by its only feature.
struct ByFeature {
  std::vector<float> scores;
  std::uint32_t calls = 0;

  std::span<const float> operator()(const FeatureView& docs) {
    ++calls;
    scores.clear();
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      scores.push_back(docs.row(Doc{doc})[0]);
    }
    return scores;
  }
};

Split three_queries() {
  return small_split({{{1, 0}, {5, 1}},          // right order: 1
                      {{0, 0, 0}, {1, 2, 3}},    // nothing relevant
                      {{0, 1, 0}, {3, 2, 1}}});  // relevant one second: 1 / log2(3)
}

TEST(SplitEvaluator, AveragesUnderEachPolicy) {
  const double second = 1 / std::log2(3);
  const auto mean_under = [](NoRelevant policy) {
    SplitEvaluator evaluator(three_queries(), {.no_relevant = policy});
    Rng rng({.purpose = Purpose::kTieBreak});
    ByFeature score;
    return evaluator.mean_ndcg(score, rng);
  };
  EXPECT_NEAR(mean_under(NoRelevant::kSkip), (1 + second) / 2, 1e-15);
  EXPECT_NEAR(mean_under(NoRelevant::kZero), (1 + second) / 3, 1e-15);
  EXPECT_NEAR(mean_under(NoRelevant::kOne), (2 + second) / 3, 1e-15);
}

TEST(SplitEvaluator, AsksForNoScoresWhereNothingIsRelevant) {
  SplitEvaluator evaluator(three_queries(), {});
  Rng rng({.purpose = Purpose::kTieBreak});
  ByFeature score;
  evaluator.mean_ndcg(score, rng);
  EXPECT_EQ(score.calls, 2U);
}

TEST(SplitEvaluator, AllMetricsAgreeWithMeanNdcg) {
  SplitEvaluator evaluator(three_queries(), {.k = 10});
  Rng rng({.purpose = Purpose::kTieBreak});
  ByFeature score;
  const MetricMeans means = evaluator.mean_metrics(score, 1, rng);
  EXPECT_EQ(means.count(), 2U);
  EXPECT_NEAR(means.means()[Metric::kNdcg10], evaluator.mean_ndcg(score, rng), 1e-15);
  EXPECT_NEAR(means.means()[Metric::kMrr], .75, 1e-15);
}

TEST(SplitEvaluator, GivesZeroForASplitWithoutRelevantDocuments) {
  SplitEvaluator evaluator(small_split({{{0, 0}, {}}}), {});
  Rng rng({.purpose = Purpose::kTieBreak});
  ByFeature score;
  EXPECT_EQ(evaluator.mean_ndcg(score, rng), 0);
}

}  // namespace
}  // namespace plackett
