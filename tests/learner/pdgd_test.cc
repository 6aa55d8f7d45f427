#include "plackett/pdgd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner_samples.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 5;
constexpr std::uint32_t kDocs = 12;

// Algorithm 1 for a linear ranker, written plainly.
void plain_step(std::vector<double>& theta, const FeatureView& docs, const Ranking& ranking,
                std::span<const std::uint8_t> clicks, double rate) {
  PairInference inference;
  std::vector<double> gradient(theta.size());
  for (const WeightedPair& pair : inference.infer(ranking, clicks)) {
    const auto winner = docs.row(ranking.shown[pair.winner_rank]);
    const auto loser = docs.row(ranking.shown[pair.loser_rank]);
    for (std::size_t f = 0; f < theta.size(); ++f) {
      gradient[f] += pair.weight * (double{winner[f]} - double{loser[f]});
    }
  }
  for (std::size_t f = 0; f < theta.size(); ++f) theta[f] += rate * gradient[f];
}

TEST(Pdgd, LinearStepsFollowTheAlgorithm) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  PdgdOptions options;
  options.learning_rate_decay = 0.99;
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures), options);
  std::vector<double> theta(kFeatures);
  double rate = options.learning_rate;
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 300; ++impression) {
    Rng rng({.seed = 10, .impression = impression});
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    ASSERT_EQ(ranking.shown.size(), 10U);
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    for (auto& click : clicks) click = rng.below(3) == 0 ? 1 : 0;
    const auto before = pdgd.state().updates;
    pdgd.learn(docs, ranking, clicks);
    plain_step(theta, docs, ranking, clicks, rate);
    if (pdgd.state().updates > before) rate *= 0.99;
    const auto learned = testing::parameters_of(pdgd.ranker());
    for (std::size_t f = 0; f < theta.size(); ++f) ASSERT_NEAR(learned[f], theta[f], 1e-5);
  }
  EXPECT_NEAR(pdgd.state().learning_rate, rate, 1e-15);
}

TEST(Pdgd, LearnsNothingWhereNothingWasClicked) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures), {.learning_rate_decay = 0.5});
  Rng rng({.seed = 11});
  Ranking ranking;
  ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
  pdgd.learn(docs, ranking, std::vector<std::uint8_t>(ranking.shown.size()));
  EXPECT_EQ(testing::parameters_of(pdgd.ranker()), std::vector<float>(kFeatures));
  EXPECT_EQ(pdgd.state().learning_rate, 0.1);
}

TEST(Pdgd, UsesTheScoresOfDisplayTimeForOldRankings) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures), {});
  Rng rng({.seed = 12});
  Ranking old;
  ASSERT_TRUE(pdgd.rank(docs, rng, old));
  const std::vector<std::uint8_t> clicks = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
  pdgd.ranker().set_parameters(std::vector<float>{3, -2, 5, 1, -4});
  pdgd.learn(docs, old, clicks);
  std::vector<double> theta = {3, -2, 5, 1, -4};
  plain_step(theta, docs, old, clicks, 0.1);
  const auto learned = testing::parameters_of(pdgd.ranker());
  for (std::size_t f = 0; f < theta.size(); ++f) EXPECT_NEAR(learned[f], theta[f], 1e-6);
}

TEST(Pdgd, SaysSoWhereAScoreIsNotFinite) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures), {});
  Rng rng({.seed = 15});
  Ranking ranking;
  pdgd.ranker().set_parameters(std::vector<float>{3e38F, 3e38F, 3e38F, 3e38F, 3e38F});
  EXPECT_FALSE(pdgd.rank(docs, rng, ranking));
  pdgd.ranker().set_parameters(std::vector<float>{NAN, 0, 0, 0, 0});
  EXPECT_FALSE(pdgd.rank(docs, rng, ranking));
  EXPECT_TRUE(ranking.shown.empty());
}

// Impressions first ... last - 1 of one fixed run.
void learn_some(Pdgd& pdgd, const FeatureView& docs, std::uint64_t first, std::uint64_t last) {
  Ranking ranking;
  for (std::uint64_t impression = first; impression < last; ++impression) {
    Rng rng({.seed = 16, .impression = impression});
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    for (auto& click : clicks) click = rng.below(3) == 0 ? 1 : 0;
    pdgd.learn(docs, ranking, clicks);
  }
}

