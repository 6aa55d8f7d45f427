// Ranks of documents as MGD's kernel finds them, against counting.
#include "gpu/random_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "plackett/rng.h"

namespace plackett::gpu {
namespace {

constexpr float kUntouched = -77;

// Lists whose lengths are next to those where the code differs.
const std::vector<std::uint32_t> kLengths{1,   2,   65,  66,  127, 128, 129,        130,
                                          255, 256, 257, 300, 315, 511, kMostSorted};

// At 16-byte boundaries.
struct Row {
  explicit Row(std::size_t count) : quads(count / 4 + 2) {}
  float* data() { return quads.front().values; }
  std::vector<Quad> quads;
};

// Distinct, of both signs and of all sizes.
std::vector<float> distinct_scores(std::uint32_t docs, Rng& rng) {
  std::vector<float> scores;
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    const auto size =
        static_cast<float>(1 + doc) * std::ldexp(1.0F, static_cast<int>(doc % 40) * 6 - 140);
    scores.push_back(doc % 3 == 0 ? -size : size);
  }
  std::sort(scores.begin(), scores.end());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  while (scores.size() < docs) scores.push_back(scores.back() * 1.01F);
  for (std::uint32_t left = docs; left > 1; --left) {
    std::swap(scores[left - 1], scores[rng.below(left)]);
  }
  return scores;
}

struct Replaced {
  bool distinct = false;
  std::vector<float> row;
};

Replaced replace(const std::vector<float>& scores, HostOrder order) {
  const auto docs = static_cast<std::uint32_t>(scores.size());
  Row row(docs + 4);
  std::copy(scores.begin(), scores.end(), row.data());
  std::fill_n(row.data() + docs, 4, kUntouched);
  Row sorted(docs);
  const bool distinct = replace_by_sorting(Warp(order), row.data(), docs, sorted.data(),
                                           [](float above) { return above; });
  EXPECT_EQ(row.data()[docs], kUntouched);
  return {distinct, {row.data(), row.data() + docs}};
}

std::vector<float> count_each(const std::vector<float>& scores) {
  std::vector<float> ranks;
  for (const float own : scores) {
    ranks.push_back(static_cast<float>(
        std::count_if(scores.begin(), scores.end(), [own](float one) { return one > own; })));
  }
  return ranks;
}

TEST(RanksBySorting, AreThoseOfCounting) {
  Rng rng({.seed = 5});
  for (const HostOrder order : {HostOrder::kAscending, HostOrder::kDescending}) {
    for (const std::uint32_t docs : kLengths) {
      const std::vector<float> scores = distinct_scores(docs, rng);
      const Replaced replaced = replace(scores, order);
      EXPECT_TRUE(replaced.distinct) << docs;
      EXPECT_EQ(replaced.row, count_each(scores)) << docs;
    }
  }
}

TEST(RanksBySorting, AreNotGivenWhereTwoScoresAreEqual) {
  Rng rng({.seed = 6});
  for (const std::uint32_t docs : kLengths) {
    if (docs < 2) continue;
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<float> scores = distinct_scores(docs, rng);
      const std::uint32_t one = rng.below(docs);
      const std::uint32_t other = (one + 1 + rng.below(docs - 1)) % docs;
      if (repeat % 4 == 0) scores[one] = 0.0F;
      scores[other] = repeat % 4 == 0 ? -0.0F : scores[one];
      const Replaced replaced = replace(scores, HostOrder::kAscending);
      EXPECT_FALSE(replaced.distinct) << docs;
      EXPECT_EQ(replaced.row, scores) << docs;
    }
  }
}

TEST(SortDescending, SortsWhatLanesHaveTogetherOrEachAlone) {
  Rng rng({.seed = 7});
  PerLane<float> together[8];
  for (auto& each : together) {
    for (float& value : each.values) value = static_cast<float>(rng.below(100));
  }
  PerLane<float> alone[8];
  std::copy(std::begin(together), std::end(together), std::begin(alone));
  std::vector<float> expected;
  for (const auto& each : together)
    expected.insert(expected.end(), each.values, each.values + kWarpLanes);
  std::sort(expected.begin(), expected.end(), std::greater<>());
  sort_descending<kWarpLanes>(Warp(), together);
  for (unsigned place = 0; place < expected.size(); ++place) {
    EXPECT_EQ(together[place % 8][place / 8], expected[place]);
  }
  const auto before = std::vector<PerLane<float>>(std::begin(alone), std::end(alone));
  sort_descending<1>(Warp(), alone);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    std::vector<float> own;
    for (const auto& each : before) own.push_back(each[lane]);
    std::sort(own.begin(), own.end(), std::greater<>());
    for (unsigned at = 0; at < 8; ++at) EXPECT_EQ(alone[at][lane], own[at]);
  }
}

}  // namespace
}  // namespace plackett::gpu
