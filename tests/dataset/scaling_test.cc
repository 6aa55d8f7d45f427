#include "plackett/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// (x - min) / (max - min), a column at a time, in long double.
std::vector<float> plain_twin(const std::vector<float>& rows, std::uint32_t docs,
                              std::uint32_t features, std::uint32_t stride) {
  std::vector<float> scaled = rows;
  for (std::uint32_t feature = 0; feature < features; ++feature) {
    long double low = rows[feature];
    long double high = rows[feature];
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      low = std::min(low, static_cast<long double>(rows[doc * stride + feature]));
      high = std::max(high, static_cast<long double>(rows[doc * stride + feature]));
    }
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      float& value = scaled[doc * stride + feature];
      value = high > low ? static_cast<float>((value - low) / (high - low)) : 0.0F;
    }
  }
  return scaled;
}

TEST(QueryMinMax, MatchesThePlainTwin) {
  Rng rng({.seed = 3});
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t docs = 1 + rng.below(40);
    const std::uint32_t features = 1 + rng.below(50);
    const std::uint32_t stride = features + rng.below(20);
    std::vector<float> rows(docs * stride);
    for (float& value : rows) {
      value = static_cast<float>(rng.normal() * std::pow(10.0, rng.below(8)));
    }
    const std::vector<float> expected = plain_twin(rows, docs, features, stride);
    scale_query_minmax(rows.data(), docs, features, stride);
    for (std::size_t at = 0; at < rows.size(); ++at) ASSERT_FLOAT_EQ(rows[at], expected[at]);
  }
}

TEST(QueryMinMax, EndsAreExactlyZeroAndOne) {
  Rng rng({.seed = 4});
  for (int round = 0; round < 1'000; ++round) {
    std::vector<float> rows(7);
    for (float& value : rows) value = static_cast<float>(rng.normal());
    scale_query_minmax(rows.data(), 7, 1, 1);
    EXPECT_EQ(*std::min_element(rows.begin(), rows.end()), 0.0F);
    EXPECT_EQ(*std::max_element(rows.begin(), rows.end()), 1.0F);
  }
}

TEST(QueryMinMax, ConstantWithinTheQueryBecomesZero) {
  std::vector<float> rows{5, 1, 5, 3};
  scale_query_minmax(rows.data(), 2, 2, 2);
  EXPECT_THAT(rows, ElementsAre(0, 0, 0, 1));
}

TEST(QueryMinMax, ASingleDocumentBecomesZero) {
  std::vector<float> rows{5, -3, 1e30F};
  scale_query_minmax(rows.data(), 1, 3, 3);
  EXPECT_THAT(rows, Each(0.0F));
}

TEST(QueryMinMax, ExtremeFiniteValuesNeitherOverflowNorVanish) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  std::vector<float> rows{-kMost, 0, kMost, 2 * kLeast, 0, kLeast};
  scale_query_minmax(rows.data(), 3, 2, 2);
  EXPECT_THAT(rows, ElementsAre(0, 0, 1, 1, 0.5F, 0.5F));
}

TEST(QueryMinMax, LeavesPaddingAlone) {
  std::vector<float> rows{1, 9, 2, 8};
  scale_query_minmax(rows.data(), 2, 1, 2);
  EXPECT_THAT(rows, ElementsAre(0, 9, 1, 8));
}

TEST(ScalingNames, ReadBackAndUnknownOnesNameThoseThereAre) {
  for (const Scaling scaling : {Scaling::kQueryMinMax, Scaling::kNone}) {
    EXPECT_EQ(parse_scaling(name_of(scaling)).value(), scaling);
  }
  EXPECT_EQ(parse_scaling("log").error().message,
            "unknown scaling \"log\"; known: query-minmax, none");
}

}  // namespace
}  // namespace plackett
