#include "plackett/plackett_luce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "support/chi_square.h"

namespace plackett {
namespace {

// All ways to place k of n documents.
std::vector<std::vector<Doc>> all_rankings(std::uint32_t n, std::uint32_t k) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  std::set<std::vector<std::uint32_t>> heads;
  do {
    heads.insert({order.begin(), order.begin() + k});
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<std::vector<Doc>> rankings;
  for (const auto& head : heads) {
    auto& ranking = rankings.emplace_back();
    for (const std::uint32_t doc : head) ranking.push_back(Doc{doc});
  }
  return rankings;
}

// Eq. 2, word for word.
double plain_probability(std::span<const float> scores, std::span<const Doc> ranking) {
  std::vector<double> left(scores.begin(), scores.end());
  for (double& value : left) value = std::exp(value);
  double probability = 1;
  for (const Doc doc : ranking) {
    probability *= left[index(doc)] / std::accumulate(left.begin(), left.end(), 0.0);
    left[index(doc)] = 0;
  }
  return probability;
}

// Whether rankings sampled from `scores` could come from `expected_scores`: a p-value.
double frequency_p(std::span<const float> scores, std::span<const float> expected_scores,
                   std::uint32_t k, std::size_t expected_outcomes) {
  const auto rankings = all_rankings(static_cast<std::uint32_t>(scores.size()), k);
  EXPECT_EQ(rankings.size(), expected_outcomes);
  std::map<std::vector<Doc>, std::size_t> place;
  std::vector<double> probabilities;
  for (const auto& ranking : rankings) {
    place[ranking] = probabilities.size();
    probabilities.push_back(plain_probability(expected_scores, ranking));
  }
  std::vector<std::uint64_t> counts(rankings.size());
  SamplingScratch scratch;
  std::vector<Doc> ranking(k);
  for (std::uint64_t impression = 0; impression < 200'000; ++impression) {
    Rng rng({.seed = 1, .impression = impression});
    sample_ranking(scores, rng, scratch, ranking);
    ++counts[place.at(ranking)];
  }
  return testing::chi_square_p(counts, probabilities);
}

using testing::kFalseAlarmRate;

constexpr float kScores[] = {0.0F, 0.7F, -0.4F, 1.1F};
constexpr float kSwapped[] = {0.7F, 0.0F, -0.4F, 1.1F};

TEST(PlackettLuce, FrequenciesMatchEnumeration) {
  EXPECT_GT(frequency_p(kScores, kScores, 4, 24), kFalseAlarmRate);
}

TEST(PlackettLuce, FrequenciesMatchEnumerationWhenSomeStayUnshown) {
  EXPECT_GT(frequency_p(kScores, kScores, 2, 12), kFalseAlarmRate);
}

TEST(PlackettLuce, FrequencyCheckRejectsSwappedScores) {
  EXPECT_LT(frequency_p(kScores, kSwapped, 4, 24), kFalseAlarmRate);
}

// The first place over several blocks of documents: 40 outcomes.
TEST(PlackettLuce, FirstPlacesOfManyDocumentsMatchTheSoftmax) {
  std::vector<float> scores(40);
  for (std::size_t doc = 0; doc < scores.size(); ++doc) {
    scores[doc] = 2.0F * std::sin(static_cast<float>(doc));
  }
  std::vector<double> probabilities;
  for (std::uint32_t doc = 0; doc < scores.size(); ++doc) {
    const Doc first[] = {Doc{doc}};
    probabilities.push_back(plain_probability(scores, first));
  }
  std::vector<std::uint64_t> counts(scores.size());
  std::vector<std::uint64_t> shifted(scores.size());
  SamplingScratch scratch;
  std::vector<Doc> ranking(10);
  for (std::uint64_t impression = 0; impression < 200'000; ++impression) {
    Rng rng({.seed = 2, .impression = impression});
    sample_ranking(scores, rng, scratch, ranking);
    ++counts[index(ranking[0])];
    ++shifted[(index(ranking[0]) + 1) % scores.size()];
  }
  EXPECT_GT(testing::chi_square_p(counts, probabilities), kFalseAlarmRate);
  EXPECT_LT(testing::chi_square_p(shifted, probabilities), kFalseAlarmRate);
}

TEST(PlackettLuce, PlacesEachDocumentAtMostOnceHoweverFarScoresLieApart) {
  SamplingScratch scratch;
  for (const float scale : {0.0F, 1.0F, 30.0F, 1e3F, 1e6F, 1e30F}) {
    for (const std::uint32_t n : {1U, 2U, 16U, 17U, 125U}) {
      Rng noise({.seed = 3, .run = n});
      std::vector<float> scores(n);
      for (float& score : scores) score = scale * static_cast<float>(noise.normal());
      for (std::uint64_t impression = 0; impression < 50; ++impression) {
        Rng rng({.seed = 4, .impression = impression});
        std::vector<Doc> ranking(n);
        const Mass rest = sample_ranking(scores, rng, scratch, ranking);
        EXPECT_TRUE(rest.empty());
        EXPECT_EQ(std::set<Doc>(ranking.begin(), ranking.end()).size(), n);
        if (scale >= 1e6F) {
          // No draw can overturn such differences.
          for (std::uint32_t rank = 0; rank + 1 < n; ++rank) {
            EXPECT_GE(scores[index(ranking[rank])], scores[index(ranking[rank + 1])]);
          }
        }
      }
    }
  }
}

TEST(PlackettLuce, ReturnsTheMassOfWhatIsNotShown) {
  SamplingScratch scratch;
  for (const float scale : {1.0F, 100.0F, 3000.0F}) {
    Rng noise({.seed = 5});
    std::vector<float> scores(70);
    for (float& score : scores) score = scale * static_cast<float>(noise.normal());
    const std::vector<double> exact(scores.begin(), scores.end());
    Rng rng({.seed = 6});
    std::vector<Doc> ranking(10);
    const Mass rest = sample_ranking(scores, rng, scratch, ranking);
    const double expected = rest_mass(exact, ranking).log();
    EXPECT_NEAR(rest.log(), expected, 1e-12 * std::max(1.0, std::abs(expected)));
  }
}

TEST(PlackettLuce, ProbabilitiesOfAllRankingsSumToOne) {
  const std::vector<double> scores(std::begin(kScores), std::end(kScores));
  for (const std::uint32_t k : {1U, 2U, 3U, 4U}) {
    double sum = 0;
    for (const auto& ranking : all_rankings(4, k)) {
      std::vector<double> shown;
      for (const Doc doc : ranking) shown.push_back(scores[index(doc)]);
      const double p = std::exp(log_probability(shown, rest_mass(scores, ranking)));
      EXPECT_NEAR(p, plain_probability(kScores, ranking), 1e-15);
      sum += p;
    }
    EXPECT_NEAR(sum, 1.0, 1e-14);
  }
}

TEST(SwapOdds, EqualsTheRatioOfTheTwoProbabilities) {
  for (const double scale : {0.1, 1.0, 8.0, 40.0, 90.0}) {
    Rng noise({.seed = 7});
    std::vector<double> scores(8);
    for (double& score : scores) score = scale * noise.normal();
    const std::vector<double> shown(scores.begin(), scores.begin() + 6);
    Mass rest;
    rest.add(scores[6]);
    rest.add(scores[7]);
    SwapOdds odds;
    odds.reset(shown, rest);
    for (std::uint32_t a = 0; a < 6; ++a) {
      for (std::uint32_t b = 0; b < 6; ++b) {
        if (a == b) continue;
        std::vector<double> swapped = shown;
        std::swap(swapped[a], swapped[b]);
        const double log_odds = log_probability(swapped, rest) - log_probability(shown, rest);
        const double expected = 1 / (1 + std::exp(-log_odds));
        EXPECT_NEAR(odds.rho(a, b), expected, 1e-11 * expected + 1e-300) << scale;
      }
    }
  }
}

TEST(SwapOdds, IsAHalfForEqualScores) {
  SwapOdds odds;
  odds.reset(std::vector<double>(10, 3e38), Mass{});
  for (std::uint32_t rank = 1; rank < 10; ++rank) EXPECT_EQ(odds.rho(0, rank), 0.5);
}

TEST(SwapOdds, OfARankingAndItsReverseSumToOne) {
  const std::vector<double> shown = {3, -900, 20, 450};
  const Mass rest{100, 2};
  SwapOdds odds;
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a + 1; b < 4; ++b) {
      std::vector<double> swapped = shown;
      std::swap(swapped[a], swapped[b]);
      odds.reset(shown, rest);
      const double forth = odds.rho(a, b);
      odds.reset(swapped, rest);
      EXPECT_NEAR(forth + odds.rho(a, b), 1.0, 1e-12);
    }
  }
}

}  // namespace
}  // namespace plackett
