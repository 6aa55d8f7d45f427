// Pairs of standard normals in single precision, as Kernels::normals makes them where multiply-add
// is fused (AVX2, AVX-512): the same bits on every such processor and on a GPU. base/kernels.cc has
// the vector form. Compilers must not contract (-ffp-contract=off).
//
// The range of the arguments is what Box-Muller needs: u in [2^-25, 1], angles in [0, 2 pi].
#pragma once

#include <bit>
#include <cstdint>

namespace plackett {

// What they are made of.
namespace normal_parts {

// u = (2 a + 1) / 2^25 and the angle 2 pi b / 2^24, for words whose top 24 bits are a and b.
inline constexpr float kUnit = 0x1p-24F;
inline constexpr float kHalfUnit = 0x1p-25F;
inline constexpr float kAngleUnit = 0x1.921fb6p+2F * 0x1p-24F;

// log x, after FreeBSD's e_logf.c (Sun Microsystems, 1993): x = 2^k y with y in
// [sqrt(1/2), sqrt(2)), z = (y - 1) / (y + 1), and log y from a polynomial in z^2.
inline constexpr std::uint32_t kRootHalf = 0x3f3504f3;  // bits
inline constexpr std::uint32_t kOne = 0x3f800000;
inline constexpr std::uint32_t kMantissa = 0x7fffff;
inline constexpr std::int32_t kBias = 127;
inline constexpr float kLn2High = 0.69313812256F;
inline constexpr float kLn2Low = 9.0580006145e-6F;
inline constexpr float kLog[] = {0.66666662693F, 0.40000972152F, 0.28498786688F, 0.24279078841F};

// sin and cos x, by whole multiples of pi taken off in four parts, after Sleef's xsinf.
inline constexpr float kInversePi = 0.31830988618379067F;
inline constexpr float kMinusPi[] = {-3.140625F, -0.0009670257568359375F,
                                     -6.2771141529083251953e-7F, -1.2154201256553420762e-10F};
inline constexpr float kSine[] = {-1.66666597127914428710938e-1F, 8.33307858556509017944336e-3F,
                                  -1.981069071916863322258e-4F, 2.6083159809786593541503e-6F};

inline float fused(float a, float b, float sum) { return __builtin_fmaf(a, b, sum); }

inline float logarithm(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) + (kOne - kRootHalf);
  const auto k = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - kBias);
  const auto y = std::bit_cast<float>((bits & kMantissa) + kRootHalf);
  const float f = y - 1.0F;
  const float z = f / (y + 1.0F);
  const float z2 = z * z;
  const float z4 = z2 * z2;
  const float rest = fused(fused(kLog[2], z4, kLog[0]), z2, fused(kLog[3], z4, kLog[1]) * z4);
  const float low = fused(z, f - rest, -(k * kLn2Low)) - f;
  return fused(k, kLn2High, -low);
}

// The sine of x + multiple * part * pi, where that is at most pi / 2 in size, with its sign changed
// if `changed` is the top bit.
inline float reduced_sine(float x, std::int32_t multiple, float part, std::uint32_t changed) {
  const auto count = static_cast<float>(multiple);
  // Without a loop the products are constants.
  x = fused(count, part * kMinusPi[0], x);
  x = fused(count, part * kMinusPi[1], x);
  x = fused(count, part * kMinusPi[2], x);
  x = fused(count, part * kMinusPi[3], x);
  x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ changed);
  const float y = x * x;
  const float y2 = y * y;
  const float poly = fused(y2, fused(kSine[3], y, kSine[2]), fused(kSine[1], y, kSine[0]));
  return fused(poly, y * x, x);
}

// Requires: x >= 0, of moderate size.
inline float cosine(float x) {
  const auto multiple = static_cast<std::int32_t>(x * kInversePi) * 2 + 1;  // of pi / 2
  return reduced_sine(x, multiple, 0.5F, (~static_cast<std::uint32_t>(multiple) & 2) << 30);
}
inline float sine(float x) {
  const auto multiple = static_cast<std::int32_t>(fused(x, kInversePi, 0.5F));
  return reduced_sine(x, multiple, 1.0F, static_cast<std::uint32_t>(multiple) << 31);
}

}  // namespace normal_parts

struct NormalPair {
  float cosine = 0;
  float sine = 0;
};

// `root` is the correctly rounded square root.
template <typename Root>
NormalPair portable_normals(std::uint32_t radius_word, std::uint32_t angle_word, const Root& root) {
  using namespace normal_parts;
  const float u = fused(static_cast<float>(radius_word >> 8), kUnit, kHalfUnit);
  const float radius = root(-2.0F * logarithm(u));
  const float angle = static_cast<float>(angle_word >> 8) * kAngleUnit;
  return {radius * cosine(angle), radius * sine(angle)};
}

}  // namespace plackett
