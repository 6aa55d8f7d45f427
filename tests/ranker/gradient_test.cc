#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/aligned.h"
#include "plackett/ranker_spec.h"

namespace plackett {
namespace {

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

const RankerSpec kSpecs[] = {
    {.kind = RankerKind::kLinear},
    {.kind = RankerKind::kNeural, .hidden = {64}},
    {.kind = RankerKind::kNeural, .hidden = {7}, .initialisation = Initialisation::kPublished},
    {.kind = RankerKind::kNeural, .hidden = {20, 9}},
    {.kind = RankerKind::kNeural, .hidden = {16, 5, 33}, .activation = Activation::kTanh},
    {.kind = RankerKind::kNeural, .hidden = {12, 12}, .activation = Activation::kRelu},
    {.kind = RankerKind::kLinearPlusNeural, .hidden = {64}},
    {.kind = RankerKind::kLinearPlusNeural, .hidden = {9, 18}, .activation = Activation::kTanh},
};

std::unique_ptr<Ranker> make(RankerSpec spec, std::uint32_t features) {
  spec.feature_count = features;
  Rng rng({.seed = 22});
  return make_ranker(spec, rng).value();
}

std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

// sum over w of w.weight * score(w.doc), in double over the float scores.
double weighted_score(Ranker& ranker, const FeatureView& docs, std::span<const DocWeight> weights) {
  std::vector<float> scores(docs.doc_count());
  ranker.score(docs, scores);
  double sum = 0;
  for (const DocWeight& w : weights) sum += double{w.weight} * scores[index(w.doc)];
  return sum;
}

TEST(Rankers, StepsAlongTheGradientThatFiniteDifferencesGive) {
  const Docs docs(9, 13);
  const DocWeight weights[] = {{Doc{1}, 0.8F}, {Doc{4}, -1.1F}, {Doc{8}, 0.5F}, {Doc{0}, -0.2F}};
  for (const RankerSpec& spec : kSpecs) {
    const auto ranker = make(spec, 13);
    // Away from 0, so that a linear ranker is not a special case.
    std::vector<float> start = parameters_of(*ranker);
    Rng rng({.seed = 23});
    for (float& parameter : start) parameter += static_cast<float>(0.3 * rng.normal());
    ranker->set_parameters(start);
    ranker->step(docs.view, weights, 1.0F);
    const std::vector<float> stepped = parameters_of(*ranker);

    ranker->set_parameters(start);
    const double here = weighted_score(*ranker, docs.view, weights);
    std::size_t kinks = 0;
    for (std::size_t at = 0; at < start.size(); ++at) {
      constexpr float kStep = 1e-2F;
      const auto score_at = [&](float offset) {
        std::vector<float> moved = start;
        moved[at] += offset;
        ranker->set_parameters(moved);
        return weighted_score(*ranker, docs.view, weights);
      };
      const double above = (score_at(kStep) - here) / double{kStep};
      const double below = (here - score_at(-kStep)) / double{kStep};
      if (spec.activation == Activation::kRelu && std::abs(above - below) > 2e-3) {
        ++kinks;  // there is no one gradient inside this step
        continue;
      }
      ASSERT_NEAR(double{stepped[at]} - double{start[at]}, (above + below) / 2, 2e-3)
          << name_of(spec.kind) << " parameter " << at;
    }
    EXPECT_LT(kinks, start.size() / 10);
  }
}

TEST(Rankers, PaddingNeverLearns) {
  const Docs docs(9, 13);
  const DocWeight weights[] = {{Doc{1}, 1.0F}, {Doc{2}, 1.0F}};
  for (const RankerSpec& spec : kSpecs) {
    const auto ranker = make(spec, 13);
    for (int i = 0; i < 20; ++i) ranker->step(docs.view, weights, 0.02F);
    // A copy made of the real parameters alone must score alike.
    const auto copy = make(spec, 13);
    copy->set_parameters(parameters_of(*ranker));
    std::vector<float> scores(9);
    std::vector<float> copied(9);
    ranker->score(docs.view, scores);
    copy->score(docs.view, copied);
    EXPECT_EQ(scores, copied);
  }
}

TEST(Rankers, ParametersSurviveTheRoundTrip) {
  for (const RankerSpec& spec : kSpecs) {
    const auto ranker = make(spec, 31);
    std::vector<float> numbered(ranker->parameter_count());
    for (std::size_t at = 0; at < numbered.size(); ++at) numbered[at] = static_cast<float>(at);
    ranker->set_parameters(numbered);
    EXPECT_EQ(parameters_of(*ranker), numbered);
  }
}

TEST(Rankers, ACloneLearnsApart) {
  const Docs docs(9, 13);
  const DocWeight weights[] = {{Doc{1}, 1.0F}};
  for (const RankerSpec& spec : kSpecs) {
    const auto ranker = make(spec, 13);
    const auto before = parameters_of(*ranker);
    const auto clone = ranker->clone();
    clone->step(docs.view, weights, 1.0F);
    EXPECT_EQ(parameters_of(*ranker), before);
    EXPECT_NE(parameters_of(*clone), before);
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

// A user's own scoring function: score = exp(a * x0) + b * x1.
class OwnRanker final : public Ranker {
 public:
  [[nodiscard]] std::unique_ptr<Ranker> clone() const override {
    return std::make_unique<OwnRanker>(*this);
  }
  [[nodiscard]] std::uint32_t feature_count() const override { return 2; }
  void score(const FeatureView& docs, std::span<float> scores) override {
    for (std::uint32_t doc = 0; doc < docs.doc_count(); ++doc) {
      const auto row = docs.row(Doc{doc});
      scores[doc] = std::exp(a_ * row[0]) + b_ * row[1];
    }
  }
  void step(const FeatureView& docs, std::span<const DocWeight> weights, float rate) override {
    float da = 0;
    float db = 0;
    for (const DocWeight& w : weights) {
      const auto row = docs.row(w.doc);
      da += w.weight * row[0] * std::exp(a_ * row[0]);
      db += w.weight * row[1];
    }
    a_ += rate * da;
    b_ += rate * db;
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

TEST(Rankers, AUsersOwnFunctionTakesPart) {
  const Docs docs(4, 2);
  OwnRanker ranker;
  const DocWeight weights[] = {{Doc{2}, 1.0F}, {Doc{0}, -1.0F}};
  const double before = weighted_score(ranker, docs.view, weights);
  ranker.step(docs.view, weights, 0.1F);
  EXPECT_GT(weighted_score(ranker, docs.view, weights), before);
}

}  // namespace
}  // namespace plackett
