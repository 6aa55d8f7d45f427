// Sorts numbers that lie in lanes' registers, the highest first: a bitonic network, each of whose
// merges first compares what is as far from the one end as from the other, so that all comparisons
// keep the larger number at the lower place.
#pragma once

#include <bit>

#include "gpu/warp.h"

namespace plackett::gpu {

// Compares the numbers whose places differ in the bits of kDistance. Lane l has the places from
// l * kOwn on.
template <unsigned kDistance, unsigned kOwn>
[[gnu::always_inline]] inline void compare_places(const Warp& warp,
                                                  PerLane<float> (&values)[kOwn]) {
  constexpr unsigned kLanes = kDistance / kOwn;  // between the two
  constexpr unsigned kAt = kDistance % kOwn;
  if constexpr (kLanes == 0) {
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kOwn; ++at) {
      const unsigned other = at ^ kAt;
      if (other < at) continue;  // done together
      warp.compute([&](unsigned lane) PLACKETT_INLINE {
        const float one = values[at][lane];
        const float two = values[other][lane];
        values[at][lane] = larger(one, two);
        values[other][lane] = smaller(one, two);
      });
    }
  } else {
    PerLane<float> theirs[kOwn];
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kOwn; ++at) theirs[at] = warp.exchanged(values[at ^ kAt], kLanes);
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      const bool is_lower = (lane & std::bit_floor(kLanes)) == 0;
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < kOwn; ++at) {
        float& own = values[at][lane];
        if (is_lower != (own > theirs[at][lane])) own = theirs[at][lane];
      }
    });
  }
}

template <unsigned kDistance, unsigned kOwn>
[[gnu::always_inline]] inline void compare_down_from(const Warp& warp,
                                                     PerLane<float> (&values)[kOwn]) {
  if constexpr (kDistance > 0) {
    compare_places<kDistance>(warp, values);
    compare_down_from<kDistance / 2>(warp, values);
  }
}

// Sorts what kLanes lanes have together: 1, or all.
template <unsigned kLanes, unsigned kSize = 2, unsigned kOwn>
[[gnu::always_inline]] inline void sort_descending(const Warp& warp,
                                                   PerLane<float> (&values)[kOwn]) {
  static_assert(std::has_single_bit(kLanes) && std::has_single_bit(kOwn));
  if constexpr (kSize <= kLanes * kOwn) {
    compare_places<kSize - 1>(warp, values);
    compare_down_from<kSize / 4>(warp, values);
    sort_descending<kLanes, 2 * kSize>(warp, values);
  }
}

}  // namespace plackett::gpu
