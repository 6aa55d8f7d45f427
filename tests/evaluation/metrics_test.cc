#include "plackett/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

std::vector<Doc> in_given_order(std::size_t count) {
  std::vector<Doc> docs;
  for (std::uint32_t doc = 0; doc < count; ++doc) docs.push_back(Doc{doc});
  return docs;
}

MetricSet of_labels_in_order(const std::vector<std::uint8_t>& labels, std::uint32_t max_label) {
  return metrics(in_given_order(labels.size()), Judgments(labels), max_label);
}

// The definitions, place by place, each sum written out on its own.
double plain_ndcg(std::vector<std::uint8_t> labels, std::size_t k) {
  const auto dcg = [&labels, k] {
    double sum = 0;
    for (std::size_t place = 1; place <= std::min(k, labels.size()); ++place) {
      sum += (std::pow(2, labels[place - 1]) - 1) / std::log2(static_cast<double>(place) + 1);
    }
    return sum;
  };
  const double shown = dcg();
  std::sort(labels.begin(), labels.end(), std::greater<>());
  return dcg() == 0 ? 0 : shown / dcg();
}

double plain_precision(const std::vector<std::uint8_t>& labels, std::size_t place) {
  double relevant = 0;
  for (std::size_t at = 0; at < place; ++at) relevant += labels[at] > 0 ? 1 : 0;
  return relevant / static_cast<double>(place);
}

double plain_map(const std::vector<std::uint8_t>& labels) {
  double sum = 0;
  double relevant = 0;
  for (std::size_t place = 1; place <= labels.size(); ++place) {
    if (labels[place - 1] == 0) continue;
    sum += plain_precision(labels, place);
    relevant += 1;
  }
  return relevant == 0 ? 0 : sum / relevant;
}

double plain_mrr(const std::vector<std::uint8_t>& labels) {
  for (std::size_t place = 1; place <= labels.size(); ++place) {
    if (labels[place - 1] > 0) return 1 / static_cast<double>(place);
  }
  return 0;
}

double plain_err(const std::vector<std::uint8_t>& labels, std::uint32_t max_label) {
  const auto satisfied = [&labels, max_label](std::size_t place) {
    return (std::pow(2, labels[place - 1]) - 1) / std::pow(2, max_label);
  };
  double err = 0;
  for (std::size_t place = 1; place <= std::min<std::size_t>(10, labels.size()); ++place) {
    double reached = 1;
    for (std::size_t above = 1; above < place; ++above) reached *= 1 - satisfied(above);
    err += reached * satisfied(place) / static_cast<double>(place);
  }
  return err;
}

TEST(Metrics, ByHand) {
  const MetricSet result = of_labels_in_order({0, 2, 0, 1}, 2);
  const double ideal = 3 + 1 / std::log2(3);
  EXPECT_EQ(result[Metric::kNdcg1], 0);
  EXPECT_NEAR(result[Metric::kNdcg3], (3 / std::log2(3)) / ideal, 1e-15);
  EXPECT_NEAR(result[Metric::kNdcg10], (3 / std::log2(3) + 1 / std::log2(5)) / ideal, 1e-15);
  EXPECT_NEAR(result[Metric::kMrr], 1.0 / 2, 1e-15);
  EXPECT_NEAR(result[Metric::kMap], (1.0 / 2 + 2.0 / 4) / 2, 1e-15);
  EXPECT_NEAR(result[Metric::kErr], 3.0 / 4 / 2 + (1.0 / 4) * (1.0 / 4) / 4, 1e-15);
}

TEST(Metrics, EqualTheDefinitionsOnRandomLists) {
  Rng rng({.seed = 2});
  for (std::uint32_t docs = 1; docs <= 40; ++docs) {
    std::vector<std::uint8_t> labels(docs);
    for (std::uint8_t& label : labels) {
      label = static_cast<std::uint8_t>(rng.below(3) == 0 ? rng.below(5) : 0);
    }
    const MetricSet result = of_labels_in_order(labels, 4);
    EXPECT_NEAR(result[Metric::kNdcg1], plain_ndcg(labels, 1), 1e-14);
    EXPECT_NEAR(result[Metric::kNdcg3], plain_ndcg(labels, 3), 1e-14);
    EXPECT_NEAR(result[Metric::kNdcg5], plain_ndcg(labels, 5), 1e-14);
    EXPECT_NEAR(result[Metric::kNdcg10], plain_ndcg(labels, 10), 1e-14);
    EXPECT_NEAR(result[Metric::kMrr], plain_mrr(labels), 1e-14);
    EXPECT_NEAR(result[Metric::kMap], plain_map(labels), 1e-14);
    EXPECT_NEAR(result[Metric::kErr], plain_err(labels, 4), 1e-14);
  }
}

TEST(Metrics, AreAllZeroWithoutRelevantDocuments) {
  const MetricSet result = of_labels_in_order({0, 0, 0}, 4);
  for (const double value : result.values()) EXPECT_EQ(value, 0);
}

TEST(Metrics, ReciprocalRankAndPrecisionHaveNoCutAndErrIsCutAtTen) {
  std::vector<std::uint8_t> labels(20, 0);
  labels[19] = 4;
  const MetricSet result = of_labels_in_order(labels, 4);
  EXPECT_DOUBLE_EQ(result[Metric::kMrr], 1.0 / 20);
  EXPECT_DOUBLE_EQ(result[Metric::kMap], 1.0 / 20);
  EXPECT_EQ(result[Metric::kErr], 0);
}

TEST(MetricMeans, FollowThePolicyForQueriesWithoutRelevantDocuments) {
  const auto mean_of = [](NoRelevant policy) {
    MetricMeans means(policy);
    means.add(of_labels_in_order({0, 1}, 1));
    means.add_without_relevant();
    return means.means()[Metric::kMrr];
  };
  EXPECT_DOUBLE_EQ(mean_of(NoRelevant::kSkip), .5);
  EXPECT_DOUBLE_EQ(mean_of(NoRelevant::kZero), .25);
  EXPECT_DOUBLE_EQ(mean_of(NoRelevant::kOne), .75);
}

TEST(NoRelevant, NamesAndPoliciesGoBothWays) {
  for (const NoRelevant policy : {NoRelevant::kSkip, NoRelevant::kZero, NoRelevant::kOne}) {
    const Result<NoRelevant> parsed = parse_no_relevant(name_of(policy));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, policy);
  }
  EXPECT_EQ(parse_no_relevant("drop").error().message,
            "\"drop\" for queries without relevant documents; known are skip, zero, one");
}

}  // namespace
}  // namespace plackett
