#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

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

}  // namespace
}  // namespace plackett
