#include "learner/pair_regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learner_samples.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 8;

// Pairs of documents that users prefer by their first features, and get wrong with probability
// `wrong`. Feature f is `spread`^f times as large as feature 0, and half of it is a feature that
// all share: they are correlated, as in real data.
struct Sample {
  double wrong = 0.1;
  double spread = 1;
  std::uint64_t seed = 1;

  void add_to(PairRegression& regression, int pairs) const {
    Rng rng({.seed = seed, .impression = regression.pair_count()});
    for (int pair = 0; pair < pairs; ++pair) {
      std::vector<std::vector<float>> docs(2);
      for (auto& doc : docs) {
        const double common = rng.uniform();
        for (std::uint32_t f = 0; f < kFeatures; ++f) {
          doc.push_back(static_cast<float>(std::pow(spread, f) * (rng.uniform() + common) / 2));
        }
      }
      const bool first = docs[0][0] + docs[0][1] / spread > docs[1][0] + docs[1][1] / spread;
      const bool turned = first == (rng.uniform() < wrong);
      regression.add(docs[turned ? 1 : 0].data(), docs[turned ? 0 : 1].data());
    }
  }
};

double margin_of(std::span<const float> pair, const std::vector<double>& theta) {
  double margin = 0;
  for (std::size_t f = 0; f < theta.size(); ++f) margin += theta[f] * double{pair[f]};
  return margin;
}

// The definition.
double loss_of(const PairRegression& regression, double ridge, const std::vector<double>& theta) {
  double loss = 0;
  for (std::size_t at = 0; at < regression.pair_count(); ++at) {
    const double margin = margin_of(regression.pair(at), theta);
    loss += std::log1p(std::exp(-std::abs(margin))) + std::max(-margin, 0.0);
  }
  loss /= static_cast<double>(regression.pair_count());
  return loss + ridge * std::inner_product(theta.begin(), theta.end(), theta.begin(), 0.0);
}

// Newton's method in double precision, with the exact curvature at every step and the loss checked.
std::vector<double> plain_minimum(const PairRegression& regression, double ridge) {
  std::vector<double> theta(kFeatures);
  for (int step = 0; step < 200; ++step) {
    std::vector<double> gradient(kFeatures);
    testing::Matrix curvature(kFeatures, std::vector<double>(kFeatures));
    for (std::size_t f = 0; f < kFeatures; ++f) {
      gradient[f] = 2 * ridge * theta[f];
      curvature[f][f] = 2 * ridge;
    }
    for (std::size_t at = 0; at < regression.pair_count(); ++at) {
      const auto pair = regression.pair(at);
      const double wrong = 1 / (1 + std::exp(margin_of(pair, theta)));
      const auto count = static_cast<double>(regression.pair_count());
      for (std::size_t f = 0; f < kFeatures; ++f) {
        gradient[f] -= wrong * double{pair[f]} / count;
        for (std::size_t other = 0; other < kFeatures; ++other) {
          curvature[f][other] +=
              wrong * (1 - wrong) * double{pair[f]} * double{pair[other]} / count;
        }
      }
    }
    const std::vector<double> direction = testing::solved(curvature, gradient);
    if (std::inner_product(gradient.begin(), gradient.end(), direction.begin(), 0.0) < 1e-15) break;
    const double loss = loss_of(regression, ridge, theta);
    for (double length = 1; length > 1e-9; length /= 2) {
      std::vector<double> tried = theta;
      for (std::size_t f = 0; f < kFeatures; ++f) tried[f] -= length * direction[f];
      if (!(loss_of(regression, ridge, tried) < loss)) continue;
      theta = tried;
      break;
    }
  }
  return theta;
}

std::vector<double> doubles(const std::vector<float>& theta) {
  return {theta.begin(), theta.end()};
}

