#include "plackett/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "base/aligned.h"
#include "support/chi_square.h"

namespace plackett {
namespace {

using Block = std::array<std::uint32_t, 4>;

// The known answers that come with the Random123 library.
TEST(Philox, GivesTheReferenceVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, StreamIsPhiloxOverTheDocumentedCounter) {
  Rng rng({.seed = 0x1122334455667788,
           .run = 7,
           .impression = 0x00aabbccddeeff00,
           .purpose = Purpose::kClicks});
  const Block first = philox({0, 0xddeeff00, 7, 0xaabbcc03}, {0x55667788, 0x11223344});
  const Block second = philox({1, 0xddeeff00, 7, 0xaabbcc03}, {0x55667788, 0x11223344});
  for (const std::uint32_t expected : first) EXPECT_EQ(rng.next_u32(), expected);
  for (const std::uint32_t expected : second) EXPECT_EQ(rng.next_u32(), expected);
}

TEST(Rng, EveryPartOfTheNameMakesAnotherStream) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed : {1, 2}) {
    for (std::uint32_t run : {0U, 1U}) {
      for (std::uint64_t impression :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
        for (Purpose purpose : {Purpose::kQuery, Purpose::kClicks}) {
          firsts.insert(Rng({seed, run, impression, purpose}).next_u64());
        }
      }
    }
  }
  EXPECT_EQ(firsts.size(), 24U);
}

TEST(Rng, UniformStaysBelowOne) {
  Rng rng({.seed = 3});
  for (int draw = 0; draw < 100'000; ++draw) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
  }
}

// Whether draws from 0 to 6 could be uniform: a p-value.
double uniformity_p(std::uint32_t (*draw)(Rng&)) {
  std::vector<std::uint64_t> counts(7);
  Rng rng({.seed = 11});
  for (int i = 0; i < 200'000; ++i) ++counts[draw(rng)];
  return testing::chi_square_p(counts, std::vector<double>(7, 1.0 / 7));
}

TEST(Rng, BelowIsUniform) {
  EXPECT_GT(uniformity_p([](Rng& rng) { return rng.below(7); }), testing::kFalseAlarmRate);
}

TEST(Rng, UniformityCheckRejectsAModuloOfThreeBits) {
  EXPECT_LT(uniformity_p([](Rng& rng) { return rng.next_u32() % 8 % 7; }),
            testing::kFalseAlarmRate);
}

TEST(Rng, NormalHasTheRightMoments) {
  constexpr int kDraws = 200'000;
  Rng rng({.seed = 5});
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  // Five standard errors each.
  EXPECT_NEAR(sum / kDraws, 0.0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourths / kDraws, 3.0, 5 * std::sqrt(96.0 / kDraws));
}

// Box-Muller over the documented words, in double.
TEST(Rng, FilledNormalsFollowTheirSpecification) {
  const Rng::Stream stream{.seed = 77, .run = 3, .impression = 9};
  Rng rng(stream);
  (void)rng.next_u32();  // the rest of a begun block is left out
  AlignedVector<float> normals(2 * Rng::kNormalGroup);
  rng.fill_normals(normals.data(), normals.size());
  for (std::uint32_t block = 0; block < 32; ++block) {
    const Block words = philox({block + 1, 9, 3, 255}, {77, 0});
    const std::size_t at = block / 16 * 64 + block % 16;
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const double u = ((words[2 * pair] >> 8) + 0.5) / 0x1p24;
      const double v = (words[2 * pair + 1] >> 8) / 0x1p24;
      const double radius = std::sqrt(-2 * std::log(u));
      EXPECT_NEAR(normals[at + 32 * pair], radius * std::cos(2 * std::numbers::pi * v), 2e-5);
      EXPECT_NEAR(normals[at + 32 * pair + 16], radius * std::sin(2 * std::numbers::pi * v), 2e-5);
    }
  }
  EXPECT_EQ(rng.next_u32(), philox({33, 9, 3, 255}, {77, 0})[0]);
}

// Whether draws could be standard normal, `shift` added: a p-value over 40 equal parts.
double normality_p(float shift) {
  constexpr std::size_t kParts = 40;
  std::vector<std::uint64_t> counts(kParts);
  AlignedVector<float> normals(Rng::kNormalGroup * 5000);
  Rng rng({.seed = 6});
  rng.fill_normals(normals.data(), normals.size());
  for (const float normal : normals) {
    const double below = 0.5 * std::erfc(-(double{normal} + shift) / std::numbers::sqrt2);
    ++counts[std::min(kParts - 1, static_cast<std::size_t>(below * kParts))];
  }
  return testing::chi_square_p(counts, std::vector<double>(kParts, 1.0 / kParts));
}

TEST(Rng, FilledNormalsAreNormal) { EXPECT_GT(normality_p(0), testing::kFalseAlarmRate); }

TEST(Rng, NormalityCheckRejectsASmallShift) {
  EXPECT_LT(normality_p(0.02F), testing::kFalseAlarmRate);
}

}  // namespace
}  // namespace plackett
