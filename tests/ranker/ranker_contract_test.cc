// What every ranker must do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "plackett/ranker_spec.h"
#include "ranker/linear_plus_neural.h"

namespace plackett {
namespace {

constexpr std::uint32_t kFeatures = 13;

struct Docs {
  explicit Docs(std::uint32_t docs, std::uint32_t features)
      : rows(std::size_t{docs} * padded_width(features)), view(rows.data(), docs, features) {
    Rng rng({.seed = 21, .run = features});
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      for (std::uint32_t f = 0; f < features; ++f) {
        rows[std::size_t{doc} * padded_width(features) + f] = static_cast<float>(rng.uniform());
      }
    }
  }
  AlignedVector<float> rows;
  FeatureView view;
};

// A user's own scoring function: score = exp(a * x0) + b * x1, with the inherited
// step.
class OwnRanker final : public Ranker {
 public:
  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<OwnRanker>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return kFeatures; }
  void score(const FeatureView& docs, std::span<float> scores) override {
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const auto row = docs.row(Doc{doc});
      scores[doc] = std::exp(a_ * row[0]) + b_ * row[1];
    }
  }
  void gradient(const FeatureView& docs, std::span<const DocWeight> weights,
                std::span<float> out) override {
    out[0] = out[1] = 0;
    for (const DocWeight& w : weights) {
      const auto row = docs.row(w.doc);
      out[0] += w.weight * row[0] * std::exp(a_ * row[0]);
      out[1] += w.weight * row[1];
    }
  }
  [[nodiscard]] std::size_t parameter_count() const override { return 2; }
  void get_parameters(std::span<float> out) const override {
    out[0] = a_;
    out[1] = b_;
  }
  void set_parameters(std::span<const float> parameters) override {
    a_ = parameters[0];
    b_ = parameters[1];
  }

 private:
  float a_ = 0.1F;
  float b_ = -0.1F;
};

std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

std::unique_ptr<Ranker> make(RankerSpec spec, std::uint32_t features) {
  spec.feature_count = features;
  Rng rng({.seed = 22});
  return make_ranker(spec, rng).value();
}

struct Named {
  std::string name;
  std::unique_ptr<Ranker> ranker;
  bool has_kinks = false;  // no gradient at some places
};

// Every ranker, of kFeatures features. Parameters away from 0, so that none is a special case.
std::vector<Named> all_rankers() {
  std::vector<Named> rankers;
  const auto add = [&rankers](std::string name, RankerSpec spec) {
    rankers.push_back(
        {std::move(name), make(spec, kFeatures), spec.activation == Activation::kRelu});
  };
  using enum RankerKind;
  add("linear", {.kind = kLinear});
  add("neural", {.kind = kNeural, .hidden = {64}});
  add("neural 7", {.kind = kNeural, .hidden = {7}, .initialisation = Initialisation::kPublished});
  add("neural 20, 9", {.kind = kNeural, .hidden = {20, 9}});
  add("tanh", {.kind = kNeural, .hidden = {16, 5, 33}, .activation = Activation::kTanh});
  add("relu", {.kind = kNeural, .hidden = {12, 12}, .activation = Activation::kRelu});
  add("linear+neural", {.kind = kLinearPlusNeural, .hidden = {64}});
  add("linear+neural 9, 18",
      {.kind = kLinearPlusNeural, .hidden = {9, 18}, .activation = Activation::kTanh});
  const std::uint32_t units[] = {11};
  auto off = std::make_unique<LinearPlusNeuralRanker>(kFeatures, units, Activation::kSigmoid);
  off->set_network_on(false);
  rankers.push_back({"network off", std::move(off)});
  rankers.push_back({"a user's own", std::make_unique<OwnRanker>()});
  for (Named& named : rankers) {
    std::vector<float> start = parameters_of(*named.ranker);
    Rng rng({.seed = 23});
    for (float& parameter : start) parameter += static_cast<float>(0.3 * rng.normal());
    named.ranker->set_parameters(start);
  }
  return rankers;
}

constexpr std::uint32_t kDocs = 9;
const DocWeight kWeights[] = {{Doc{1}, 0.8F}, {Doc{4}, -1.1F}, {Doc{8}, 0.5F}, {Doc{0}, -0.2F}};

std::vector<float> scores_of(Ranker& ranker, const FeatureView& docs) {
  std::vector<float> scores(docs.doc_count());
  ranker.score(docs, scores);
  return scores;
}

