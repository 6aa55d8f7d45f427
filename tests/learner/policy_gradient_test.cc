#include "learner/policy_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "learner_samples.h"
#include "ranker/linear.h"

namespace plackett {
namespace {

constexpr std::uint32_t kDocs = 4;

// Document d has feature d alone, so the parameters are the scores.
struct OneHot {
  AlignedVector<float> rows = AlignedVector<float>(kDocs * padded_width(kDocs));
  FeatureView docs{rows.data(), kDocs, kDocs};
  OneHot() {
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) rows[doc * padded_width(kDocs) + doc] = 1;
  }
};

const std::vector<float> kScores{0.5F, -0.25F, 1.0F, 0.0F};
// P(click | document, examined), and P(examined | rank).
const std::vector<double> kAttraction{0.9, 0.3, 0.5, 0.1};
const std::vector<double> kExamination{1.0, 0.6, 0.3, 0.2};

void each_ranking(std::uint32_t shown, const std::function<void(const std::vector<Doc>&)>& visit) {
  std::vector<Doc> ranking;
  const std::function<void()> extend = [&] {
    if (ranking.size() == shown) return visit(ranking);
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      if (std::find(ranking.begin(), ranking.end(), Doc{doc}) != ranking.end()) continue;
      ranking.push_back(Doc{doc});
      extend();
      ranking.pop_back();
    }
  };
  extend();
}

double probability(const std::vector<Doc>& ranking, const std::vector<double>& scores) {
  double left = 0;
  for (const double score : scores) left += std::exp(score);
  double product = 1;
  for (const Doc doc : ranking) {
    product *= std::exp(scores[index(doc)]) / left;
    left -= std::exp(scores[index(doc)]);
  }
  return product;
}

double click_probability(const std::vector<Doc>& ranking, std::size_t rank) {
  return kAttraction[index(ranking[rank])] * kExamination[rank];
}

double value_of_click(const PolicyGradientOptions& options, std::size_t rank) {
  const auto place = static_cast<double>(rank + 1);
  const double discount = options.discount == ClickDiscount::kDcg ? 1 / std::log2(place + 1) : 1;
  return discount * std::min(std::pow(place, options.position_bias), options.most_weight);
}

double expected_reward(const PolicyGradientOptions& options, const std::vector<double>& scores) {
  double sum = 0;
  each_ranking(options.shown, [&](const std::vector<Doc>& ranking) {
    for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
      sum += probability(ranking, scores) * click_probability(ranking, rank) *
             value_of_click(options, rank);
    }
  });
  return sum;
}

std::vector<double> true_gradient(const PolicyGradientOptions& options) {
  constexpr double kStep = 1e-5;
  std::vector<double> gradient;
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
    std::vector<double> above(kScores.begin(), kScores.end());
    std::vector<double> below = above;
    above[doc] += kStep;
    below[doc] -= kStep;
    gradient.push_back((expected_reward(options, above) - expected_reward(options, below)) /
                       (2 * kStep));
  }
  return gradient;
}

using Update = std::function<std::vector<float>(const Ranking&, const std::vector<std::uint8_t>&)>;

// The mean of the learner's updates over all rankings and all clicks on them.
std::vector<double> mean_update(const PolicyGradientOptions& options, const Update& update) {
  const std::vector<double> scores(kScores.begin(), kScores.end());
  std::vector<double> mean(kDocs);
  each_ranking(options.shown, [&](const std::vector<Doc>& shown) {
    Ranking ranking{.shown = shown};
    for (const Doc doc : shown) ranking.scores.push_back(scores[index(doc)]);
    ranking.rest = rest_mass(scores, shown);
    for (std::uint32_t bits = 0; bits < (1U << shown.size()); ++bits) {
      double chance = probability(shown, scores);
      std::vector<std::uint8_t> clicks;
      for (std::size_t rank = 0; rank < shown.size(); ++rank) {
        clicks.push_back(bits >> rank & 1U);
        const double click = click_probability(shown, rank);
        chance *= clicks[rank] != 0 ? click : 1 - click;
      }
      const std::vector<float> step = update(ranking, clicks);
      for (std::uint32_t doc = 0; doc < kDocs; ++doc) mean[doc] += chance * double{step[doc]};
    }
  });
  return mean;
}

Update update_of(const PolicyGradientOptions& options, const std::vector<double>& baseline) {
  return [=](const Ranking& ranking, const std::vector<std::uint8_t>& clicks) {
    std::vector<double> rewards(clicks.size());
    reward_downward(options, clicks, rewards);
    for (std::size_t rank = 0; rank < rewards.size(); ++rank) rewards[rank] -= baseline[rank];
    std::vector<float> step(kDocs);
    PlacementGradient gradient;
    for (const auto& [doc, weight] : gradient.weigh(ranking, kScores, rewards)) {
      step[index(doc)] += weight;
    }
    return step;
  };
}

double largest_error(const std::vector<double>& one, const std::vector<double>& other) {
  double error = 0;
  for (std::size_t at = 0; at < one.size(); ++at) {
    error = std::max(error, std::abs(one[at] - other[at]));
  }
  return error;
}

const std::vector<PolicyGradientOptions> kCases{
    {.shown = 4},
    {.shown = 3},
    {.shown = 2, .discount = ClickDiscount::kNone},
    {.shown = 3, .position_bias = 1},
    {.shown = 4, .discount = ClickDiscount::kNone, .position_bias = 2, .most_weight = 5}};

