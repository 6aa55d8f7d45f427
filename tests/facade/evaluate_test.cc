#include "plackett/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "facade/arrays.h"
#include "plackett/ndcg.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

using testing::SmallArrays;

std::unique_ptr<Ranker> linear(const std::vector<float>& weights) {
  Rng rng({});
  auto ranker =
      make_ranker({.feature_count = static_cast<std::uint32_t>(weights.size())}, rng).value();
  ranker->set_parameters(weights);
  return ranker;
}

// Written out: each query's documents sorted by score, NDCG at 10, and the mean.
TEST(Evaluate, IsTheMeanOverQueriesSortedByScore) {
  const Dataset data = load_dataset("synthetic", {}).value();
  const Split& split = data.folds[0].test;
  std::vector<float> weights(split.feature_count());
  Rng rng({.seed = 8});
  for (float& weight : weights) weight = static_cast<float>(rng.normal());
  const auto ranker = linear(weights);

  const NdcgTable table(split, 10);
  double sum = 0;
  std::uint64_t counted = 0;
  for (std::uint32_t at = 0; at < split.query_count(); ++at) {
    const Query query{at};
    if (!table.has_relevant(query)) continue;
    const FeatureView docs = split.features(query);
    std::vector<float> scores(docs.doc_count());
    ranker->score(docs, scores);
    std::vector<Doc> order(scores.size());
    for (std::uint32_t doc = 0; doc < order.size(); ++doc) order[doc] = Doc{doc};
    std::sort(order.begin(), order.end(),
              [&](Doc a, Doc b) { return scores[index(a)] > scores[index(b)]; });
    sum += table.ndcg(query, split.judgments(query), order);
    ++counted;
  }
  const MetricMeans means = evaluate(*ranker, split, data.max_label).value();
  EXPECT_EQ(means.count(), counted);
  EXPECT_NEAR(means.means()[Metric::kNdcg10], sum / static_cast<double>(counted), 1e-12);
}

TEST(Evaluate, IsAFunctionOfItsSeed) {
  const Dataset data = load_dataset("synthetic", {}).value();
  const auto ranker = linear(std::vector<float>(data.folds[0].test.feature_count()));
  const auto with = [&](std::uint64_t seed) {
    return evaluate(*ranker, data.folds[0].test, data.max_label, {.seed = seed})
        .value()
        .means()[Metric::kNdcg10];
  };
  EXPECT_EQ(with(1), with(1));
  EXPECT_NE(with(1), with(2));
}

TEST(Evaluate, CountsQueriesWithoutRelevantDocumentsAsAsked) {
  SmallArrays small;
  small.labels = {0, 0, 0, 0, 1};
  const Split split = wrap_split(small.arrays()).value();
  const auto ranker = linear({1, 0, 0});  // the last document is the best, and comes first
  const auto means = [&](NoRelevant policy) {
    return evaluate(*ranker, split, 1, {.no_relevant = policy}).value();
  };
  EXPECT_EQ(means(NoRelevant::kSkip).count(), 1U);
  EXPECT_EQ(means(NoRelevant::kSkip).means()[Metric::kNdcg10], 1);
  EXPECT_EQ(means(NoRelevant::kZero).count(), 2U);
  EXPECT_EQ(means(NoRelevant::kZero).means()[Metric::kNdcg10], 0.5);
  EXPECT_EQ(means(NoRelevant::kOne).means()[Metric::kNdcg10], 1);
}

