#include "learner/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learner_samples.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 6;
constexpr std::uint32_t kDocs = 8;

std::unique_ptr<Ranker> make(RankerKind kind) {
  Rng rng({.seed = 42});
  auto ranker = make_ranker({.kind = kind, .feature_count = kFeatures, .hidden = {5}}, rng).value();
  std::vector<float> start(ranker->parameter_count());
  for (float& parameter : start) parameter = static_cast<float>(rng.normal());
  ranker->set_parameters(start);
  return ranker;
}

const DocWeight kFirst[] = {{Doc{0}, 1.0F}, {Doc{3}, -0.7F}};
const DocWeight kSecond[] = {{Doc{5}, 0.4F}, {Doc{3}, -0.4F}};

TEST(ConstantSteps, AreTheRankersOwnAndKeepNoMemory) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  for (const RankerKind kind :
       {RankerKind::kLinear, RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    const auto ranker = make(kind);
    const auto twin = ranker->clone();
    const auto constant = make_optimiser(Steps::kConstant, *ranker);
    ASSERT_EQ(constant->memory_size(), 0U);
    constant->step(*ranker, docs, kFirst, 0.1F, {});
    twin->step(docs, kFirst, 0.1F);
    EXPECT_EQ(testing::parameters_of(*ranker), testing::parameters_of(*twin));
  }
}

// The same steps in double precision, from the ranker's gradient.
TEST(AdaGrad, StepsByTheRootOfTheSummedSquaresAndPlainlyInTheLinearPart) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  constexpr float kRate = 0.05F;
  for (const RankerKind kind : {RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    const auto ranker = make(kind);
    const auto adagrad = make_optimiser(Steps::kAdaGrad, *ranker);
    std::vector<float> sums(adagrad->memory_size());
    ASSERT_EQ(sums.size() + ranker->linear_count(), ranker->parameter_count());
    std::vector<double> plain_sums(sums.size());
    std::vector<float> gradient(ranker->parameter_count());
    for (const auto& weights : {std::span(kFirst), std::span(kSecond), std::span(kFirst)}) {
      const auto before = testing::parameters_of(*ranker);
      ranker->gradient(docs, weights, gradient);
      adagrad->step(*ranker, docs, weights, kRate, sums);
      const auto after = testing::parameters_of(*ranker);
      const std::size_t linear = ranker->linear_count();
      for (std::size_t at = 0; at < after.size(); ++at) {
        double step = double{kRate} * gradient[at];
        if (at >= linear) {
          plain_sums[at - linear] += double{gradient[at]} * gradient[at];
          step /= std::sqrt(plain_sums[at - linear]) + 1e-6;
        }
        EXPECT_NEAR(double{after[at]} - before[at], step, 1e-6)
            << name_of(kind) << " parameter " << at;
      }
    }
  }
}

// The same steps in double precision; with a memory of 4 updates sums keep 3 quarters.
TEST(Forgetting, StepsByTheRootOfSumsThatShrink) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  constexpr float kRate = 0.05F;
  const auto ranker = make(RankerKind::kLinearPlusNeural);
  const auto forgetting = make_optimiser(Steps::kForgetting, *ranker, 4);
  std::vector<float> sums(forgetting->memory_size());
  std::vector<double> plain_sums(sums.size());
  std::vector<float> gradient(ranker->parameter_count());
  for (const auto& weights : {std::span(kFirst), std::span(kSecond), std::span(kFirst)}) {
    const auto before = testing::parameters_of(*ranker);
    ranker->gradient(docs, weights, gradient);
    forgetting->step(*ranker, docs, weights, kRate, sums);
    const auto after = testing::parameters_of(*ranker);
    const std::size_t linear = ranker->linear_count();
    for (std::size_t at = 0; at < after.size(); ++at) {
      double step = double{kRate} * gradient[at];
      if (at >= linear) {
        double& sum = plain_sums[at - linear];
        sum = 0.75 * sum + double{gradient[at]} * gradient[at];
        step /= std::sqrt(sum) + 1e-6;
      }
      EXPECT_NEAR(double{after[at]} - before[at], step, 1e-6) << "parameter " << at;
    }
  }
}

TEST(AdaGrad, LeavesALinearRankersStepsAsTheyAre) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  LinearRanker ranker(kFeatures);
  LinearRanker plain(kFeatures);
  const auto adagrad = make_optimiser(Steps::kAdaGrad, ranker);
  EXPECT_EQ(adagrad->memory_size(), 0U);
  for (int round = 0; round < 3; ++round) {
    adagrad->step(ranker, docs, kFirst, 0.1F, {});
    plain.step(docs, kFirst, 0.1F);
  }
  EXPECT_EQ(testing::parameters_of(ranker), testing::parameters_of(plain));
}

TEST(AdaGrad, AParameterWithoutGradientStays) {
  AlignedVector<float> rows = testing::random_rows(kDocs, kFeatures, 41);
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) rows[doc * padded_width(kFeatures) + 2] = 0;
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  const auto ranker = make(RankerKind::kNeural);
  const auto before = testing::parameters_of(*ranker);
  const auto adagrad = make_optimiser(Steps::kAdaGrad, *ranker);
  std::vector<float> sums(adagrad->memory_size());
  adagrad->step(*ranker, docs, kFirst, 0.1F, sums);
  const auto after = testing::parameters_of(*ranker);
  for (std::size_t at = 2 * 5; at < 3 * 5; ++at) {  // the third feature's weights
    EXPECT_EQ(after[at], before[at]);
    EXPECT_EQ(sums[at], 0);
  }
  EXPECT_NE(after[0], before[0]);
}

TEST(AdaGrad, FilledSquaresAreThoseAfterThatManyUpdates) {
  const std::vector<float> mean_squares = {9, 9, 0.5F, 0, 2};
  std::vector<float> squares(3, -1);
  fill_squares(mean_squares, 4000, squares);
  EXPECT_EQ(squares, (std::vector<float>{2000, 0, 8000}));
}

}  // namespace
}  // namespace plackett
