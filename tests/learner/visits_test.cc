#include "learner/visits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace plackett {
namespace {

std::array<float, 3> document(std::size_t number) {
  return {static_cast<float>(number), 0.5F, -static_cast<float>(number % 7)};
}

TEST(Visits, CountsEachOfAFewDocumentsForEver) {
  std::vector<float> counts(Visits::kSlots);
  Visits visits(counts);
  constexpr int kRounds = 5000;
  for (int round = 1; round <= kRounds; ++round) {
    for (std::size_t at = 0; at < 5; ++at) {
      EXPECT_EQ(visits.add(document(at)), static_cast<float>(round));
    }
  }
}

TEST(Visits, CountsThousandsOfDocumentsForEverThoughSomeTogether) {
  for (const auto& [documents, most_shared] : {std::pair(2000, 0.25), std::pair(4000, 0.45)}) {
    std::vector<float> counts(Visits::kSlots);
    Visits visits(counts);
    constexpr int kRounds = 10;
    int shared = 0;
    for (int round = 1; round <= kRounds; ++round) {
      for (int at = 0; at < documents; ++at) {
        const float count = visits.add(document(static_cast<std::size_t>(at)));
        ASSERT_GE(count, static_cast<float>(round));
        if (round == kRounds && count > static_cast<float>(round)) ++shared;
      }
    }
    EXPECT_LT(shared, most_shared * documents);
  }
}

TEST(Visits, TellsDocumentsApartByAnyFeatureAndTheirNumber) {
  std::vector<float> counts(Visits::kSlots);
  Visits visits(counts);
  EXPECT_EQ(visits.add(std::array{1.0F, 2.0F, 3.0F}), 1);
  EXPECT_EQ(visits.add(std::array{1.0F, 2.0F, 4.0F}), 1);
  EXPECT_EQ(visits.add(std::array{2.0F, 1.0F, 3.0F}), 1);
  EXPECT_EQ(visits.add(std::array{1.0F, 2.0F}), 1);
  EXPECT_EQ(visits.add(std::array{1.0F, 2.0F, 0.0F}), 1);
  EXPECT_EQ(visits.add(std::array{1.0F, 2.0F, 3.0F}), 2);
}

// A slot is shared by 4 of 32,768 documents that are met once each, and by 40 of ten times as many;
// old visits are forgotten, so a new document still counts as new.
TEST(Visits, ForgetsOldOnesWhenDocumentsAreMany) {
  std::vector<float> counts(Visits::kSlots);
  Visits visits(counts);
  double sum = 0;
  constexpr std::size_t kDocuments = 40 * Visits::kSlots;
  for (std::size_t at = 0; at < kDocuments; ++at) sum += visits.add(document(at));
  EXPECT_LT(sum / kDocuments, 1.5);
  EXPECT_LE(std::count_if(counts.begin(), counts.end(), [](float count) { return count > 0; }),
            Visits::kSlots / 2);
}

TEST(Visits, GoOnFromTheirCounts) {
  std::vector<float> counts(Visits::kSlots);
  Visits visits(counts);
  std::vector<float> copied;
  for (std::size_t at = 0; at < Visits::kSlots; ++at) {
    if (at == 3000) copied = counts;
    visits.add(document(at));
  }
  Visits again(copied);
  for (std::size_t at = 3000; at < Visits::kSlots; ++at) again.add(document(at));
  EXPECT_EQ(copied, counts);
}

}  // namespace
}  // namespace plackett
