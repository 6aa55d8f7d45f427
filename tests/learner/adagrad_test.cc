#include "learner/adagrad.h"

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

// The steps again in double precision, each gradient from a plain step of rate 1.
TEST(AdaGrad, StepsByTheRootOfTheSummedSquaresAndPlainlyInTheLinearPart) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  constexpr float kRate = 0.05F;
  for (const RankerKind kind : {RankerKind::kNeural, RankerKind::kLinearPlusNeural}) {
    const auto ranker = make(kind);
    AdaGrad adagrad(*ranker);
    std::vector<float> sums(adagrad.sum_count());
    ASSERT_EQ(sums.size() + ranker->linear_count(), ranker->parameter_count());
    std::vector<double> plain_sums(sums.size());
    for (const auto& weights : {std::span(kFirst), std::span(kSecond), std::span(kFirst)}) {
      const auto before = testing::parameters_of(*ranker);
      const auto twin = ranker->clone();
      twin->step(docs, weights, 1.0F);
      const auto moved = testing::parameters_of(*twin);
      adagrad.step(*ranker, docs, weights, kRate, sums);
      const auto after = testing::parameters_of(*ranker);
      const std::size_t linear = ranker->linear_count();
      for (std::size_t at = 0; at < after.size(); ++at) {
        const double gradient = double{moved[at]} - before[at];
        double step = kRate * gradient;
        if (at >= linear) {
          plain_sums[at - linear] += gradient * gradient;
          step /= std::sqrt(plain_sums[at - linear]) + 1e-6;
        }
        // A rounding of the parameter counts most where the gradient is small.
        const double tolerance = 1e-6 + 5e-6 * kRate / (std::abs(gradient) + 1e-4);
        EXPECT_NEAR(double{after[at]} - before[at], step, tolerance)
            << name_of(kind) << " parameter " << at;
      }
    }
  }
}

TEST(AdaGrad, LeavesALinearRankersStepsAsTheyAre) {
  const auto rows = testing::random_rows(kDocs, kFeatures, 41);
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  LinearRanker ranker(kFeatures);
  LinearRanker plain(kFeatures);
  AdaGrad adagrad(ranker);
  EXPECT_EQ(adagrad.sum_count(), 0U);
  for (int round = 0; round < 3; ++round) {
    adagrad.step(ranker, docs, kFirst, 0.1F, {});
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
  AdaGrad adagrad(*ranker);
  std::vector<float> sums(adagrad.sum_count());
  adagrad.step(*ranker, docs, kFirst, 0.1F, sums);
  const auto after = testing::parameters_of(*ranker);
  for (std::size_t at = 2 * 5; at < 3 * 5; ++at) {  // the third feature's weights
    EXPECT_EQ(after[at], before[at]);
    EXPECT_EQ(sums[at], 0);
  }
  EXPECT_NE(after[0], before[0]);
}

}  // namespace
}  // namespace plackett
