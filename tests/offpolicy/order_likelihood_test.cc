#include "offpolicy/order_likelihood.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "plackett/ranker_spec.h"
#include "support/present_ranking.h"

namespace plackett {
namespace {

// The plain twin: each place's choice, one after another.
double plain_probability(const std::vector<double>& scores, std::uint32_t shown) {
  double probability = 1;
  for (std::size_t rank = 0; rank < shown; ++rank) {
    double left = 0;
    for (std::size_t doc = rank; doc < scores.size(); ++doc) left += std::exp(scores[doc]);
    probability *= std::exp(scores[rank]) / left;
  }
  return probability;
}

std::vector<float> as_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

std::vector<float> weights_of(const std::vector<float>& scores, std::uint32_t shown) {
  ListLikelihood likelihood;
  likelihood.log_likelihood(scores, shown);
  std::vector<DocWeight> weights(scores.size());
  likelihood.weights(scores, weights);
  std::vector<float> values;
  for (std::size_t doc = 0; doc < weights.size(); ++doc) {
    EXPECT_EQ(index(weights[doc].doc), doc);
    values.push_back(weights[doc].weight);
  }
  return values;
}

TEST(ListLikelihood, IsTheProductOfTheChoices) {
  const std::vector<double> scores = {0.5, -1.25, 2, 0, 0.5};
  ListLikelihood likelihood;
  for (const std::uint32_t shown : {1U, 2U, 4U, 5U}) {
    EXPECT_NEAR(likelihood.log_likelihood(as_floats(scores), shown),
                std::log(plain_probability(scores, shown)), 1e-12);
  }
}

TEST(ListLikelihood, SumsToOneOverAllOrders) {
  const std::vector<double> scores = {0.5, -1.25, 2, 0, 1.5};
  for (const std::uint32_t shown : {1U, 3U, 5U}) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0U);
    ListLikelihood likelihood;
    double sum = 0;
    do {
      // Of the orders of the rest, the first one.
      if (!std::is_sorted(order.begin() + shown, order.end())) continue;
      std::vector<float> ordered;
      for (const std::size_t doc : order) ordered.push_back(static_cast<float>(scores[doc]));
      sum += std::exp(likelihood.log_likelihood(ordered, shown));
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(sum, 1, 1e-12) << shown;
  }
}

// The largest difference between the weights and the slopes of the plain twin.
double weight_error(const std::vector<double>& scores, std::uint32_t shown,
                    const std::vector<float>& weights) {
  constexpr double kStep = 1e-5;
  double largest = 0;
  for (std::size_t doc = 0; doc < scores.size(); ++doc) {
    std::vector<double> up = scores;
    std::vector<double> down = scores;
    up[doc] += kStep;
    down[doc] -= kStep;
    const double slope =
        std::log(plain_probability(up, shown) / plain_probability(down, shown)) / (2 * kStep);
    largest = std::max(largest, std::abs(slope - weights[doc]));
  }
  return largest;
}

TEST(ListLikelihood, WeightsAreTheSlopesOfTheScores) {
  const std::vector<double> scores = {0.5, -1.25, 2, 0, 0.5, -3};
  for (const std::uint32_t shown : {1U, 3U, 5U, 6U}) {
    EXPECT_LT(weight_error(scores, shown, weights_of(as_floats(scores), shown)), 1e-6) << shown;
  }
}

TEST(ListLikelihood, TheSlopeCheckRejectsTheWeightsOfAnotherList) {
  const std::vector<double> scores = {0.5, -1.25, 2, 0, 0.5, -3};
  EXPECT_GT(weight_error(scores, 3, weights_of(as_floats(scores), 4)), 0.01);
}

TEST(ListLikelihood, IsRightForScoresOfAnySize) {
  constexpr float kMost = std::numeric_limits<float>::max();
  ListLikelihood likelihood;
  // Two equal scores each: one half, wherever they lie.
  for (const float at : {-kMost, -1e30F, 0.0F, 1e30F, kMost}) {
    EXPECT_NEAR(likelihood.log_likelihood(std::vector{at, at}, 1), std::log(0.5), 1e-15) << at;
    EXPECT_THAT(weights_of({at, at}, 1), ::testing::ElementsAre(0.5, -0.5)) << at;
  }
  // A hopeless order: its logarithm is the difference, and the weights are 1 and -1.
  EXPECT_EQ(likelihood.log_likelihood(std::vector{-1e30F, 1e30F}, 2), 2 * double{-1e30F});
  EXPECT_THAT(weights_of({-1e30F, 1e30F}, 2), ::testing::ElementsAre(1, -1));
  // A sure one, ties far below included.
  EXPECT_NEAR(likelihood.log_likelihood(std::vector{kMost, 5.0F, -kMost, -kMost}, 4), std::log(0.5),
              1e-15);
  EXPECT_THAT(weights_of({kMost, 5, -kMost, -kMost}, 4), ::testing::ElementsAre(0, 0, 0.5, -0.5));
}

RankerSpec small(RankerKind kind, std::uint32_t features) {
  return {.kind = kind, .feature_count = features, .hidden = {4}};
}

std::vector<std::size_t> all_of(const ObservedOrders& orders) {
  std::vector<std::size_t> lists(orders.size());
  std::iota(lists.begin(), lists.end(), 0U);
  return lists;
}

// Parameters away from where a network is silent.
std::vector<float> some_parameters(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  Rng rng({.seed = 3});
  for (float& parameter : parameters) parameter += static_cast<float>(0.7 * rng.normal());
  return parameters;
}

// The largest difference between the gradient of `likelihood` and the slopes of `values`.
double gradient_error(OrderLikelihood& likelihood, OrderLikelihood& values,
                      const std::vector<float>& parameters) {
  constexpr float kStep = 0.01F;
  std::vector<double> gradient(parameters.size());
  likelihood.mean(parameters, gradient);
  double largest = 0;
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    std::vector<float> moved = parameters;
    moved[at] = parameters[at] + kStep;
    double slope = values.mean(moved, {});
    double width = moved[at];
    moved[at] = parameters[at] - kStep;
    slope -= values.mean(moved, {});
    width -= moved[at];
    largest = std::max(largest, std::abs(slope / width - gradient[at]));
  }
  return largest;
}