TEST(PairRegression, FindsTheMinimumOfTheMeanLogisticLossWithItsRidge) {
  for (const double ridge : {0.1, 0.01}) {
    PairRegression regression(kFeatures, ridge);
    Sample{}.add_to(regression, 300);
    std::vector<float> theta(kFeatures);
    regression.fit(theta);
    const auto expected = plain_minimum(regression, ridge);
    for (std::size_t f = 0; f < kFeatures; ++f) EXPECT_NEAR(theta[f], expected[f], 4e-6);
    EXPECT_GT(theta[0], 0.1F);
  }
}

// With clean clicks and a small ridge, theta is large and its curvature changes by orders of
// magnitude on the way; features that were not scaled differ by as much.
TEST(PairRegression, ReachesTheMinimumWithAnyRidgeAndScaleThoughItsCurvatureIsOld) {
  for (const double ridge : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
    for (const double wrong : {0.0, 0.1, 0.4}) {
      for (const double spread : {1.0, 10.0, 0.1}) {
        PairRegression regression(kFeatures, ridge);
        std::vector<float> theta(kFeatures);
        for (int round = 0; round < 40; ++round) {
          Sample{wrong, spread}.add_to(regression, 10);
          const double before = loss_of(regression, ridge, doubles(theta));
          regression.fit(theta);
          const double loss = loss_of(regression, ridge, doubles(theta));
          EXPECT_LE(loss, before + 1e-9);
          if (round % 8 != 7) continue;
          EXPECT_NEAR(loss, loss_of(regression, ridge, plain_minimum(regression, ridge)), 2e-6)
              << "ridge " << ridge << " wrong " << wrong << " spread " << spread << " " << round;
        }
      }
    }
  }
}

TEST(PairRegression, StaysWhereFloatsOverflow) {
  PairRegression regression(2, 0.1);
  const std::vector<float> most(2, 3e38F);
  const std::vector<float> least(2, -3e38F);
  regression.add(most.data(), least.data());  // the difference is infinite
  std::vector<float> theta(2);
  regression.fit(theta);
  EXPECT_EQ(theta, std::vector<float>(2));
}

TEST(PairRegression, CountsPairsSinceTheLastFit) {
  PairRegression regression(kFeatures, 0.1);
  std::vector<float> theta(kFeatures);
  Sample{}.add_to(regression, 3);
  EXPECT_EQ(regression.unfitted(), 3U);
  regression.fit(theta);
  EXPECT_EQ(regression.unfitted(), 0U);
  Sample{}.add_to(regression, 2);
  EXPECT_EQ(regression.unfitted(), 2U);
}

TEST(PairRegression, ContinuesBitByBitFromItsMemory) {
  PairRegression whole(kFeatures, 0.01);
  std::vector<float> theta(kFeatures);
  Sample{}.add_to(whole, 50);
  whole.fit(theta);
  Sample{}.add_to(whole, 3);  // few: the curvature stays old
  whole.fit(theta);
  Sample{}.add_to(whole, 1);
  PairRegression resumed(kFeatures, 0.01);
  resumed.restore(whole.memory());
  EXPECT_EQ(resumed.memory(), whole.memory());
  EXPECT_EQ(resumed.unfitted(), 1U);
  std::vector<float> resumed_theta = theta;
  whole.fit(theta);
  resumed.fit(resumed_theta);
  EXPECT_EQ(resumed_theta, theta);
  EXPECT_EQ(resumed.memory(), whole.memory());
}

TEST(PairRegression, CountsBeyondAFloatsIntegersAreExact) {
  constexpr std::size_t kFloats = std::size_t{1} << 24;  // 1 more is none
  for (const std::size_t count : {std::size_t{0}, kFloats - 1, kFloats, kFloats + 1,
                                  12'345 * kFloats + 6'789, kFloats * kFloats - 1}) {
    const auto [high, low] = halves_of(count);
    EXPECT_EQ(count_of(high, low), count);
  }
  for (const float bad : {-1.0F, 0.5F, 1e30F, NAN}) {
    EXPECT_EQ(count_of(bad, 0), std::nullopt);
    EXPECT_EQ(count_of(0, bad), std::nullopt);
  }
}

}  // namespace
}  // namespace plackett
