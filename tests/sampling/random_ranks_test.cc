#include "sampling/random_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sampling/score_table.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

ScoreTable table_of(const std::vector<float>& scores) {
  ScoreTable table;
  table.resize(1, static_cast<std::uint32_t>(scores.size()));
  std::copy(scores.begin(), scores.end(), table.row(0).begin());
  return table;
}

TEST(RandomRanks, DistinctScoresNeedNoChance) {
  const ScoreTable table = table_of({0.5F, -1.0F, 3.0F, 0.25F});
  RandomRanks ranks;
  Rng rng({.seed = 1});
  const auto found = ranks.rank(table.row(0), rng).first(4);
  EXPECT_EQ(std::vector<std::uint32_t>(found.begin(), found.end()),
            (std::vector<std::uint32_t>{1, 3, 0, 2}));
  EXPECT_EQ(rng.next_u64(), Rng({.seed = 1}).next_u64());
}

TEST(RandomRanks, EqualScoresTakeEveryOrderEquallyOften) {
  const ScoreTable table = table_of({1, 2, 1, 1, 0, 0});  // 3! * 2! orders
  RandomRanks ranks;
  std::map<std::vector<std::uint32_t>, std::uint64_t> seen;
  for (std::uint64_t impression = 0; impression < 60'000; ++impression) {
    Rng rng({.seed = 2, .impression = impression});
    const auto found = ranks.rank(table.row(0), rng).first(6);
    ASSERT_EQ(found[1], 0U);
    ASSERT_EQ(found[0] + found[2] + found[3], 1U + 2 + 3);
    ++seen[{found.begin(), found.end()}];
  }
  ASSERT_EQ(seen.size(), 12U);
  std::vector<std::uint64_t> counts;
  for (const auto& [order, count] : seen) counts.push_back(count);
  EXPECT_GT(testing::chi_square_p(counts, std::vector<double>(12, 1.0 / 12)),
            testing::kFalseAlarmRate);
}

TEST(RandomRanks, AreAPermutationForAnyNumberOfDocuments) {
  RandomRanks ranks;
  for (std::uint32_t docs = 1; docs < 200; docs += 3) {
    std::vector<float> scores(docs);
    Rng rng({.seed = 3, .run = docs});
    for (float& score : scores) score = static_cast<float>(rng.below(docs / 2 + 1));
    const ScoreTable table = table_of(scores);
    const auto found = ranks.rank(table.row(0), rng).first(docs);
    std::vector<float> sorted(docs, -1);
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      ASSERT_LT(found[doc], docs);
      EXPECT_EQ(sorted[found[doc]], -1) << "rank given twice";
      sorted[found[doc]] = scores[doc];
    }
    EXPECT_TRUE(std::is_sorted(sorted.rbegin(), sorted.rend()));
  }
}

}  // namespace
}  // namespace plackett
