#include "ranker/linear_plus_neural.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 21;
constexpr std::uint32_t kDocs = 11;
constexpr std::uint32_t kUnits = 24;
constexpr std::uint32_t kHidden[] = {kUnits};

AlignedVector<float> random_rows() {
  AlignedVector<float> rows(std::size_t{kDocs} * padded_width(kFeatures));
  Rng rng({.seed = 31});
  for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
    for (std::uint32_t f = 0; f < kFeatures; ++f) {
      rows[std::size_t{doc} * padded_width(kFeatures) + f] = static_cast<float>(rng.uniform());
    }
  }
  return rows;
}

std::unique_ptr<Ranker> make(Initialisation initialisation = Initialisation::kXavier) {
  Rng rng({.seed = 32});
  return make_ranker({.kind = RankerKind::kLinearPlusNeural,
                      .feature_count = kFeatures,
                      .hidden = {kUnits},
                      .initialisation = initialisation},
                     rng)
      .value();
}

std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

std::vector<float> scores_of(Ranker& ranker, const FeatureView& docs) {
  std::vector<float> scores(docs.doc_count());
  ranker.score(docs, scores);
  return scores;
}

std::vector<float> random_numbers(std::size_t count, std::uint64_t seed) {
  Rng rng({.seed = seed});
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(rng.normal());
  return numbers;
}

TEST(LinearPlusNeural, TakesALinearRankersWeightsOverToTheBit) {
  const auto rows = random_rows();
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  LinearRanker linear(kFeatures);
  linear.set_parameters(random_numbers(kFeatures, 33));
  const auto ranker = make();
  std::vector<float> parameters = parameters_of(*ranker);
  linear.get_parameters(std::span(parameters).first(kFeatures));
  ranker->set_parameters(parameters);
  EXPECT_EQ(scores_of(*ranker, docs), scores_of(linear, docs));
}

TEST(LinearPlusNeural, IsTheSumOfItsPartsAndStepsAsTheyDo) {
  const auto rows = random_rows();
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  const auto ranker = make();
  const auto start = random_numbers(ranker->parameter_count(), 34);
  ranker->set_parameters(start);
  LinearRanker linear(kFeatures);
  linear.set_parameters(std::span(start).first(kFeatures));
  NeuralRanker network(kFeatures, kHidden, Activation::kSigmoid);
  network.set_parameters(std::span(start).subspan(kFeatures));

  const DocWeight weights[] = {{Doc{1}, 0.8F}, {Doc{4}, -1.1F}, {Doc{8}, 0.3F}};
  for (int round = 0; round < 3; ++round) {
    const auto sums = scores_of(*ranker, docs);
    const auto linear_scores = scores_of(linear, docs);
    const auto network_scores = scores_of(network, docs);
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      EXPECT_EQ(sums[doc], linear_scores[doc] + network_scores[doc]);
    }
    ranker->step(docs, weights, 0.1F);
    linear.step(docs, weights, 0.1F);
    network.step(docs, weights, 0.1F);
  }
  std::vector<float> parts = parameters_of(linear);
  const auto network_parameters = parameters_of(network);
  parts.insert(parts.end(), network_parameters.begin(), network_parameters.end());
  EXPECT_EQ(parameters_of(*ranker), parts);
}

TEST(LinearPlusNeural, WithItsNetworkOffItIsItsLinearPart) {
  const auto rows = random_rows();
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  LinearPlusNeuralRanker ranker(kFeatures, kHidden, Activation::kSigmoid);
  const auto start = random_numbers(ranker.parameter_count(), 35);
  ranker.set_parameters(start);
  LinearRanker linear(kFeatures);
  linear.set_parameters(std::span(start).first(kFeatures));
  const DocWeight weights[] = {{Doc{1}, 0.8F}, {Doc{4}, -1.1F}};
  ranker.set_network_on(false);
  ranker.step(docs, weights, 0.1F);
  linear.step(docs, weights, 0.1F);
  EXPECT_EQ(scores_of(ranker, docs), scores_of(linear, docs));
  std::vector<float> expected = start;
  linear.get_parameters(std::span(expected).first(kFeatures));
  EXPECT_EQ(parameters_of(ranker), expected);
  const auto off = scores_of(ranker, docs);
  ranker.set_network_on(true);
  EXPECT_NE(scores_of(ranker, docs), off);
}

TEST(LinearPlusNeural, ItsNetworkLearnsFromTheFirstStepOn) {
  const auto rows = random_rows();
  const FeatureView docs(rows.data(), kDocs, kFeatures);
  const auto ranker = make();
  const DocWeight weights[] = {{Doc{1}, 1.0F}, {Doc{2}, -1.0F}};
  ranker->step(docs, weights, 0.1F);
  const auto parameters = parameters_of(*ranker);
  EXPECT_TRUE(
      std::any_of(parameters.end() - kUnits, parameters.end(), [](float p) { return p != 0; }));
}

TEST(LinearPlusNeural, OnlyItsLinearPartsParametersAreLinear) {
  EXPECT_EQ(make()->linear_count(), kFeatures);
  EXPECT_EQ(LinearRanker(kFeatures).linear_count(), kFeatures);
  EXPECT_EQ(NeuralRanker(kFeatures, kHidden, Activation::kTanh).linear_count(), 0U);
}

TEST(SilentInitialisation, IsTheSameUnderEveryProtocol) {
  EXPECT_EQ(parameters_of(*make(Initialisation::kXavier)),
            parameters_of(*make(Initialisation::kPublished)));
}

TEST(SilentInitialisation, IsXavierButForTheOutput) {
  NeuralRanker xavier(kFeatures, kHidden, Activation::kSigmoid);
  Rng rng({.seed = 32});
  xavier.initialise(Initialisation::kXavier, rng);
  std::vector<float> expected(kFeatures);  // the linear part
  const auto network = parameters_of(xavier);
  expected.insert(expected.end(), network.begin(), network.end());
  std::fill(expected.end() - kUnits, expected.end(), 0.0F);
  EXPECT_EQ(parameters_of(*make()), expected);
}

}  // namespace
}  // namespace plackett
