#include "learner/pairrank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "learner_samples.h"
#include "plackett/pairs.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 5;

using testing::Matrix;
using Blocks = std::vector<std::set<std::uint32_t>>;

std::unique_ptr<LinearRanker> ranker_with(const std::vector<float>& parameters) {
  auto ranker = std::make_unique<LinearRanker>(static_cast<std::uint32_t>(parameters.size()));
  ranker->set_parameters(parameters);
  return ranker;
}

// The pairs that a learner keeps, newest last.
Matrix pairs_of(const PairRank& learner) {
  const std::vector<float> memory = learner.state().memory;
  Matrix pairs;
  for (std::size_t at = 4 + kFeatures; at < memory.size(); at += kFeatures) {
    pairs.emplace_back(memory.begin() + static_cast<std::ptrdiff_t>(at),
                       memory.begin() + static_cast<std::ptrdiff_t>(at + kFeatures));
  }
  return pairs;
}

// The method's definition, step by step: certain orders, closed; documents joined by uncertain
// pairs; such groups sorted, and merged where they point at each other.
Blocks plain_blocks(const FeatureView& docs, const std::vector<float>& theta, const Matrix& pairs,
                    const PairRankOptions& options) {
  Matrix confidence(kFeatures, std::vector<double>(kFeatures));
  for (std::size_t one = 0; one < kFeatures; ++one) confidence[one][one] = options.lambda;
  for (const auto& pair : pairs) {
    for (std::size_t one = 0; one < kFeatures; ++one) {
      for (std::size_t other = 0; other < kFeatures; ++other) {
        confidence[one][other] += pair[one] * pair[other];
      }
    }
  }
  const std::uint32_t count = docs.doc_count();
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < count; ++other) {
      std::vector<double> difference(kFeatures);
      double margin = 0;
      for (std::size_t f = 0; f < kFeatures; ++f) {
        difference[f] = double{docs.row(Doc{one})[f]} - double{docs.row(Doc{other})[f]};
        margin += double{theta[f]} * difference[f];
      }
      const std::vector<double> whitened = testing::solved(confidence, difference);
      double squares = 0;
      for (std::size_t f = 0; f < kFeatures; ++f) squares += difference[f] * whitened[f];
      before[one][other] =
          1 / (1 + std::exp(-margin)) - options.alpha * std::sqrt(std::max(squares, 0.0)) > 0.5;
    }
  }
  const auto close = [](std::vector<std::vector<bool>>& relation) {
    for (std::size_t by = 0; by < relation.size(); ++by) {
      for (std::size_t from = 0; from < relation.size(); ++from) {
        for (std::size_t to = 0; to < relation.size(); ++to) {
          if (relation[from][by] && relation[by][to]) relation[from][to] = true;
        }
      }
    }
  };
  close(before);
  std::vector<std::uint32_t> group(count);
  for (std::uint32_t doc = 0; doc < count; ++doc) group[doc] = doc;
  const auto join = [&group](std::uint32_t one, std::uint32_t other) {
    std::replace(group.begin(), group.end(), std::uint32_t{group[one]},
                 std::uint32_t{group[other]});
  };
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < count; ++other) {
      if (!before[one][other] && !before[other][one]) join(one, other);
    }
  }
  std::vector<std::vector<bool>> groups_before(count, std::vector<bool>(count));
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < count; ++other) {
      if (before[one][other]) groups_before[group[one]][group[other]] = true;
    }
  }
  close(groups_before);
  for (std::uint32_t one = 0; one < count; ++one) {
    for (std::uint32_t other = 0; other < count; ++other) {
      const std::uint32_t from = group[one];
      const std::uint32_t to = group[other];
      if (from != to && groups_before[from][to] && groups_before[to][from]) join(one, other);
    }
  }
  std::set<std::uint32_t> left(group.begin(), group.end());
  Blocks blocks;
  while (!left.empty()) {
    // The one that no other is before.
    const auto first = std::find_if(left.begin(), left.end(), [&](std::uint32_t candidate) {
      for (std::uint32_t one = 0; one < count; ++one) {
        for (std::uint32_t other = 0; other < count; ++other) {
          if (group[other] == candidate && group[one] != candidate && left.contains(group[one]) &&
              before[one][other]) {
            return false;
          }
        }
      }
      return true;
    });
    Blocks::value_type block;
    for (std::uint32_t doc = 0; doc < count; ++doc) {
      if (group[doc] == *first) block.insert(doc);
    }
    blocks.push_back(block);
    left.erase(first);
  }
  return blocks;
}

