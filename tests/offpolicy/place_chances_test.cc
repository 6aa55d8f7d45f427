#include "offpolicy/place_chances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

// The plain twin: the sum of the probabilities of all rankings. chances[doc][place].
std::vector<std::vector<double>> enumerated(const std::vector<float>& scores) {
  const std::size_t docs = scores.size();
  std::vector<std::vector<double>> chances(docs, std::vector<double>(docs));
  std::vector<std::size_t> order(docs);
  std::iota(order.begin(), order.end(), 0U);
  do {
    double log_chance = 0;
    for (std::size_t place = 0; place < docs; ++place) {
      double highest = scores[order[place]];
      for (std::size_t at = place; at < docs; ++at) {
        highest = std::max<double>(highest, scores[order[at]]);
      }
      double left = 0;
      for (std::size_t at = place; at < docs; ++at) left += std::exp(scores[order[at]] - highest);
      log_chance += scores[order[place]] - highest - std::log(left);
    }
    for (std::size_t place = 0; place < docs; ++place) {
      chances[order[place]][place] += std::exp(log_chance);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return chances;
}

double greatest_error(const std::vector<float>& scores, std::uint32_t shown) {
  PlaceChances chances;
  chances.set(scores, shown);
  const auto expected = enumerated(scores);
  double greatest = 0;
  for (std::uint32_t doc = 0; doc < shown; ++doc) {
    for (std::uint32_t place = 0; place < shown; ++place) {
      greatest = std::max(greatest, std::abs(chances.at(doc, place) - expected[doc][place]));
    }
  }
  return greatest;
}

TEST(PlaceChances, AreThoseOfEnumeration) {
  Rng rng({.seed = 5});
  double greatest = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<float> scores(1 + rng.below(6));
    const double spread = 0.1 * std::pow(10.0, 2.5 * rng.uniform());
    for (float& score : scores) score = static_cast<float>(spread * rng.normal());
    const auto shown = 1 + rng.below(static_cast<std::uint32_t>(scores.size()));
    greatest = std::max(greatest, greatest_error(scores, shown));
  }
  EXPECT_LT(greatest, 1e-13);
}

TEST(PlaceChances, AreRightForScoresFarApart) {
  EXPECT_LT(greatest_error({0, 80, -90, 79, -91}, 5), 1e-13);
  EXPECT_LT(greatest_error({0, 500, 250}, 3), 1e-13);
}

TEST(PlaceChances, OfAllPlacesAddUpToOne) {
  std::vector<float> scores(60);
  Rng rng({.seed = 6});
  for (float& score : scores) score = static_cast<float>(2 * rng.normal());
  PlaceChances chances;
  chances.set(scores, 60);
  for (std::uint32_t doc = 0; doc < 60; ++doc) {
    double sum = 0;
    for (std::uint32_t place = 0; place < 60; ++place) sum += chances.at(doc, place);
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

}  // namespace
}  // namespace plackett
