#include "offpolicy/list_chances.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

// The plain twin: the probability of `doc` at a place, with the documents before it gone.
double plain_chance(const std::vector<float>& scores, std::size_t place, std::size_t doc) {
  double left = 0;
  for (std::size_t at = place; at < scores.size(); ++at) left += std::exp(double{scores[at]});
  return std::exp(double{scores[doc]}) / left;
}

std::vector<float> some_scores(Rng& rng, std::size_t count) {
  std::vector<float> scores(count);
  for (float& score : scores) score = static_cast<float>(3 * rng.normal());
  return scores;
}

TEST(ListChances, AreThoseOfThePlainSums) {
  Rng rng({.seed = 1});
  ListChances chances;
  for (int round = 0; round < 200; ++round) {
    const auto scores = some_scores(rng, 1 + rng.below(20));
    const auto shown = 1 + rng.below(static_cast<std::uint32_t>(scores.size()));
    chances.set(scores, shown);
    for (std::uint32_t place = 0; place < shown; ++place) {
      EXPECT_NEAR(std::exp(chances.log_chance(place)), plain_chance(scores, place, place), 1e-7);
    }
  }
}

TEST(ListChances, ExpectationsAreThoseOfThePlainSums) {
  Rng rng({.seed = 2});
  ListChances chances;
  for (int round = 0; round < 200; ++round) {
    const auto scores = some_scores(rng, 2 + rng.below(20));
    const auto shown = 1 + rng.below(static_cast<std::uint32_t>(scores.size()));
    std::vector<double> values(scores.size());
    for (double& value : values) value = rng.normal();
    chances.set(scores, shown);
    std::vector<double> means(shown);
    chances.expect(scores, values, means);
    for (std::uint32_t place = 0; place < shown; ++place) {
      double expected = 0;
      for (std::size_t doc = place; doc < scores.size(); ++doc) {
        expected += plain_chance(scores, place, doc) * values[doc];
      }
      EXPECT_NEAR(means[place], expected, 1e-6);
    }
  }
}

TEST(ListChances, AreRightForScoresFarApart) {
  ListChances chances;
  const std::vector<float> scores{2000, 0, -3000, -3000};
  chances.set(scores, 3);
  EXPECT_EQ(chances.log_chance(0), 0);
  EXPECT_EQ(chances.log_chance(1), 0);
  EXPECT_NEAR(chances.log_chance(2), std::log(0.5), 1e-15);
  std::vector<double> means(3);
  chances.expect(scores, std::vector<double>{1, 2, 4, 8}, means);
  EXPECT_EQ(means, (std::vector<double>{1, 2, 6}));
}

TEST(PrefixWeights, AreExactlyOneForTheLoggedScores) {
  Rng rng({.seed = 3});
  const auto scores = some_scores(rng, 30);
  const std::vector<std::uint8_t> pinned{0, 1, 0, 0};
  LoggedList list;
  list.scores = scores;
  list.pinned = pinned;
  PolicyChoice choice;
  choice.scores = scores;
  std::vector<double> weights(4);
  PrefixWeights().compute(list, choice, weights);
  EXPECT_EQ(weights, (std::vector<double>{1, 1, 1, 1}));
}

TEST(PrefixWeights, OfAnOrderEndWhereTheListLeavesIt) {
  const std::vector<float> scores{0, 0, 0, 0};
  const std::vector<std::uint8_t> pinned{0, 0, 0};
  LoggedList list;
  list.scores = scores;
  list.pinned = pinned;
  PolicyChoice choice;
  choice.sampled = false;
  choice.order = {Doc{0}, Doc{1}, Doc{3}};
  std::vector<double> weights(3);
  PrefixWeights().compute(list, choice, weights);
  EXPECT_NEAR(weights[0], 4, 1e-12);
  EXPECT_NEAR(weights[1], 12, 1e-12);
  EXPECT_EQ(weights[2], 0);
}

}  // namespace
}  // namespace plackett
