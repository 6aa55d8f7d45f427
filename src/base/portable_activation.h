// The activations of a network's hidden units, and their slopes, one value at a time: the same bits
// on every instruction set that has fused multiply-add and on a GPU. Kernels::activate
// (base/kernels.h) is their vector form. No tables, no library's exp. Compilers must not contract
// (-ffp-contract=off). Errors: tests/base/portable_activation_test.cc.
#pragma once

#include <bit>
#include <cstdint>

#include "plackett/activation.h"

namespace plackett {

// What they are made of; base/kernels.cc has the vector form.
namespace activation_parts {

// exp leaves float's range beyond; the sigmoid is 1, or below any normal float, there.
inline constexpr float kMostPower = 88.0F;
// tanh is 1 from half of it on.
inline constexpr float kMostTwice = 20.0F;

inline constexpr float kInverseLn2 = 0x1.715476p0F;
// -ln 2 in two parts; products of the first with the integers that occur here are exact.
inline constexpr float kLn2High = -0x1.62e4p-1F;
inline constexpr float kLn2Low = -0x1.7f7d1cp-20F;

// x + kRound - kRound is x rounded to an integer; the low bits of x + kRound are that integer's.
inline constexpr float kRound = 0x1.8p23F;
inline constexpr std::uint32_t kOne = 0x3f800000;  // the bits of 1

// exp(r) is 1 + r + r^2 q(r) for |r| <= ln(2) / 2, to 2^-28; q's coefficients from the lowest.
inline constexpr float kQ[] = {0x1.fffffcp-2F, 0x1.55548ep-3F, 0x1.5558fcp-5F, 0x1.123bb2p-7F,
                               0x1.6a2150p-10F};

// tanh(x) is x + x^3 t(x^2) for |x| below kSmall, to 2^-26; t's coefficients from the lowest.
inline constexpr float kSmall = 0.625F;
inline constexpr float kT[] = {-0x1.55553ap-2F, 0x1.1107b0p-3F, -0x1.b83a36p-5F, 0x1.51c59cp-6F,
                               -0x1.733af2p-8F};

// exp(x) + 1. Requires: |x| <= kMostPower.
inline float exp_plus_1(float x) {
  const float shifted = __builtin_fmaf(x, kInverseLn2, kRound);
  const float k = shifted - kRound;
  const float r = __builtin_fmaf(k, kLn2Low, __builtin_fmaf(k, kLn2High, x));
  const float r2 = r * r;
  const float q01 = __builtin_fmaf(kQ[1], r, kQ[0]);
  const float q24 = __builtin_fmaf(kQ[4], r2, __builtin_fmaf(kQ[3], r, kQ[2]));
  const float of_r = 1.0F + __builtin_fmaf(__builtin_fmaf(q24, r2, q01), r2, r);
  // 2^k, or 0 for k = -127.
  const auto power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + kOne);
  return __builtin_fmaf(of_r, power, 1.0F);
}

}  // namespace activation_parts

// 1 / (1 + exp(-x)).
inline float portable_sigmoid(float x) {
  using namespace activation_parts;
  float negated = -x;
  if (!(negated < kMostPower)) negated = kMostPower;
  if (!(negated > -kMostPower)) negated = -kMostPower;
  const float value = 1.0F / exp_plus_1(negated);
  return x == x ? value : x;
}

inline float portable_tanh(float x) {
  using namespace activation_parts;
  const float size = __builtin_fabsf(x);
  float twice = size + size;
  if (!(twice < kMostTwice)) twice = kMostTwice;
  const float large = 1.0F - 2.0F / exp_plus_1(twice);
  const float x2 = size * size;
  const float t01 = __builtin_fmaf(kT[1], x2, kT[0]);
  const float t24 = __builtin_fmaf(kT[4], x2 * x2, __builtin_fmaf(kT[3], x2, kT[2]));
  const float t = __builtin_fmaf(t24, x2 * x2, t01);
  const float small = __builtin_fmaf(size * x2, t, size);
  const float value = __builtin_copysignf(size < kSmall ? small : large, x);
  return x == x ? value : x;
}

inline float portable_activation(Activation activation, float x) {
  if (activation == Activation::kSigmoid) return portable_sigmoid(x);
  if (activation == Activation::kTanh) return portable_tanh(x);
  const float value = x > 0 ? x : 0.0F;
  return x == x ? value : x;
}

// The activation's slope at the place where it has this value.
inline float activation_slope(Activation activation, float value) {
  if (activation == Activation::kSigmoid) return value * (1.0F - value);
  if (activation == Activation::kTanh) return 1.0F - value * value;
  return value > 0 ? 1.0F : 0.0F;
}

}  // namespace plackett
