// exp and log with the same bits on every processor, vector width and GPU: plain multiplications
// and additions in one order, no fused ones, no tables. Compilers must not contract
// (-ffp-contract=off). At most 1 ulp off (tests/base/portable_exp_test.cc).
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace plackett {

// What exp is made of; base/kernels.cc has its vector form.
namespace exp_parts {

// exp is 0 in double from the first on downwards, infinite from the second on upwards.
inline constexpr double kLowest = -746.0;
inline constexpr double kHighest = 710.0;

inline constexpr double kInverseLn2 = 0x1.71547652b82fep0;
// ln 2 in two parts; products of the first with the integers that occur here are exact.
inline constexpr double kLn2High = 0x1.62e42fee00000p-1;
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// x + kRound - kRound is x rounded to an integer.
inline constexpr double kRound = 0x1.8p52;
// The bits of k + kPower, shifted up by 52, are those of 2^k for k in [-1022, 1023].
inline constexpr double kPower = 0x1.8p52 + 1023;

// exp(r) is 1 + r + r^2 q(r) for |r| <= ln(2) / 2, to 2^-61; q's coefficients from the lowest.
inline constexpr double kQ[] = {0x1.0000000000000p-1,  0x1.5555555555557p-3,  0x1.5555555555556p-5,
                                0x1.11111111100dfp-7,  0x1.6c16c16c162d6p-10, 0x1.a01a01abe6323p-13,
                                0x1.a01a01a6d7831p-16, 0x1.71de0237484cdp-19, 0x1.27e4db67ac2b0p-22,
                                0x1.af4ddda1c08cdp-26, 0x1.1f72fc83bcbc7p-29};

constexpr double power_of_2(double k) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(k + kPower) << 52);
}

}  // namespace exp_parts

constexpr double portable_exp(double x) {
  using namespace exp_parts;
  if (!(x > kLowest)) return x != x ? x : 0.0;
  if (x > kHighest) return std::numeric_limits<double>::infinity();
  const double k = (x * kInverseLn2 + kRound) - kRound;
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double r2 = r * r;
  const double r4 = r2 * r2;
  const double q0 = (kQ[0] + kQ[1] * r) + (kQ[2] + kQ[3] * r) * r2;
  const double q4 = (kQ[4] + kQ[5] * r) + (kQ[6] + kQ[7] * r) * r2;
  const double q8 = (kQ[8] + kQ[9] * r) + kQ[10] * r2;
  const double q = (q0 + q4 * r4) + q8 * (r4 * r4);
  // Of r's own rounding only r^2 q suffers.
  const double of_r = 1.0 + (high - (low - r2 * q));
  // In two steps: the first is exact, so that a result below the normal range is rounded once.
  const double k1 = (k * 0.5 + kRound) - kRound;
  return of_r * power_of_2(k1) * power_of_2(k - k1);
}

// After FreeBSD's e_log.c (Sun Microsystems, 1993): x = 2^k (1 + f) with 1 + f near 1, and with
// s = f / (2 + f), log(1 + f) = 2 s + s R(s^2).
constexpr double portable_log(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  constexpr double kR[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                           2.857142874366239149e-01, 2.222219843214978396e-01,
                           1.818357216161805012e-01, 1.531383769920937332e-01,
                           1.479819860511658591e-01};
  if (!(x > 0)) {
    return x == 0 ? -std::numeric_limits<double>::infinity()
                  : std::numeric_limits<double>::quiet_NaN();
  }
  if (x > std::numeric_limits<double>::max()) return x;
  double k = 0;
  if (x < std::numeric_limits<double>::min()) {
    k = -54;
    x *= 0x1p54;
  }
  // 1 + f lies in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e00000000;
  const std::uint64_t above = std::bit_cast<std::uint64_t>(x) - kRootHalf;
  const auto exponent = static_cast<std::int64_t>(above) >> 52;
  k += static_cast<double>(exponent);
  const double f = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) -
                                         (static_cast<std::uint64_t>(exponent) << 52)) -
                   1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double w = z * z;
  const double odd = w * (kR[1] + w * (kR[3] + w * kR[5]));
  const double even = z * (kR[0] + w * (kR[2] + w * (kR[4] + w * kR[6])));
  const double half_square = 0.5 * f * f;
  const double rest = s * (half_square + (odd + even));
  return k * kLn2High - ((half_square - (rest + k * kLn2Low)) - f);
}

}  // namespace plackett
