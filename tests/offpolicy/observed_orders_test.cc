#include "plackett/observed_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ObservedOrders, KeepRowsOfAnyLayoutAndWhatWasShown) {
  const std::vector<float> rows = {1, 2, -1, 3, 4, -1};
  ObservedOrders orders(2);
  ASSERT_TRUE(orders.add(FeatureView::of(rows.data(), 2, 2, 3), 1).ok());
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders.shown(0), 1U);
  EXPECT_EQ(orders.docs(0).doc_count(), 2U);
  EXPECT_THAT(orders.docs(0).row(Doc{1}), ElementsAre(3, 4));
}

TEST(ObservedOrders, RefuseWhatIsNoListAndStayAsTheyWere) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const std::vector<float> rows = {1, 2, 3, 4};
  const std::vector<float> nan = {1, 2, kNan, 4};
  const std::vector<float> infinite = {1, -kInfinite, 3, 4};
  const auto refusal = [](const std::vector<float>& given, std::uint32_t docs,
                          std::uint32_t features, std::uint32_t shown) {
    ObservedOrders orders(2);
    const auto added = orders.add(FeatureView::of(given.data(), docs, features, features), shown);
    EXPECT_EQ(orders.size(), added ? 1U : 0U);
    return added ? std::string() : added.error().message;
  };
  EXPECT_EQ(refusal(rows, 2, 2, 2), "");
  EXPECT_EQ(refusal(rows, 2, 2, 0), "0 shown of 2 candidates; expected 1 to 2");
  EXPECT_EQ(refusal(rows, 2, 2, 3), "3 shown of 2 candidates; expected 1 to 2");
  EXPECT_EQ(refusal(rows, 1, 3, 1), "3 features; expected 2");
  EXPECT_EQ(refusal(rows, 0, 2, 1), "no candidate; a list has at least 1");
  EXPECT_EQ(refusal(nan, 2, 2, 1), "candidate 2, feature 1: nan; features must be finite");
  EXPECT_EQ(refusal(infinite, 2, 2, 1), "candidate 1, feature 2: -inf; features must be finite");
  ObservedOrders none(0);
  EXPECT_THAT(none.add(FeatureView::of(rows.data(), 1, 0, 0), 1).error().message,
              HasSubstr("at least 1"));
}

}  // namespace
}  // namespace plackett