Blocks shown_blocks(const PairRank& learner, const Ranking& ranking) {
  Blocks blocks;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : learner.block_ends()) {
    Blocks::value_type block;
    for (; begin < end; ++begin) block.insert(index(ranking.shown[begin]));
    blocks.push_back(block);
  }
  return blocks;
}

// A learner that has learned from `lists` lists with random clicks.
std::unique_ptr<PairRank> learned(const PairRankOptions& options, std::uint64_t lists,
                                  std::uint64_t seed = 3) {
  auto learner = std::make_unique<PairRank>(ranker_with(std::vector<float>(kFeatures)), options);
  for (std::uint64_t list = 0; list < lists; ++list) {
    Rng rng({.seed = seed, .impression = list});
    const auto rows = testing::random_rows(12, kFeatures, 100 * seed + list);
    const FeatureView docs(rows.data(), 12, kFeatures);
    Ranking ranking;
    EXPECT_TRUE(learner->rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks;
    for (const Doc doc : ranking.shown) {
      // The first feature is what users like.
      clicks.push_back(rng.uniform() < double{docs.row(doc)[0]} ? 1 : 0);
    }
    learner->learn(docs, ranking, clicks);
  }
  return learner;
}

TEST(PairRank, BlocksAreTheDefinitions) {
  std::size_t several = 0;
  for (const double alpha : {0.02, 0.1, 0.5}) {
    for (const std::uint64_t lists : {0, 3, 40, 400}) {
      const PairRankOptions options{.lambda = 0.1, .alpha = alpha, .shown = 12};
      const auto learner = learned(options, lists);
      for (std::uint64_t query = 0; query < 8; ++query) {
        const auto rows = testing::random_rows(12, kFeatures, 7000 + query);
        const FeatureView docs(rows.data(), 12, kFeatures);
        Rng rng({.seed = query});
        Ranking ranking;
        ASSERT_TRUE(learner->rank(docs, rng, ranking));
        const Blocks expected = plain_blocks(docs, testing::parameters_of(learner->ranker()),
                                             pairs_of(*learner), options);
        EXPECT_EQ(shown_blocks(*learner, ranking), expected);
        several += expected.size() > 1 && expected.size() < 12 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(several, 10U);  // neither one block nor a sorted list
}

TEST(PairRank, KnowsNothingAtFirstAndShufflesAll) {
  PairRank learner(ranker_with(std::vector<float>(kFeatures)), {.shown = 4});
  const auto rows = testing::random_rows(4, kFeatures);
  const FeatureView docs(rows.data(), 4, kFeatures);
  std::set<std::vector<Doc>> seen;
  for (std::uint64_t draw = 0; draw < 400; ++draw) {
    Rng rng({.seed = draw});
    Ranking ranking;
    ASSERT_TRUE(learner.rank(docs, rng, ranking));
    seen.insert(ranking.shown);
  }
  EXPECT_EQ(learner.block_ends().size(), 1U);
  EXPECT_EQ(seen.size(), 24U);  // all orders
}

TEST(PairRank, FitsTheMinimumOfTheMeanLogisticLossWithItsRidge) {
  for (const bool disjoint : {true, false}) {
    const PairRankOptions options{.disjoint = disjoint};
    const auto learner = learned(options, 60);
    const Matrix pairs = pairs_of(*learner);
    ASSERT_GT(pairs.size(), 60U);
    // Plain gradient descent, from 0.
    std::vector<double> theta(kFeatures);
    for (int step = 0; step < 2000; ++step) {
      std::vector<double> gradient(kFeatures);
      for (std::size_t f = 0; f < kFeatures; ++f) gradient[f] = 2 * options.lambda * theta[f];
      for (const auto& pair : pairs) {
        double margin = 0;
        for (std::size_t f = 0; f < kFeatures; ++f) margin += theta[f] * pair[f];
        const double wrong = 1 / (1 + std::exp(margin)) / static_cast<double>(pairs.size());
        for (std::size_t f = 0; f < kFeatures; ++f) gradient[f] -= wrong * pair[f];
      }
      for (std::size_t f = 0; f < kFeatures; ++f) theta[f] -= gradient[f];
    }
    const std::vector<float> fitted = testing::parameters_of(learner->ranker());
    for (std::size_t f = 0; f < kFeatures; ++f) EXPECT_NEAR(fitted[f], theta[f], 2e-6);
    EXPECT_GT(fitted[0], 0.1F);
  }
}

TEST(PairRank, DisjointPairsShareNoDocument) {
  const auto rows = testing::random_rows(6, kFeatures);
  const FeatureView docs(rows.data(), 6, kFeatures);
  const std::vector<std::uint8_t> clicks = {0, 1, 0, 1, 0, 0};  // seen up to the fifth
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PairRank learner(ranker_with(std::vector<float>(kFeatures)), {.shown = 6});
    PairRank all(ranker_with(std::vector<float>(kFeatures)), {.disjoint = false, .shown = 6});
    Ranking ranking;
    for (PairRank* one : {&learner, &all}) {
      Rng rng({.seed = seed});
      ASSERT_TRUE(one->rank(docs, rng, ranking));
      one->learn(docs, ranking, clicks);
    }
    const auto is_pair = [&](const std::vector<double>& row, std::uint32_t winner,
                             std::uint32_t loser) {
      for (std::size_t f = 0; f < kFeatures; ++f) {
        const float difference =
            docs.row(ranking.shown[winner])[f] - docs.row(ranking.shown[loser])[f];
        if (row[f] != double{difference}) return false;
      }
      return true;
    };
    const Matrix pairs = pairs_of(learner);
    ASSERT_EQ(pairs.size(), 2U);
    std::set<std::uint32_t> used;
    for (const auto& row : pairs) {
      for (const std::uint32_t winner : {1U, 3U}) {
        for (const std::uint32_t loser : {0U, 2U, 4U}) {
          if (!is_pair(row, winner, loser)) continue;
          EXPECT_TRUE(used.insert(winner).second);
          EXPECT_TRUE(used.insert(loser).second);
        }
      }
    }
    EXPECT_EQ(used.size(), 4U);
    EXPECT_EQ(pairs_of(all).size(), 6U);
  }
}

TEST(PairRank, RefitsAfterSoManyPairs) {
  const auto always = learned({}, 30);
  const auto seldom = learned({.refit = 1'000'000}, 30);
  EXPECT_NE(testing::parameters_of(always->ranker()), std::vector<float>(kFeatures));
  EXPECT_EQ(testing::parameters_of(seldom->ranker()), std::vector<float>(kFeatures));
}

TEST(PairRank, ResumedItContinuesBitByBit) {
  const auto whole = learned({}, 50);
  const auto first = learned({}, 30);
  PairRank resumed(ranker_with(testing::parameters_of(first->ranker())), {});
  resumed.restore(first->state());
  for (PairRank* one : {first.get(), &resumed}) {
    for (std::uint64_t list = 30; list < 50; ++list) {
      Rng rng({.seed = 3, .impression = list});
      const auto rows = testing::random_rows(12, kFeatures, 300 + list);
      const FeatureView docs(rows.data(), 12, kFeatures);
      Ranking ranking;
      ASSERT_TRUE(one->rank(docs, rng, ranking));
      std::vector<std::uint8_t> clicks;
      for (const Doc doc : ranking.shown) {
        clicks.push_back(rng.uniform() < double{docs.row(doc)[0]} ? 1 : 0);
      }
      one->learn(docs, ranking, clicks);
    }
  }
  EXPECT_EQ(testing::parameters_of(resumed.ranker()), testing::parameters_of(whole->ranker()));
  EXPECT_EQ(resumed.state().memory, whole->state().memory);
}

TEST(PairRank, IgnoresMemoryThatItDidNotWrite) {
  const auto learner = learned({}, 5);
  const LearnerState right = learner->state();
  for (const auto& damage : std::vector<std::function<void(std::vector<float>&)>>{
           [](auto& memory) { memory.pop_back(); }, [](auto& memory) { memory.resize(3); },
           [](auto& memory) { memory[1] = -1; }, [](auto& memory) { memory[2] = 1e30F; }}) {
    LearnerState wrong = right;
    damage(wrong.memory);
    PairRank other(ranker_with(std::vector<float>(kFeatures)), {});
    other.restore(wrong);
    EXPECT_TRUE(pairs_of(other).empty());
    other.restore(right);
    EXPECT_EQ(other.state().memory, right.memory);
  }
}

TEST(PairRank, IgnoresClicksOnAnotherListAndSaysWhereAScoreIsNotFinite) {
  PairRank learner(ranker_with(std::vector<float>(kFeatures)), {.shown = 4});
  const auto rows = testing::random_rows(4, kFeatures);
  const FeatureView docs(rows.data(), 4, kFeatures);
  Rng rng({});
  Ranking ranking;
  ASSERT_TRUE(learner.rank(docs, rng, ranking));
  Ranking other = ranking;
  std::reverse(other.shown.begin(), other.shown.end());
  learner.learn(docs, other, std::vector<std::uint8_t>{0, 1, 0, 0});
  EXPECT_TRUE(pairs_of(learner).empty());
  learner.ranker().set_parameters(std::vector<float>(kFeatures, HUGE_VALF));
  EXPECT_FALSE(learner.rank(docs, rng, ranking));
}

}  // namespace
}  // namespace plackett
