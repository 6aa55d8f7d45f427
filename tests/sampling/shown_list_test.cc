#include "sampling/shown_list.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace plackett {
namespace {

const std::vector<float> kCandidateScores{0.5F, -1.0F, 2.0F, 0.0F, 1.0F, 2.0F};

Rng a_stream(std::uint64_t number) { return Rng({7, 0, number, Purpose::kRanking}); }

PlacedList made(const ListRules& rules, std::uint64_t number = 0,
                const std::vector<float>& scores = kCandidateScores) {
  ListMaker maker;
  EXPECT_TRUE(maker.set(scores, rules));
  PlacedList list;
  maker.make(a_stream(number), list);
  return list;
}

std::vector<std::uint32_t> docs(const PlacedList& list) {
  std::vector<std::uint32_t> all;
  for (const PlacedList::Place& place : list.places) all.push_back(index(place.doc));
  return all;
}

TEST(ShownList, WithoutPinsIsTheSampledRanking) {
  for (std::uint64_t number = 0; number < 20; ++number) {
    Rng rng = a_stream(number);
    SamplingScratch scratch;
    Ranking ranking;
    ASSERT_TRUE(sample_list(kCandidateScores, 4, rng, scratch, ranking));
    const PlacedList list = made({.places = 4}, number);
    ASSERT_EQ(list.places.size(), 4U);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(list.places[rank].doc, ranking.shown[rank]);
      EXPECT_EQ(list.places[rank].score, ranking.scores[rank]);
    }
    EXPECT_EQ(list.log_probability, log_probability(ranking.scores, ranking.rest));
  }
}

TEST(ShownList, APinnedDocumentHasItsRankAndTheOthersAreSampledWithoutIt) {
  const std::vector<Pin> pins{{Doc{3}, 1}, {Doc{0}, 3}};
  std::vector<float> others;
  for (const std::uint32_t doc : {1U, 2U, 4U, 5U}) others.push_back(kCandidateScores[doc]);
  for (std::uint64_t number = 0; number < 20; ++number) {
    const PlacedList list = made({.places = 5, .pins = pins}, number);
    const PlacedList alone = made({.places = 3}, number, others);
    EXPECT_THAT(docs(list),
                ::testing::UnorderedElementsAre(3, 0, ::testing::_, ::testing::_, ::testing::_));
    EXPECT_EQ(list.places[1].doc, Doc{3});
    EXPECT_EQ(list.places[1].score, 0.0);
    EXPECT_EQ(list.places[3].doc, Doc{0});
    const std::uint32_t original[] = {1, 2, 4, 5};
    for (const auto& [rank, other] : {std::pair{0, 0}, {2, 1}, {4, 2}}) {
      const auto& place = list.places[static_cast<std::size_t>(rank)];
      EXPECT_FALSE(place.pinned);
      EXPECT_EQ(index(place.doc),
                original[index(alone.places[static_cast<std::size_t>(other)].doc)]);
    }
    EXPECT_EQ(list.log_probability, alone.log_probability);
    EXPECT_EQ(list.entropy, alone.entropy);
  }
}

TEST(ShownList, SortedIsByScoreThenByDocument) {
  const PlacedList list = made({.places = 10, .order = ListOrder::kSorted});
  EXPECT_THAT(docs(list), ::testing::ElementsAre(2, 5, 4, 0, 3, 1));
  EXPECT_EQ(list.log_probability, 0);
  const std::vector<Pin> all{{Doc{1}, 0}, {Doc{2}, 1}};
  EXPECT_THAT(docs(made({.places = 2, .pins = all})), ::testing::ElementsAre(1, 2));
}

TEST(ShownList, TheTemperatureDividesTheScores) {
  std::vector<float> halved;
  for (const float score : kCandidateScores) halved.push_back(score / 2);
  const PlacedList list = made({.places = 6, .temperature = 2}, 3);
  const PlacedList same = made({.places = 6}, 3, halved);
  EXPECT_EQ(docs(list), docs(same));
  EXPECT_EQ(list.log_probability, same.log_probability);
  EXPECT_EQ(list.places[0].score, same.places[0].score);
}

TEST(ShownList, TheEntropyIsThatOfTheFirstPlace) {
  double sum = 0;
  for (const double score : kCandidateScores) sum += std::exp(score);
  double entropy = 0;
  for (const double score : kCandidateScores) {
    const double share = std::exp(score) / sum;
    entropy -= share * std::log(share);
  }
  EXPECT_NEAR(made({.places = 1}).entropy, entropy, 1e-12);
  EXPECT_EQ(made({.places = 1}, 0, {3.0F}).entropy, 0);
}

TEST(ShownList, ScoresThatAreNotFiniteAreRefused) {
  ListMaker maker;
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_FALSE(maker.set(std::vector<float>{1, NAN}, {}));
  EXPECT_FALSE(maker.set(std::vector<float>{1, kLargest}, {.temperature = 0.1F}));
  EXPECT_TRUE(maker.set(std::vector<float>{1, kLargest}, {}));
  SamplingScratch scratch;
  Ranking ranking;
  ranking.shown = {Doc{9}};
  Rng rng = a_stream(0);
  EXPECT_FALSE(sample_list(std::vector<float>{INFINITY}, 1, rng, scratch, ranking));
  EXPECT_THAT(ranking.shown, ::testing::ElementsAre(Doc{9})) << "unchanged";
}

}  // namespace
}  // namespace plackett