TEST(Pdgd, ResumedFromAModelFileEqualsUninterrupted) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  struct Case {
    RankerKind kind;
    Steps steps;
    double weight_decay = 0;
    double restart = 0;
  };
  for (const auto [kind, steps, weight_decay, restart] :
       {Case{RankerKind::kLinear, Steps::kConstant}, Case{RankerKind::kNeural, Steps::kConstant},
        Case{RankerKind::kNeural, Steps::kAdaGrad},
        Case{RankerKind::kLinearPlusNeural, Steps::kConstant},
        Case{RankerKind::kLinearPlusNeural, Steps::kAdaGrad},
        Case{RankerKind::kLinearPlusNeural, Steps::kForgetting, 0.001, 3},
        Case{RankerKind::kLinear, Steps::kConstant, 0, 3}}) {
    const PdgdOptions options{.learning_rate_decay = 0.999,
                              .steps = steps,
                              .weight_decay = weight_decay,
                              .restart = restart};
    const RankerSpec spec{.kind = kind, .feature_count = kFeatures};
    const auto make = [&] {
      Rng rng({.seed = 17});
      return make_ranker(spec, rng).value();
    };
    Pdgd whole(make(), options);
    learn_some(whole, docs, 0, 400);
    EXPECT_EQ(whole.restarts() > 0, restart > 0);  // so sensitive that chance restarts it

    Pdgd first(make(), options);
    learn_some(first, docs, 0, 150);
    SavedModel model;
    model.ranker = spec;
    model.feature_ids = {1, 2, 3, 4, 5};
    model.scaling = "none";
    model.parameters = testing::parameters_of(first.ranker());
    model.learner = first.state();
    const SavedModel read = parse_model(serialise_model(model), {}).value();
    Pdgd second(restore_ranker(read).value(), options);
    second.restore(read.learner);
    learn_some(second, docs, 150, 400);

    EXPECT_EQ(testing::parameters_of(second.ranker()), testing::parameters_of(whole.ranker()));
    EXPECT_EQ(second.state().learning_rate, whole.state().learning_rate);
    EXPECT_EQ(second.state().updates, whole.state().updates);
    EXPECT_EQ(second.state().memory, whole.state().memory);
  }
}

TEST(Pdgd, WeightDecayShrinksParametersWithEveryListAlsoWithoutClicks) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures), {.weight_decay = 0.01});
  std::vector<double> theta(kFeatures);
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 200; ++impression) {
    Rng rng({.seed = 10, .impression = impression});
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    for (auto& click : clicks) click = impression % 3 == 0 && rng.below(3) == 0 ? 1 : 0;
    pdgd.learn(docs, ranking, clicks);
    plain_step(theta, docs, ranking, clicks, 0.1);
    for (double& one : theta) one *= 0.99;
    const auto learned = testing::parameters_of(pdgd.ranker());
    for (std::size_t f = 0; f < theta.size(); ++f) ASSERT_NEAR(learned[f], theta[f], 1e-5);
  }
}

// The test as its equations have it, in double precision: lists of 0 to 3 clicks, 2 fewer from list
// 400 on.
TEST(Pdgd, RestartsWhenClicksDropAndNotBefore) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Pdgd pdgd(std::make_unique<LinearRanker>(kFeatures),
            {.learning_rate_decay = 0.999, .restart = 20});
  std::vector<double> values;
  double sum = 0;
  Ranking ranking;
  std::uint64_t impression = 0;
  for (; pdgd.restarts() == 0; ++impression) {
    ASSERT_LT(impression, 500U);
    Rng rng({.seed = 21, .impression = impression});
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks(ranking.shown.size());
    const std::uint32_t drawn = rng.below(4);
    const std::uint32_t count = impression < 400 ? drawn : drawn / 3;
    for (std::uint32_t rank = 0; rank < count; ++rank) clicks[2 * rank] = 1;
    const auto before = testing::parameters_of(pdgd.ranker());
    const auto rate = pdgd.state().learning_rate;
    pdgd.learn(docs, ranking, clicks);

    values.push_back(count);
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    double variance = 0;
    for (const double value : values) {
      variance += (value - mean) * (value - mean) / static_cast<double>(values.size());
    }
    if (values.size() > 100) {
      sum = std::max(0.0, sum + (mean - count) / std::sqrt(variance) - 0.1);
    }
    ASSERT_EQ(pdgd.restarts() > 0, sum > 20) << impression << ": " << sum;
    if (pdgd.restarts() == 0) continue;
    std::vector<double> theta(before.begin(), before.end());
    plain_step(theta, docs, ranking, clicks, rate);
    const auto after = testing::parameters_of(pdgd.ranker());
    for (std::size_t f = 0; f < theta.size(); ++f) EXPECT_NEAR(after[f], 0.1 * theta[f], 1e-6);
    EXPECT_EQ(pdgd.state().learning_rate, 0.1);
    for (const float number : pdgd.state().memory) EXPECT_EQ(number, 0);
  }
  EXPECT_GT(impression, 400U);
}

TEST(Pdgd, RaisesAClickedDocumentsScoreForANetworkToo) {
  const auto rows = testing::random_rows(kDocs, kFeatures);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  Rng initialise({.seed = 13});
  auto ranker = make_ranker({.kind = RankerKind::kNeural, .feature_count = kFeatures}, initialise);
  Pdgd pdgd(std::move(ranker).value(), {});
  std::vector<float> before(kDocs);
  pdgd.ranker().score(docs, before);
  Ranking ranking;
  for (std::uint64_t impression = 0; impression < 200; ++impression) {
    Rng rng({.seed = 14, .impression = impression});
    ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks;
    for (const Doc doc : ranking.shown) clicks.push_back(doc == Doc{3} ? 1 : 0);
    pdgd.learn(docs, ranking, clicks);
  }
  std::vector<float> after(kDocs);
  pdgd.ranker().score(docs, after);
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
    if (doc == 3) continue;
    EXPECT_GT(after[3] - after[doc], before[3] - before[doc]);
  }
}

}  // namespace
}  // namespace plackett
