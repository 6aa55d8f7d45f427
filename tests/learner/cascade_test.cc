#include "learner/cascade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "learner_samples.h"
#include "plackett/method.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kFeatures = 6;
constexpr std::uint32_t kDocs = 12;
constexpr std::uint32_t kWindow = 20;

std::unique_ptr<Ranker> make(RankerKind kind) {
  Rng rng({.seed = 51});
  return make_ranker({.kind = kind, .feature_count = kFeatures, .hidden = {5}}, rng).value();
}

std::unique_ptr<Cascade> make_cascade(double threshold) {
  std::unique_ptr<LinearPlusNeuralRanker> both(
      dynamic_cast<LinearPlusNeuralRanker*>(make(RankerKind::kLinearPlusNeural).release()));
  return std::make_unique<Cascade>(
      std::move(both),
      CascadeOptions{.pdgd = {.shown = 5}, .window = kWindow, .threshold = threshold});
}

std::vector<float> parameters_of(Learner& learner) {
  std::vector<float> parameters(learner.ranker().parameter_count());
  learner.ranker().get_parameters(parameters);
  return parameters;
}

// Which of the shown documents a user clicks: any, whatever they are, or those with much of the
// first feature.
enum class Taste { kRandom, kFirstFeature };

// Impressions `first` to `last` - 1 of a stream that is the same for every learner.
void run(Learner& learner, Taste taste, std::uint64_t first, std::uint64_t last) {
  Ranking ranking;
  for (std::uint64_t impression = first; impression < last; ++impression) {
    const auto rows = testing::random_rows(kDocs, kFeatures, 100 + impression);
    const FeatureView docs(rows.data(), kDocs, kFeatures);
    Rng rng({.seed = 52, .impression = impression});
    ASSERT_TRUE(learner.rank(docs, rng, ranking));
    std::vector<std::uint8_t> clicks;
    for (const Doc doc : ranking.shown) {
      const bool click = taste == Taste::kRandom ? rng.uniform() < 0.4 : docs.row(doc)[0] > 0.6F;
      clicks.push_back(click ? 1 : 0);
    }
    learner.learn(docs, ranking, clicks);
  }
}

TEST(Cascade, IsLinearPdgdToTheBitUntilItSwitches) {
  const auto cascade = make_cascade(0);  // never
  Pdgd linear(make(RankerKind::kLinear), {.shown = 5});
  const auto start = parameters_of(*cascade);
  run(*cascade, Taste::kRandom, 0, 200);
  run(linear, Taste::kRandom, 0, 200);
  EXPECT_FALSE(cascade->network_on());
  EXPECT_EQ(cascade->state().updates, linear.state().updates);
  const auto parameters = parameters_of(*cascade);
  EXPECT_EQ(std::vector(parameters.begin(), parameters.begin() + kFeatures), parameters_of(linear));
  EXPECT_TRUE(std::equal(parameters.begin() + kFeatures, parameters.end(),
                         start.begin() + kFeatures));  // the network's
}

// Random clicks: a window has stalled with a probability of about a half; of 40, all but surely
// one has.
TEST(Cascade, SwitchesWhenClicksAreNoise) {
  const auto cascade = make_cascade(1);
  const auto start = parameters_of(*cascade);
  run(*cascade, Taste::kRandom, 0, std::uint64_t{40} * kWindow);
  EXPECT_TRUE(cascade->network_on());
  const auto parameters = parameters_of(*cascade);
  EXPECT_FALSE(
      std::equal(parameters.begin() + kFeatures, parameters.end(), start.begin() + kFeatures));
}

TEST(Cascade, DoesNotSwitchWhileUpdatesAgree) {
  const auto cascade = make_cascade(1);
  run(*cascade, Taste::kFirstFeature, 0, std::uint64_t{3} * kWindow);
  EXPECT_GE(cascade->state().updates, 2 * kWindow);
  EXPECT_FALSE(cascade->network_on());
}

// More than any window can reach: stalled after the first window, whatever it holds. From then on
// it is PDGD with AdaGrad's steps.
TEST(Cascade, OnceSwitchedItIsPdgdWithAdaGradSteps) {
  const auto cascade = make_cascade(1000);
  std::uint64_t impression = 0;
  for (; !cascade->network_on(); ++impression) {
    run(*cascade, Taste::kFirstFeature, impression, impression + 1);
  }
  EXPECT_EQ(cascade->state().updates, kWindow);
  Pdgd pdgd(make(RankerKind::kLinearPlusNeural), {.shown = 5, .steps = Steps::kAdaGrad});
  pdgd.ranker().set_parameters(parameters_of(*cascade));
  run(*cascade, Taste::kFirstFeature, impression, impression + 50);
  run(pdgd, Taste::kFirstFeature, impression, impression + 50);
  EXPECT_EQ(parameters_of(*cascade), parameters_of(pdgd));
}

// Saved at every seventh impression: inside windows, before the switch and after it.
TEST(Cascade, GoesOnExactlyAfterSaveAndRestore) {
  constexpr std::uint64_t kImpressions = 210;
  const auto whole = make_cascade(1000);
  run(*whole, Taste::kFirstFeature, 0, kImpressions);
  ASSERT_TRUE(whole->network_on());
  const auto noise = make_cascade(1);
  run(*noise, Taste::kRandom, 0, kImpressions);
  for (std::uint64_t saved = 0; saved < kImpressions; saved += 7) {
    for (const Taste taste : {Taste::kFirstFeature, Taste::kRandom}) {
      const double threshold = taste == Taste::kRandom ? 1 : 1000;
      const auto before = make_cascade(threshold);
      run(*before, taste, 0, saved);
      const auto after = make_cascade(threshold);
      after->ranker().set_parameters(parameters_of(*before));
      after->restore(before->state());
      EXPECT_EQ(after->network_on(), before->network_on());
      run(*after, taste, saved, kImpressions);
      Cascade& uninterrupted = taste == Taste::kRandom ? *noise : *whole;
      EXPECT_EQ(parameters_of(*after), parameters_of(uninterrupted)) << "saved at " << saved;
      EXPECT_EQ(after->state().memory, uninterrupted.state().memory);
    }
  }
}

TEST(Cascade, RefusesOtherRankers) {
  for (const RankerKind kind : {RankerKind::kLinear, RankerKind::kNeural}) {
    const auto made = make_learner("cascade", make(kind), {}, {});
    ASSERT_FALSE(made) << name_of(kind);
    EXPECT_THAT(made.error().message, HasSubstr("cascade needs the ranker linear+neural"));
  }
  EXPECT_TRUE(make_learner("cascade", make(RankerKind::kLinearPlusNeural), {}, {}));
}

}  // namespace
}  // namespace plackett