// NaN at first: gradient() must write every number, not add to it.
std::vector<float> gradient_of(Ranker& ranker, const FeatureView& docs,
                               std::span<const DocWeight> weights) {
  std::vector<float> gradient(ranker.parameter_count(), std::numeric_limits<float>::quiet_NaN());
  ranker.gradient(docs, weights, gradient);
  return gradient;
}

// sum over w of w.weight * score(w.doc), in double over the float scores.
double weighted_score(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights) {
  const std::vector<float> scores = scores_of(ranker, docs);
  double sum = 0;
  for (const DocWeight& w : weights) sum += double{w.weight} * scores[index(w.doc)];
  return sum;
}

TEST(RankerContract, TheGradientIsThatOfFiniteDifferences) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const std::vector<float> start = parameters_of(*ranker);
    const std::vector<float> gradient = gradient_of(*ranker, docs.view, kWeights);
    const double here = weighted_score(*ranker, docs.view, kWeights);
    std::size_t kinks = 0;
    for (std::size_t at = 0; at < start.size(); ++at) {
      constexpr float kStep = 1e-2F;
      const auto score_at = [&, &ranker = ranker](float offset) {
        std::vector<float> moved = start;
        moved[at] += offset;
        ranker->set_parameters(moved);
        return weighted_score(*ranker, docs.view, kWeights);
      };
      const double above = (score_at(kStep) - here) / double{kStep};
      const double below = (here - score_at(-kStep)) / double{kStep};
      if (has_kinks && std::abs(above - below) > 2e-3) {
        ++kinks;  // the gradient changes inside this step
        continue;
      }
      ASSERT_NEAR(gradient[at], (above + below) / 2, 2e-3) << name << " parameter " << at;
    }
    EXPECT_LT(kinks, start.size() / 10 + 1) << name;
  }
}

TEST(RankerContract, TheGradientLeavesParametersAndScoresAsTheyAre) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const auto parameters = parameters_of(*ranker);
    const auto scores = scores_of(*ranker, docs.view);
    const auto gradient = gradient_of(*ranker, docs.view, kWeights);
    EXPECT_EQ(parameters_of(*ranker), parameters) << name;
    EXPECT_EQ(scores_of(*ranker, docs.view), scores) << name;
    EXPECT_EQ(gradient_of(*ranker, docs.view, kWeights), gradient) << name;
  }
}

TEST(RankerContract, DividesEveryScoreOrSaysThatItCanNot) {
  const Docs docs(kDocs, kFeatures);
  for (const double divisor : {0.3, 1.0, 7.0}) {
    for (const auto& [name, ranker, has_kinks] : all_rankers()) {
      const auto before = parameters_of(*ranker);
      const auto scores = scores_of(*ranker, docs.view);
      const bool divided = ranker->divide_scores(divisor);
      EXPECT_EQ(divided, name != "a user's own") << name;
      EXPECT_EQ(parameters_of(*ranker) == before, !divided || divisor == 1) << name;
      const auto after = scores_of(*ranker, docs.view);
      for (std::size_t doc = 0; doc < kDocs; ++doc) {
        const double expected = scores[doc] / (divided ? divisor : 1.0);
        ASSERT_NEAR(after[doc], expected, 1e-5 * (1 + std::abs(expected)))
            << name << " " << divisor;
      }
    }
  }
}

TEST(RankerContract, ANetworkThatIsOffIsDividedToo) {
  const Docs docs(kDocs, kFeatures);
  const std::uint32_t units[] = {11};
  LinearPlusNeuralRanker ranker(kFeatures, units, Activation::kSigmoid);
  std::vector<float> parameters(ranker.parameter_count());
  Rng rng({.seed = 24});
  for (float& parameter : parameters) parameter = static_cast<float>(rng.normal());
  ranker.set_parameters(parameters);
  const auto scores = scores_of(ranker, docs.view);
  ranker.set_network_on(false);
  ASSERT_TRUE(ranker.divide_scores(4));
  ranker.set_network_on(true);
  const auto after = scores_of(ranker, docs.view);
  for (std::size_t doc = 0; doc < kDocs; ++doc) EXPECT_EQ(after[doc], scores[doc] / 4);
}

TEST(RankerContract, NoWeightsGiveAGradientOfZero) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    EXPECT_THAT(gradient_of(*ranker, docs.view, {}), ::testing::Each(0.0F)) << name;
  }
}

