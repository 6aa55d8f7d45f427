// Standard normals that are nearly those of Rng::normal. The engine's come from the C library's log
// and cos, whose last bits a device can't have: they differ between machines. Where one decides
// something, it does so by a comparison, and a device knows when the difference could turn it.
#pragma once

#include "base/portable_exp.h"
#include "gpu/stream.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// cos(2 pi v) for v in [0, 1), to 1e-15.
[[gnu::always_inline]] inline double cosine_of_turns(double v) {
  // The nearest quarter turn taken off, exactly.
  const auto quarter = static_cast<std::uint32_t>(v * 4 + 0.5);
  const double x = (v - quarter * 0.25) * 6.283185307179586476925;
  const double x2 = x * x;
  constexpr double kCosine[] = {1.0,
                                -1.0 / 2,
                                1.0 / 24,
                                -1.0 / 720,
                                1.0 / 40320,
                                -1.0 / 3628800,
                                1.0 / 479001600,
                                -1.0 / 87178291200,
                                1.0 / 20922789888000};
  constexpr double kSine[] = {
      1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
      1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  double cosine = 0;
  for (unsigned at = 9; at-- > 0;) cosine = cosine * x2 + kCosine[at];
  double sine = 0;
  for (unsigned at = 8; at-- > 0;) sine = sine * x2 + kSine[at];
  sine *= x;
  // cos(x + quarter pi / 2).
  const double size = quarter % 2 == 0 ? cosine : sine;
  return quarter % 4 == 1 || quarter % 4 == 2 ? -size : size;
}

// Within kNormalError of Rng::normal, and draws what it draws.
[[gnu::always_inline]] inline double near_normal(Stream& stream) {
  const double radius = square_root(-2.0 * portable_log(1.0 - stream.uniform()));
  return radius * cosine_of_turns(stream.uniform());
}

// Words of a stream that a normal takes.
inline constexpr std::uint32_t kNormalWords = 4;

// The normal that the stream gives after so many others.
[[gnu::always_inline]] inline double near_normal_after(Stream stream, std::uint32_t others) {
  stream.skip_words(std::uint64_t{others} * kNormalWords);
  return near_normal(stream);
}

}  // namespace plackett::gpu
