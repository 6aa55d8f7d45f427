#include "offpolicy/gain_regression.h"

#include <gtest/gtest.h>

#include "logs.h"
#include "offpolicy/list_value.h"

namespace plackett {
namespace {

GainRegression fitted(MemoryLog& log, std::uint64_t flipped_unit = ~std::uint64_t{0}) {
  GainRegression regression(log.feature_count());
  std::vector<double> gains;
  for (std::size_t part = 0; part < log.parts(); ++part) {
    take(log.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      list_gains(list, ValueMetric::kClicks, gains);
      if (list.unit == flipped_unit) gains[0] = 1 - gains[0];
      regression.add(list, gains);
    }));
  }
  regression.solve();
  return regression;
}

TEST(GainRegression, FindsWhatAnItemIsWorth) {
  MemoryLog log(3);
  LogMaker{.lists = 50'000,
           .click_chance =
               [](std::size_t rank, const float* features) {
                 return 0.2 +
                        GainRegression::factor(rank) * (0.3 * features[0] + 0.2 * features[2]);
               }}
      .fill(log);
  const GainRegression regression = fitted(log);
  std::vector<double> values;
  take(log.each(0, ListNeed::kAll, [&](const LoggedList& list) {
    regression.predict(list, values);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const auto row = list.docs.row(Doc{rank});
      const double expected = 0.2 + GainRegression::factor(rank) * (0.3 * row[0] + 0.2 * row[2]);
      EXPECT_NEAR(regression.base(list, rank) + GainRegression::factor(rank) * values[rank],
                  expected, 0.03);
    }
  }));
}

TEST(GainRegression, OfAListDoesNotDependOnItsUnit) {
  MemoryLog log(3);
  LogMaker{.lists = 60}.fill(log);
  const GainRegression one = fitted(log);
  const GainRegression other = fitted(log, 7);
  std::vector<double> values;
  std::vector<double> other_values;
  std::size_t changed = 0;
  take(log.each(0, ListNeed::kAll, [&](const LoggedList& list) {
    one.predict(list, values);
    other.predict(list, other_values);
    if (list.unit == 7) {
      EXPECT_EQ(values, other_values);
    } else if (values != other_values) {
      ++changed;
    }
  }));
  EXPECT_GT(changed, 40U);
}

}  // namespace
}  // namespace plackett