TEST(RankerContract, AStepAddsRateTimesTheGradient) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const auto before = parameters_of(*ranker);
    const auto gradient = gradient_of(*ranker, docs.view, kWeights);
    ranker->step(docs.view, kWeights, 0.3F);
    const auto after = parameters_of(*ranker);
    for (std::size_t at = 0; at < after.size(); ++at) {
      ASSERT_NEAR(after[at], before[at] + 0.3F * gradient[at], 1e-6F) << name << " " << at;
    }
  }
}

TEST(RankerContract, TheFirstLinearCountOfTheGradientDependOnNoParameter) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const std::size_t linear = ranker->linear_count();
    const auto gradient = gradient_of(*ranker, docs.view, kWeights);
    ranker->set_parameters(std::vector<float>(ranker->parameter_count(), 0.1F));
    const auto elsewhere = gradient_of(*ranker, docs.view, kWeights);
    for (std::size_t at = 0; at < linear; ++at) ASSERT_EQ(elsewhere[at], gradient[at]) << name;
  }
}

TEST(RankerContract, PaddingNeverLearns) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const auto copy = ranker->clone();
    for (int i = 0; i < 20; ++i) ranker->step(docs.view, kWeights, 0.02F);
    copy->set_parameters(parameters_of(*ranker));
    EXPECT_EQ(scores_of(*ranker, docs.view), scores_of(*copy, docs.view)) << name;
  }
}

TEST(RankerContract, ParametersSurviveTheRoundTrip) {
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    std::vector<float> numbered(ranker->parameter_count());
    for (std::size_t at = 0; at < numbered.size(); ++at) numbered[at] = static_cast<float>(at);
    ranker->set_parameters(numbered);
    EXPECT_EQ(parameters_of(*ranker), numbered) << name;
  }
}

TEST(RankerContract, ACloneLearnsApart) {
  const Docs docs(kDocs, kFeatures);
  for (const auto& [name, ranker, has_kinks] : all_rankers()) {
    const auto before = parameters_of(*ranker);
    const auto clone = ranker->clone();
    EXPECT_EQ(parameters_of(*clone), before) << name;
    clone->step(docs.view, kWeights, 1.0F);
    EXPECT_EQ(parameters_of(*ranker), before) << name;
    EXPECT_NE(parameters_of(*clone), before) << name;
  }
}

TEST(Initialisation, PublishedHasStandardDeviationOneOverFanIn) {
  RankerSpec spec{.kind = RankerKind::kNeural, .initialisation = Initialisation::kPublished};
  const auto ranker = make(spec, 40);
  const auto parameters = parameters_of(*ranker);
  ASSERT_EQ(parameters.size(), 40U * 64 + 64 + 64);
  double squares = 0;
  for (std::size_t at = 0; at < 41U * 64; ++at) squares += double{parameters[at]} * parameters[at];
  const double deviation = std::sqrt(squares / (41.0 * 64));
  EXPECT_NEAR(deviation * 40, 1.0, 5 / std::sqrt(2.0 * 41 * 64));  // five standard errors
}

TEST(Initialisation, XavierStaysWithinItsBoundAndLeavesBiasesAtZero) {
  const auto ranker = make({.kind = RankerKind::kNeural}, 40);
  const auto parameters = parameters_of(*ranker);
  const float bound = std::sqrt(6.0F / (40 + 64));
  float largest = 0;
  for (std::size_t at = 0; at < 40U * 64; ++at) {
    largest = std::max(largest, std::abs(parameters[at]));
  }
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.95F * bound);
  for (std::size_t at = 40U * 64; at < 41U * 64; ++at) EXPECT_EQ(parameters[at], 0.0F);
}

TEST(RankerSpec, RefusesLayersThatCannotBe) {
  Rng rng({.seed = 1});
  EXPECT_FALSE(make_ranker({.kind = RankerKind::kLinear, .feature_count = 0}, rng).ok());
  EXPECT_FALSE(
      make_ranker({.kind = RankerKind::kNeural, .feature_count = 3, .hidden = {}}, rng).ok());
  EXPECT_EQ(make_ranker({.kind = RankerKind::kNeural, .feature_count = 3, .hidden = {0}}, rng)
                .error()
                .message,
            "hidden layer of 0 units; a layer has 1 to 65536");
  EXPECT_EQ(parse_ranker_kind("forest").error().message,
            "unknown ranker \"forest\"; known: linear, neural, linear+neural");
}

}  // namespace
}  // namespace plackett