TEST(OrderLikelihood, TheGradientIsTheSlopeForEveryKindOfRanker) {
  const ObservedOrders orders =
      testing::PresentRanking(testing::Present::kNonlinear, 5).orders(70, 7, 4);
  const std::vector<std::size_t> lists = all_of(orders);
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    Rng rng({.seed = 2});
    const auto ranker = make_ranker(small(kind, 5), rng).value();
    OrderLikelihood likelihood(orders, lists, *ranker, 2);
    EXPECT_LT(gradient_error(likelihood, likelihood, some_parameters(*ranker)), 1e-3)
        << name_of(kind);
  }
}

TEST(OrderLikelihood, TheSlopeCheckRejectsAGradientWithoutOneOfTheLists) {
  const ObservedOrders orders =
      testing::PresentRanking(testing::Present::kNonlinear, 5).orders(70, 7, 4);
  const std::vector<std::size_t> lists = all_of(orders);
  Rng rng({.seed = 2});
  const auto ranker = make_ranker(small(RankerKind::kLinearPlusNeural, 5), rng).value();
  OrderLikelihood all(orders, lists, *ranker, 2);
  OrderLikelihood fewer(orders, std::span(lists).first(69), *ranker, 2);
  EXPECT_GT(gradient_error(fewer, all, some_parameters(*ranker)), 3e-3);
}

TEST(OrderLikelihood, HasTheSameBitsForAnyNumberOfThreads) {
  const ObservedOrders orders =
      testing::PresentRanking(testing::Present::kNonlinear).orders(150, 9, 5);
  const std::vector<std::size_t> lists = all_of(orders);
  Rng rng({.seed = 2});
  const auto ranker = make_ranker(small(RankerKind::kLinearPlusNeural, 10), rng).value();
  const std::vector<float> parameters = some_parameters(*ranker);
  std::vector<double> expected(parameters.size());
  const double value = OrderLikelihood(orders, lists, *ranker, 1).mean(parameters, expected);
  for (const unsigned threads : {2U, 3U, 7U}) {
    std::vector<double> gradient(parameters.size());
    OrderLikelihood likelihood(orders, lists, *ranker, threads);
    EXPECT_EQ(likelihood.mean(parameters, gradient), value) << threads;
    EXPECT_EQ(gradient, expected) << threads;
  }
}

TEST(OrderLikelihood, IsNanIfAScoreIsNotFinite) {
  const ObservedOrders orders = testing::PresentRanking(testing::Present::kLinear).orders(5, 9, 5);
  const std::vector<std::size_t> lists = all_of(orders);
  Rng rng({.seed = 2});
  const auto ranker = make_ranker(small(RankerKind::kLinear, 10), rng).value();
  OrderLikelihood likelihood(orders, lists, *ranker, 1);
  const std::vector<float> huge(10, std::numeric_limits<float>::max());
  EXPECT_TRUE(std::isnan(likelihood.mean(huge, {})));
  EXPECT_TRUE(std::isfinite(likelihood.mean(std::vector<float>(10), {}))) << "it recovers";
}

}  // namespace
}  // namespace plackett
