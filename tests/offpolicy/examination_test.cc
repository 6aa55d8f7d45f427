#include "offpolicy/examination.h"

#include <gtest/gtest.h>

#include "logs.h"

namespace plackett {
namespace {

Result<std::vector<double>> estimated(const LogMaker& maker) {
  MemoryLog log(maker.features);
  maker.fill(log);
  ExaminationSums halves[2];
  PlaceChances places;
  std::size_t number = 0;
  for (std::size_t part = 0; part < log.parts(); ++part) {
    take(log.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      if (!list.kept) return;
      places.set(list.scores, list.sampled());
      halves[number++ % 2].add(list, places);
    }));
  }
  halves[0].merge(halves[1]);
  return halves[0].solve(maker.shown);
}

TEST(Examination, OfPositionBasedUsersIsFound) {
  for (const double keep : {1.0, 0.5}) {
    const auto examination = estimated({.lists = 40'000, .scale = 3, .keep = keep});
    ASSERT_TRUE(examination.ok());
    ASSERT_EQ(examination->size(), 4U);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_NEAR((*examination)[rank] * static_cast<double>(rank + 1), 1, 0.06) << rank;
    }
  }
}

// Proves that the check above can fail: clicks per rank alone take the better items' share for
// examination.
TEST(Examination, IsNotTheShareOfClicks) {
  const LogMaker maker{
      .lists = 40'000, .scale = 3, .click_chance = [](std::size_t rank, const float* features) {
        return features[0] / static_cast<double>(rank + 1);
      }};
  MemoryLog log(maker.features);
  maker.fill(log);
  std::vector<double> clicks(4);
  for (std::size_t part = 0; part < log.parts(); ++part) {
    take(log.each(part, ListNeed::kAll, [&](const LoggedList& list) {
      for (std::size_t rank = 0; rank < 4; ++rank) clicks[rank] += list.clicked[rank];
    }));
  }
  EXPECT_LT(clicks[3] / clicks[0] * 4, 0.85);
  const auto examination = estimated(maker);
  ASSERT_TRUE(examination.ok());
  EXPECT_NEAR((*examination)[3] * 4, 1, 0.08);
}

TEST(Examination, OfARankWithoutClicksIsUnknown) {
  const auto examination =
      estimated({.lists = 200, .click_chance = [](std::size_t rank, const float*) {
                   return rank == 2 ? 0.0 : 0.5;
                 }});
  ASSERT_FALSE(examination.ok());
  EXPECT_NE(examination.error().message.find("examination of rank 3 is unknown"),
            std::string::npos);
}

TEST(Examination, OfFewClicksIsRefused) {
  const auto examination = estimated({.lists = 60});
  ASSERT_FALSE(examination.ok());
  EXPECT_NE(examination.error().message.find(" is known to within "), std::string::npos)
      << examination.error().message;
}

}  // namespace
}  // namespace plackett
