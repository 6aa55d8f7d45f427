#include "base/portable_normals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/aligned.h"
#include "base/kernels.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

float root(float x) { return std::sqrt(x); }

// Not at all words: at 2^24 it would take seconds.
constexpr std::uint32_t kStep = 37;

TEST(PortableNormals, LogarithmIsAccurate) {
  double worst = 0;
  for (std::uint32_t top = 0; top < 1U << 24; top += kStep) {
    const double u = (top + 0.5) / 0x1p24;
    const double truth = std::log(static_cast<double>(static_cast<float>(u)));
    worst = std::max(worst, std::abs(normal_parts::logarithm(static_cast<float>(u)) - truth) /
                                std::max(1e-7, std::abs(truth)));
  }
  EXPECT_LT(worst, 2e-7);
}

TEST(PortableNormals, SineAndCosineAreAccurate) {
  double worst = 0;
  for (std::uint32_t top = 0; top < 1U << 24; top += kStep) {
    const float angle = static_cast<float>(top) * normal_parts::kAngleUnit;
    worst = std::max(worst, std::abs(normal_parts::sine(angle) - std::sin(double{angle})));
    worst = std::max(worst, std::abs(normal_parts::cosine(angle) - std::cos(double{angle})));
  }
  EXPECT_LT(worst, 1.5e-7);
}

// How many of many normals of a kernel are not those of portable_normals.
int differing(const Kernels& kernels) {
  constexpr std::uint32_t kGroups = 1 << 15;
  const std::uint32_t counter[] = {1'000'000'007, 5, 2, 2};
  const std::uint32_t key[] = {1, 2};
  AlignedVector<float> normals(std::size_t{kGroups} * Rng::kNormalGroup);
  kernels.normals(counter, key, kGroups, normals.data());
  int count = 0;
  for (std::uint32_t block = 0; block < kGroups * 16; ++block) {
    const auto words = philox({counter[0] + block, 5, 2, 2}, {1, 2});
    const float* group = &normals[std::size_t{block} / 16 * 64 + block % 16];
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const NormalPair wanted = portable_normals(words[2 * pair], words[2 * pair + 1], root);
      if (group[32 * pair] != wanted.cosine) ++count;
      if (group[32 * pair + 16] != wanted.sine) ++count;
    }
  }
  return count;
}

TEST(PortableNormals, AreTheBitsOfKernelsThatFuse) {
  int fusing = 0;
  for (const Kernels* kernels : all_kernels()) {
    if (kernels->name != "avx2" && kernels->name != "avx512") continue;
    EXPECT_EQ(differing(*kernels), 0) << kernels->name;
    ++fusing;
  }
  if (fusing == 0) GTEST_SKIP() << "no kernels that fuse on this machine";
}

TEST(PortableNormals, CheckOfBitsRejectsKernelsThatDoNotFuse) {
  EXPECT_GT(differing(*all_kernels().front()), 1000);
}

}  // namespace
}  // namespace plackett
