#include "plackett/ndcg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "evaluation/online_performance.h"
#include "plackett/rng.h"
#include "small_split.h"

namespace plackett {
namespace {

using testing::small_split;

// From the definition: the ideal is the best DCG of any ranking, so that of the sorted labels.
double plain_dcg(const std::vector<std::uint8_t>& labels_in_order, std::size_t k) {
  double dcg = 0;
  for (std::size_t place = 1; place <= std::min(k, labels_in_order.size()); ++place) {
    dcg +=
        (std::pow(2, labels_in_order[place - 1]) - 1) / std::log2(static_cast<double>(place) + 1);
  }
  return dcg;
}

double plain_ndcg(const std::vector<std::uint8_t>& labels, const std::vector<Doc>& shown,
                  std::size_t k) {
  std::vector<std::uint8_t> in_order;
  for (const Doc doc : shown) in_order.push_back(labels[index(doc)]);
  std::vector<std::uint8_t> ideal = labels;
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  const double best = plain_dcg(ideal, k);
  return best == 0 ? 0 : plain_dcg(in_order, k) / best;
}

TEST(Ndcg, ByHand) {
  // Labels 0 2 1 shown as they are: 3 / log2(3) + 1 / 2 over 3 + 1 / log2(3).
  const Split split = small_split({{{0, 2, 1}, {}}});
  const NdcgTable table(split, 10);
  const std::vector<Doc> shown = {Doc{0}, Doc{1}, Doc{2}};
  EXPECT_NEAR(table.ndcg(Query{0}, split.judgments(Query{0}), shown), 0.6590018048024133, 1e-15);
}

TEST(Ndcg, EqualsTheDefinitionOnRandomLists) {
  Rng rng({.seed = 1});
  for (std::uint32_t docs = 1; docs <= 25; ++docs) {
    std::vector<std::uint8_t> labels(docs);
    for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(rng.below(5));
    std::vector<Doc> shown(docs);
    for (std::uint32_t doc = 0; doc < docs; ++doc) shown[doc] = Doc{doc};
    for (std::uint32_t left = docs; left > 1; --left) {
      std::swap(shown[left - 1], shown[rng.below(left)]);
    }
    const Split split = small_split({{labels, {}}});
    for (const std::uint32_t k : {1U, 3U, 10U, 40U}) {
      EXPECT_NEAR(NdcgTable(split, k).ndcg(Query{0}, split.judgments(Query{0}), shown),
                  plain_ndcg(labels, shown, k), 1e-14);
    }
  }
}

TEST(Ndcg, IdealRangesOverDocumentsThatWereNotShown) {
  const Split split = small_split({{{0, 1, 4}, {}}});
  const std::vector<Doc> shown = {Doc{1}, Doc{0}};
  EXPECT_NEAR(NdcgTable(split, 2).ndcg(Query{0}, split.judgments(Query{0}), shown),
              1 / (15 + 1 / std::log2(3)), 1e-15);
}

TEST(Ndcg, IsOneForTheIdealOrderAndForTheHighestLabel) {
  const Split split = small_split({{{31, 5, 0}, {}}});
  const NdcgTable table(split, 3);
  const std::vector<Doc> shown = {Doc{0}, Doc{1}, Doc{2}};
  EXPECT_NEAR(table.ndcg(Query{0}, split.judgments(Query{0}), shown), 1, 1e-15);
}

TEST(Ndcg, IsZeroForAQueryWithoutRelevantDocuments) {
  const Split split = small_split({{{0, 0}, {}}, {{0, 1}, {}}});
  const NdcgTable table(split, 10);
  EXPECT_FALSE(table.has_relevant(Query{0}));
  EXPECT_TRUE(table.has_relevant(Query{1}));
  EXPECT_EQ(table.ndcg(Query{0}, split.judgments(Query{0}), std::vector<Doc>{Doc{0}, Doc{1}}), 0);
}

TEST(OnlinePerformance, WeighsEachImpressionByThePowerOfTheDiscount) {
  OnlinePerformance online;
  double expected = 0;
  for (int impression = 0; impression < 10'000; ++impression) {
    const double ndcg = (impression % 7) / 7.0;
    online.add(ndcg);
    expected += ndcg * std::pow(0.9995, impression);
  }
  EXPECT_NEAR(online.total(), expected, 1e-9);
}

TEST(OnlinePerformance, ApproachesTheGeometricSumAndStaysThere) {
  OnlinePerformance online;
  for (int impression = 0; impression < 1'500'000; ++impression) online.add(1);
  EXPECT_NEAR(online.total(), 1 / (1 - 0.9995), 1e-7);
}

}  // namespace
}  // namespace plackett