TEST(Evaluate, GivesEachQueryInOrderWithoutChangingTheMeans) {
  const Dataset data = load_dataset("synthetic", {}).value();
  const Split& split = data.folds[0].test;
  // Only one weight, of a feature with many equal values: ties all over.
  std::vector<float> weights(split.feature_count());
  weights[0] = 1;
  const auto ranker = linear(weights);
  for (const NoRelevant policy : {NoRelevant::kSkip, NoRelevant::kZero, NoRelevant::kOne}) {
    const MetricMeans plain =
        evaluate(*ranker, split, data.max_label, {.no_relevant = policy}).value();
    std::uint32_t next = 0;
    MetricSet sums;
    std::uint64_t counted = 0;
    const auto each = [&](const QueryResult& result) -> Result<void> {
      const Query query{next++};
      EXPECT_EQ(result.query, query);
      const Judgments judgments = split.judgments(query);
      EXPECT_EQ(result.relevant > 0, NdcgTable(split, 10).has_relevant(query));
      std::vector<bool> placed(judgments.doc_count());
      for (std::size_t rank = 0; rank < result.ranking.size(); ++rank) {
        placed[index(result.ranking[rank])] = true;
        if (rank == 0) continue;
        EXPECT_GE(result.scores[index(result.ranking[rank - 1])],
                  result.scores[index(result.ranking[rank])]);
      }
      EXPECT_EQ(std::count(placed.begin(), placed.end(), true), judgments.doc_count());
      EXPECT_EQ(result.metrics.has_value(), result.relevant > 0 || policy != NoRelevant::kSkip);
      if (!result.metrics) return {};
      ++counted;
      for (std::size_t at = 0; at < kMetricCount; ++at) {
        const double value = result.metrics->values()[at];
        if (result.relevant == 0) {
          EXPECT_EQ(value, policy == NoRelevant::kOne ? 1 : 0);
        } else {
          EXPECT_EQ(value, metrics(result.ranking, judgments, data.max_label).values()[at]);
        }
        sums[static_cast<Metric>(at)] += value;
      }
      return {};
    };
    const MetricMeans means =
        evaluate(*ranker, split, data.max_label, {.no_relevant = policy, .each_query = each})
            .value();
    EXPECT_EQ(next, split.query_count());
    EXPECT_EQ(counted, means.count());
    EXPECT_EQ(means.count(), plain.count());
    for (std::size_t at = 0; at < kMetricCount; ++at) {
      EXPECT_EQ(means.means().values()[at], plain.means().values()[at]);
      EXPECT_NEAR(sums.values()[at] / static_cast<double>(counted), plain.means().values()[at],
                  1e-12);
    }
  }
}

TEST(Evaluate, EndsWithTheFirstFailureOfItsCaller) {
  const SmallArrays small;
  int calls = 0;
  const auto each = [&calls](const QueryResult&) -> Result<void> {
    ++calls;
    return Error{"the disk is full"};
  };
  const auto failed =
      evaluate(*linear({1, 0, 0}), wrap_split(small.arrays()).value(), 2, {.each_query = each});
  EXPECT_EQ(failed.error().message, "the disk is full");
  EXPECT_EQ(calls, 1);
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  const SmallArrays small;
  const Split split = wrap_split(small.arrays()).value();
  EXPECT_EQ(evaluate(*linear({1, 2}), split, 2).error().message, "3 features; the ranker reads 2");
  EXPECT_EQ(evaluate(*linear({1, 2, 3}), split, 1).error().message,
            "label 2 in query 1; labels are 0 to 1");
}

// Scores nothing of the second document that it sees in a list; counts the lists.
class Unsure final : public Ranker {
 public:
  [[nodiscard]] int asked() const { return asked_; }

  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<Unsure>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return 3; }
  void score(const FeatureView& /*docs*/, std::span<float> scores) override {
    ++asked_;
    std::fill(scores.begin(), scores.end(), 1.0F);
    scores[1] = std::numeric_limits<float>::infinity();
  }
  void gradient(const FeatureView& /*docs*/, std::span<const DocWeight> /*weights*/,
                std::span<float> /*out*/) override {}
  [[nodiscard]] std::size_t parameter_count() const override { return 0; }
  void get_parameters(std::span<float> /*out*/) const override {}
  void set_parameters(std::span<const float> /*parameters*/) override {}

 private:
  int asked_ = 0;
};

TEST(Evaluate, EndsAtTheFirstScoreThatIsNotFiniteAndNamesIt) {
  SmallArrays small;
  Unsure unsure;
  EXPECT_EQ(evaluate(unsure, wrap_split(small.arrays()).value(), 2).error().message,
            "query 0, document 1: score inf; scores are finite (was the ranker learned on data of "
            "another scale?)");
  EXPECT_EQ(unsure.asked(), 1);
  small.labels = {0, 0, 0, 0, 1};  // nothing is asked about query 0
  EXPECT_THAT(evaluate(unsure, wrap_split(small.arrays()).value(), 2).error().message,
              ::testing::StartsWith("query 1, document 1: score inf"));
}

}  // namespace
}  // namespace plackett