TEST(PolicyGradient, ExpectedUpdateIsTheGradientOfTheExpectedReward) {
  for (const PolicyGradientOptions& options : kCases) {
    const auto expected = true_gradient(options);
    const std::vector<double> none(options.shown);
    EXPECT_LT(largest_error(mean_update(options, update_of(options, none)), expected), 1e-6);
    EXPECT_GT(largest_error(expected, std::vector<double>(kDocs)), 1e-2);
  }
}

// The fault: documents that were not shown get no weight. Proves that the check above can fail.
TEST(PolicyGradient, ExpectationCheckRejectsAnUpdateOfTheShownDocumentsAlone) {
  const PolicyGradientOptions options{.shown = 2};
  const auto right = update_of(options, std::vector<double>(2));
  const auto faulty = [&](const Ranking& ranking, const std::vector<std::uint8_t>& clicks) {
    std::vector<float> step = right(ranking, clicks);
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      const bool shown =
          std::find(ranking.shown.begin(), ranking.shown.end(), Doc{doc}) != ranking.shown.end();
      if (!shown) step[doc] = 0;
    }
    return step;
  };
  EXPECT_GT(largest_error(mean_update(options, faulty), true_gradient(options)), 1e-2);
}

TEST(PolicyGradient, BaselineChangesUpdatesButNotTheirExpectation) {
  for (const PolicyGradientOptions& options : kCases) {
    std::vector<double> baseline{0.7, 0.4, 0.3, 0.1};
    baseline.resize(options.shown);
    const auto with = update_of(options, baseline);
    const auto without = update_of(options, std::vector<double>(options.shown));
    EXPECT_LT(largest_error(mean_update(options, with), true_gradient(options)), 1e-6);
    const Ranking ranking{.shown = {Doc{2}}, .scores = {1.0}, .rest = {.shift = 0.5, .sum = 2}};
    EXPECT_NE(with(ranking, {1}), without(ranking, {1}));
  }
}

TEST(PolicyGradient, StepsByTheWeightsOfItsLastListOnce) {
  const OneHot one;
  const PolicyGradientOptions options{
      .learning_rate = 0.5, .learning_rate_decay = 0.5, .shown = 3, .position_bias = 1};
  auto ranker = std::make_unique<LinearRanker>(kDocs);
  ranker->set_parameters(kScores);
  PolicyGradient learner(std::move(ranker), options);
  LearnerState state = learner.state();
  state.memory = {0.5F, 0.25F, 0.125F};
  learner.restore(state);
  Rng rng({.seed = 3});
  Ranking ranking;
  ASSERT_TRUE(learner.rank(one.docs, rng, ranking));
  const std::vector<std::uint8_t> clicks{0, 1, 1};
  const auto step = update_of(options, {0.5, 0.25, 0.125})(ranking, clicks);
  Ranking other = ranking;
  std::swap(other.shown[0], other.shown[1]);
  learner.learn(one.docs, other, clicks);
  EXPECT_EQ(learner.state().updates, 0U);
  learner.learn(one.docs, ranking, clicks);
  learner.learn(one.docs, ranking, clicks);
  EXPECT_EQ(learner.state().updates, 1U);
  EXPECT_EQ(learner.state().learning_rate, 0.25);
  const auto after = testing::parameters_of(learner.ranker());
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
    EXPECT_NEAR(after[doc], kScores[doc] + 0.5F * step[doc], 1e-6);
  }
}

TEST(PolicyGradient, BaselineIsTheMeanRewardFromEachRankDownward) {
  const OneHot one;
  PolicyGradient learner(std::make_unique<LinearRanker>(kDocs),
                         {.shown = 3, .discount = ClickDiscount::kNone});
  const std::vector<std::vector<std::uint8_t>> lists{{1, 0, 1}, {0, 1, 0}, {1, 1, 1}, {0, 0, 0}};
  for (const auto& clicks : lists) {
    Rng rng({.seed = 2});
    Ranking ranking;
    ASSERT_TRUE(learner.rank(one.docs, rng, ranking));
    learner.learn(one.docs, ranking, clicks);
  }
  const std::vector<double> means{6.0 / 4, 4.0 / 4, 2.0 / 4};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_NEAR(learner.state().memory[rank], means[rank], 1e-6);
  }
  EXPECT_EQ(learner.state().updates, 4U);
}

TEST(PolicyGradient, NothingClickedNothingLearnedAtFirst) {
  const OneHot one;
  PolicyGradient learner(std::make_unique<LinearRanker>(kDocs), {.shown = 3});
  Rng rng({.seed = 2});
  Ranking ranking;
  ASSERT_TRUE(learner.rank(one.docs, rng, ranking));
  learner.learn(one.docs, ranking, std::vector<std::uint8_t>(3));
  EXPECT_EQ(learner.state().updates, 0U);
  EXPECT_EQ(testing::parameters_of(learner.ranker()), std::vector<float>(kDocs));
}

// Scores far apart: nothing overflows or becomes NaN.
TEST(PolicyGradient, StaysFiniteForScoresOfAnySize) {
  const OneHot one;
  auto ranker = std::make_unique<LinearRanker>(kDocs);
  ranker->set_parameters(std::vector<float>{1e30F, -1e30F, 5e4F, 0});
  PolicyGradient learner(std::move(ranker), {.learning_rate = 1, .shown = 2});
  Rng rng({.seed = 2});
  Ranking ranking;
  ASSERT_TRUE(learner.rank(one.docs, rng, ranking));
  learner.learn(one.docs, ranking, std::vector<std::uint8_t>{0, 1});
  for (const float value : testing::parameters_of(learner.ranker())) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace plackett
