#include "offpolicy/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/plackett_luce.h"
#include "plackett/rng.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

Agreement agreement_of(const std::vector<float>& scores, std::uint32_t shown) {
  ListLikelihood likelihood;
  return list_agreement(scores, shown, likelihood);
}

TEST(Agreement, IsOneForTheObservedOrderAndMinusOneForItsReverse) {
  EXPECT_EQ(agreement_of({3, 2, 1, 0}, 4).kendall_tau, 1);
  EXPECT_EQ(agreement_of({3, 2, 1, 0}, 4).same_first, 1);
  EXPECT_EQ(agreement_of({0, 1, 2, 3}, 4).kendall_tau, -1);
  EXPECT_EQ(agreement_of({0, 1, 2, 3}, 4).same_first, 0);
}

TEST(Agreement, CountsPairsWithAShownDocumentAndNoOthers) {
  // Known: 0 before 1, 2, 3 and 1 before 2, 3. Wrong: 1 before 3. Unknown: 2 and 3.
  EXPECT_DOUBLE_EQ(agreement_of({9, 5, 1, 6}, 2).kendall_tau, (4.0 - 1.0) / 5.0);
  EXPECT_DOUBLE_EQ(agreement_of({9, 5, 6, 1}, 2).kendall_tau, (4.0 - 1.0) / 5.0);
}

TEST(Agreement, EqualScoresAreInNeitherOrder) {
  EXPECT_EQ(agreement_of({1, 1}, 2).kendall_tau, 0);
  EXPECT_EQ(agreement_of({1, 1}, 2).same_first, 0);
  EXPECT_EQ(agreement_of({1, 1}, 2).sampled_kendall_tau, 0);
  EXPECT_EQ(agreement_of({1, 1}, 2).sampled_same_first, 0.5);
}

TEST(Agreement, OfSampledListsIsThatOfSortedOnesWhenScoresAreFarApart) {
  const Agreement agreement = agreement_of({3e30F, -2e30F, 1e30F, 0}, 3);
  EXPECT_DOUBLE_EQ(agreement.sampled_kendall_tau, agreement.kendall_tau);
  EXPECT_EQ(agreement.sampled_same_first, 1);
}

constexpr int kSamples = 40'000;

// How far the expected tau and the probability of the first document are from those of lists
// sampled from `sampled`: z-value and chi-square's p.
struct Deviation {
  double z = 0;
  double p = 0;
};

Deviation deviation(const Agreement& expected, const std::vector<float>& sampled,
                    std::uint32_t shown) {
  SamplingScratch scratch;
  std::vector<Doc> ranking(sampled.size());
  std::vector<float> places(sampled.size());
  double sum = 0;
  double squares = 0;
  std::uint64_t first[2] = {};
  for (int sample = 0; sample < kSamples; ++sample) {
    Rng rng({.seed = 4, .impression = static_cast<std::uint64_t>(sample)});
    sample_ranking(sampled, rng, scratch, ranking);
    for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
      places[index(ranking[rank])] = -static_cast<float>(rank);
    }
    const double tau = agreement_of(places, shown).kendall_tau;
    sum += tau;
    squares += tau * tau;
    ++first[index(ranking.front()) == 0 ? 0 : 1];
  }
  const double mean = sum / kSamples;
  const double error = std::sqrt((squares / kSamples - mean * mean) / kSamples);
  const double probabilities[] = {expected.sampled_same_first, 1 - expected.sampled_same_first};
  return {std::abs(mean - expected.sampled_kendall_tau) / error,
          testing::chi_square_p(first, probabilities)};
}

constexpr double kAlarm = 4.9;  // two-sided, 1e-6

TEST(Agreement, ExpectationsAreTheMeansOverSampledLists) {
  const std::vector<float> scores = {2, 1.5F, 0.25F, -1, 0.5F, -2};
  for (const std::uint32_t shown : {1U, 3U, 6U}) {
    const Deviation found = deviation(agreement_of(scores, shown), scores, shown);
    EXPECT_LT(found.z, kAlarm) << shown;
    EXPECT_GT(found.p, testing::kFalseAlarmRate) << shown;
  }
}

TEST(Agreement, TheCheckRejectsListsSampledAtAnotherTemperature) {
  const std::vector<float> scores = {2, 1.5F, 0.25F, -1, 0.5F, -2};
  std::vector<float> hotter = scores;
  for (float& score : hotter) score /= 1.2F;
  for (const std::uint32_t shown : {3U, 6U}) {
    const Deviation found = deviation(agreement_of(scores, shown), hotter, shown);
    EXPECT_GT(found.z, kAlarm) << shown;
    EXPECT_LT(found.p, testing::kFalseAlarmRate) << shown;
  }
}

}  // namespace
}  // namespace plackett
