// Whether scores are finite.
#pragma once

#include <span>

namespace plackett {

inline bool all_finite(std::span<const float> values) {
  // 0 * x is 0 for finite x and NaN otherwise: no branches.
  float sum = 0;
  for (const float value : values) sum += 0.0F * value;
  return sum == 0;
}

}  // namespace plackett
