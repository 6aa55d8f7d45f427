#include "dataset/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/rng.h"

namespace plackett {
namespace {

TEST(QueryMinMax, MapsTheLeastTo0AndTheMostTo1) {
  std::vector<float> rows = {2, -1, 4, 1, 3, 0};
  scale_query_minmax(rows.data(), 3, 2, 2);
  EXPECT_EQ(rows, (std::vector<float>{0, 0, 1, 1, 0.5, 0.5}));
}

TEST(QueryMinMax, MakesConstantFeaturesAndSingleDocumentsZero) {
  std::vector<float> rows = {7, 1, 7, 2};
  scale_query_minmax(rows.data(), 2, 2, 2);
  EXPECT_EQ(rows, (std::vector<float>{0, 0, 0, 1}));
  std::vector<float> single = {7, -3};
  scale_query_minmax(single.data(), 1, 2, 2);
  EXPECT_EQ(single, (std::vector<float>{0, 0}));
}

TEST(QueryMinMax, StaysFiniteAtTheEndsOfFloat) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  std::vector<float> rows = {-kMost, 0, kMost, kLeast, 0, kLeast};
  scale_query_minmax(rows.data(), 3, 2, 2);
  EXPECT_EQ(rows, (std::vector<float>{0, 0, 1, 1, 0.5, 1}));
}

TEST(QueryMinMax, LeavesPaddingAlone) {
  std::vector<float> rows = {1, 9, 2, 9};
  scale_query_minmax(rows.data(), 2, 1, 2);
  EXPECT_EQ(rows, (std::vector<float>{0, 9, 1, 9}));
}

TEST(QueryMinMax, AgreesWithThePlainDefinition) {
  Rng rng({.seed = 5});
  constexpr std::size_t kDocs = 13;
  constexpr std::size_t kFeatures = 20;
  std::vector<float> rows(kDocs * kFeatures);
  for (float& value : rows) value = static_cast<float>(rng.normal() * 1e3);
  std::vector<float> scaled = rows;
  scale_query_minmax(scaled.data(), kDocs, kFeatures, kFeatures);
  for (std::size_t feature = 0; feature < kFeatures; ++feature) {
    double low = rows[feature];
    double high = rows[feature];
    for (std::size_t doc = 0; doc < kDocs; ++doc) {
      low = std::min<double>(low, rows[doc * kFeatures + feature]);
      high = std::max<double>(high, rows[doc * kFeatures + feature]);
    }
    for (std::size_t doc = 0; doc < kDocs; ++doc) {
      const double x = rows[doc * kFeatures + feature];
      EXPECT_EQ(scaled[doc * kFeatures + feature], static_cast<float>((x - low) / (high - low)));
    }
  }
}

}  // namespace
}  // namespace plackett
