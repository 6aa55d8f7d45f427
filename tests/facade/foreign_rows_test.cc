// Rankers on rows that are not the engine's own: of any width, any distance apart, at no boundary,
// with nothing readable after the last. Registered once a set of kernels.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "plackett/pdgd.h"
#include "plackett/ranker_spec.h"
#include "plackett/version.h"
#include "support/guarded_floats.h"

namespace plackett {
namespace {

constexpr std::uint32_t kDocs = 9;
constexpr RankerKind kKinds[] = {RankerKind::kLinear, RankerKind::kNeural,
                                 RankerKind::kLinearPlusNeural};

// The same features twice.
struct Rows {
  Rows(std::uint32_t width, std::size_t stride)
      : guarded((kDocs - 1) * stride + width), padded(std::size_t{kDocs} * padded_width(width)) {
    std::fill(guarded.begin(), guarded.end(), std::numeric_limits<float>::quiet_NaN());
    Rng rng({.seed = 3, .run = width, .impression = stride});
    for (std::uint32_t doc = 0; doc < kDocs; ++doc) {
      for (std::uint32_t f = 0; f < width; ++f) {
        const auto value = static_cast<float>(rng.normal());
        guarded.begin()[doc * stride + f] = value;
        padded[std::size_t{doc} * padded_width(width) + f] = value;
      }
    }
    foreign = FeatureView::of(guarded.begin(), kDocs, width, stride);
    own = FeatureView(padded.data(), kDocs, width);
  }

  testing::GuardedFloats guarded;
  AlignedVector<float> padded;
  FeatureView foreign;
  FeatureView own;
};

std::unique_ptr<Ranker> some_ranker(RankerKind kind, std::uint32_t features) {
  Rng rng({.seed = 4, .run = features});
  auto ranker = make_ranker({.kind = kind, .feature_count = features, .hidden = {7, 20}}, rng);
  std::vector<float> parameters(ranker.value()->parameter_count());
  for (float& parameter : parameters) parameter = static_cast<float>(0.5 * rng.normal());
  ranker.value()->set_parameters(parameters);
  return std::move(ranker).value();
}

std::vector<float> parameters_of(const Ranker& ranker) {
  std::vector<float> parameters(ranker.parameter_count());
  ranker.get_parameters(parameters);
  return parameters;
}

::testing::AssertionResult same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "the bits differ with " << simd_target();
}

TEST(ForeignRows, ScoresAndStepsHaveTheBitsOfPaddedRows) {
  for (std::uint32_t width = 1; width <= 40; ++width) {
    for (const std::size_t gap : {0U, 1U, 6U, 17U}) {
      const Rows rows(width, width + gap);
      for (const RankerKind kind : kKinds) {
        SCOPED_TRACE(::testing::Message()
                     << name_of(kind) << ", " << width << " features, stride " << width + gap);
        const auto on_foreign = some_ranker(kind, width);
        const auto on_own = on_foreign->clone();
        std::vector<float> foreign_scores(kDocs);
        std::vector<float> own_scores(kDocs);
        on_foreign->score(rows.foreign, foreign_scores);
        on_own->score(rows.own, own_scores);
        ASSERT_TRUE(same_bits(foreign_scores, own_scores));

        const std::vector<DocWeight> weights = {
            {Doc{8}, 0.7F}, {Doc{0}, -0.2F}, {Doc{3}, -0.6F}, {Doc{5}, 0.1F}};
        on_foreign->step(rows.foreign, weights, 0.3F);
        on_own->step(rows.own, weights, 0.3F);
        ASSERT_TRUE(same_bits(parameters_of(*on_foreign), parameters_of(*on_own)));
      }
    }
  }
}

TEST(ForeignRows, PdgdLearnsTheSameBits) {
  for (const std::uint32_t width : {1U, 5U, 16U, 21U}) {
    const Rows rows(width, width + 2);
    for (const RankerKind kind : kKinds) {
      for (const Steps steps : {Steps::kConstant, Steps::kAdaGrad}) {
        Pdgd on_foreign(some_ranker(kind, width), {.shown = 5, .steps = steps});
        Pdgd on_own(some_ranker(kind, width), {.shown = 5, .steps = steps});
        const auto learn = [](Pdgd& pdgd, const FeatureView& docs) {
          Ranking ranking;
          for (std::uint64_t impression = 0; impression < 50; ++impression) {
            Rng rng({.seed = 5, .impression = impression});
            ASSERT_TRUE(pdgd.rank(docs, rng, ranking));
            std::vector<std::uint8_t> clicks(ranking.shown.size());
            for (auto& click : clicks) click = rng.below(3) == 0 ? 1 : 0;
            pdgd.learn(docs, ranking, clicks);
          }
        };
        learn(on_foreign, rows.foreign);
        learn(on_own, rows.own);
        EXPECT_TRUE(same_bits(parameters_of(on_foreign.ranker()), parameters_of(on_own.ranker())));
      }
    }
  }
}

}  // namespace
}  // namespace plackett
