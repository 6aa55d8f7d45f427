// Turning a probability into a comparison with a 32-bit draw.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

namespace plackett {

// The number of 32-bit values that mean "yes": `rng.next_u32() < draw_threshold(p)` has
// probability p, to within 2^-33, and exactly for 0 and 1. Requires: 0 <= p <= 1.
inline std::uint64_t draw_threshold(double probability) {
  assert(probability >= 0 && probability <= 1);
  return static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
}

}  // namespace plackett
