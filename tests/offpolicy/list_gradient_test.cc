#include "offpolicy/list_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "plackett/rng.h"

namespace plackett {
namespace {

struct Numbers {
  explicit Numbers(std::uint64_t seed) : rng({.seed = seed}) {
    docs = 2 + rng.below(8);
    for (int rank = 0; rank < 5; ++rank) {
      const bool fixed = rng.below(5) == 0;
      if (!fixed && sampled == docs) break;
      pinned.push_back(fixed ? 1 : 0);
      if (!fixed) ++sampled;
    }
    for (std::uint32_t doc = 0; doc < docs; ++doc) {
      logged.push_back(static_cast<float>(rng.normal()));
      choice.scores.push_back(static_cast<float>(rng.normal()));
      values.push_back(rng.normal());
    }
    for (std::size_t rank = 0; rank < pinned.size(); ++rank) {
      gains.push_back(rng.uniform() < 0.5 ? rng.uniform() : 0.0);
      base.push_back(rng.normal());
      factor.push_back(rng.normal());
      later.push_back(rng.normal());
      rewards.push_back(0);
    }
  }
  [[nodiscard]] LoggedList list() const {
    LoggedList made;
    made.scores = logged;
    made.pinned = pinned;
    made.clicked = pinned;
    made.rewards = rewards;
    return made;
  }
  [[nodiscard]] GainModel model() const { return {base, factor, values, later}; }
  double estimate() const {
    ListValue value;
    const LoggedList made = list();
    value.set(made, choice, gains);
    return value.doubly_robust(model());
  }

  Rng rng;
  std::uint32_t docs = 0;
  std::uint32_t sampled = 0;
  std::vector<std::uint8_t> pinned;
  std::vector<float> logged;
  PolicyChoice choice;
  std::vector<double> values, gains, base, factor, later, rewards;
};

TEST(ListGradient, IsTheDifferenceQuotient) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Numbers numbers(seed);
    const LoggedList list = numbers.list();
    std::vector<DocWeight> weights(numbers.docs);
    ListGradient gradient;
    const double estimate =
        gradient.compute(list, numbers.choice, numbers.gains, numbers.model(), weights);
    EXPECT_EQ(estimate, numbers.estimate());
    for (std::uint32_t doc = 0; doc < numbers.docs; ++doc) {
      ASSERT_EQ(index(weights[doc].doc), doc);
      const float score = numbers.choice.scores[doc];
      constexpr float kStep = 1.0F / 512;  // exact in float
      numbers.choice.scores[doc] = score + kStep;
      const double up = numbers.estimate();
      const double step_up = double{numbers.choice.scores[doc]} - score;
      numbers.choice.scores[doc] = score - kStep;
      const double down = numbers.estimate();
      const double step_down = double{score} - numbers.choice.scores[doc];
      numbers.choice.scores[doc] = score;
      const double quotient = (up - down) / (step_up + step_down);
      EXPECT_NEAR(weights[doc].weight, quotient, 1e-3 * (1 + std::abs(quotient)))
          << "seed " << seed << ", document " << doc;
    }
  }
}

TEST(ListGradient, SumsToZero) {
  // All scores moved by the same leave the policy as it is.
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Numbers numbers(seed);
    const LoggedList list = numbers.list();
    std::vector<DocWeight> weights(numbers.docs);
    ListGradient().compute(list, numbers.choice, numbers.gains, numbers.model(), weights);
    double sum = 0;
    double size = 0;
    for (const DocWeight& weight : weights) {
      sum += weight.weight;
      size += std::abs(weight.weight);
    }
    EXPECT_LE(std::abs(sum), 1e-5 * (1 + size));
  }
}

}  // namespace
}  // namespace plackett
