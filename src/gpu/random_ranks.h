// Ranks of documents, equal scores in random order, with the bits of RandomRanks
// (sampling/random_ranks.h).
#pragma once

#include "gpu/stream.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// How many scores are above each one, by comparing all. `ranks` gets them; returns their sum,
// exact. `scores` have -infinity after the last up to a multiple of 4, and start at a 16-byte
// boundary.
template <unsigned kOwn>
[[gnu::always_inline]] inline double count_above(const Warp& warp, const float* scores,
                                                 std::uint32_t docs, std::uint32_t* ranks) {
  PerLane<double> sums;
  warp.compute([&](unsigned lane) { sums[lane] = 0; });
  for (std::uint32_t first = 0; first < docs; first += kOwn * kWarpLanes) {
    warp.compute([&](unsigned lane) {
      float own[kOwn];
      std::uint32_t above[kOwn];
      for (unsigned at = 0; at < kOwn; ++at) {
        const std::uint32_t doc = first + at * kWarpLanes + lane;
        own[at] = doc < docs ? scores[doc] : __builtin_inff();
        above[at] = 0;
      }
      for (std::uint32_t other = 0; other < docs; other += 4) {
        const Quad others = *reinterpret_cast<const Quad*>(scores + other);
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < kOwn; ++at) count_greater(others, own[at], above[at]);
      }
      for (unsigned at = 0; at < kOwn; ++at) {
        const std::uint32_t doc = first + at * kWarpLanes + lane;
        if (doc < docs) ranks[doc] = above[at];
        sums[lane] += above[at];
      }
    });
  }
  for (unsigned distance = 1; distance < kWarpLanes; distance *= 2) {
    add_at_distance(warp, sums, distance);
  }
  warp.sync();
  return sums[0];
}

// ranks[doc] counts from 0, best score first. False if scores are equal: they share the best of
// their ranks. Requires: scores finite, with -infinity after the last up to a multiple of 4.
[[gnu::always_inline]] inline bool rank_distinct(const Warp& warp, const float* scores,
                                                 std::uint32_t docs, std::uint32_t* ranks) {
  const double sum = docs <= kWarpLanes       ? count_above<1>(warp, scores, docs, ranks)
                     : docs <= 2 * kWarpLanes ? count_above<2>(warp, scores, docs, ranks)
                                              : count_above<4>(warp, scores, docs, ranks);
  // Distinct scores have the ranks 0 ... docs - 1.
  return sum == 0.5 * static_cast<double>(docs) * (docs - 1.0);
}

// Gives equal scores different ranks, once rank_distinct has given them the best of these: a
// shuffle for each group of them, the best group first, of its documents in descending order.
// `order` is scratch for a number per document. Returns the stream after it.
[[gnu::noinline]] inline Stream order_equals(Warp warp, const float* scores, std::uint32_t docs,
                                             std::uint32_t* ranks, std::uint32_t* order,
                                             Stream stream) {
  warp.each([&](unsigned lane) {
    for (std::uint32_t doc = lane; doc < docs; doc += kWarpLanes) {
      std::uint32_t place = ranks[doc];
      for (std::uint32_t other = doc + 1; other < docs; ++other) {
        place += scores[other] == scores[doc] ? 1U : 0U;
      }
      order[place] = doc;
    }
  });
  std::uint32_t begin = 0;  // of the places that are in order
  for (std::uint32_t first = 0; first < docs; first += kWarpLanes) {
    PerLane<bool> equal;  // to the one before
    warp.compute([&](unsigned lane) {
      const std::uint32_t place = first + lane;
      equal[lane] = place < docs && ranks[order[place]] < place;
    });
    std::uint32_t mask = warp.mask(equal);
    while (mask != 0) {
      const std::uint32_t place = first + static_cast<std::uint32_t>(__builtin_ctz(mask));
      mask &= mask - 1;
      if (place < begin) continue;
      begin = ranks[order[place]];
      std::uint32_t end = place + 1;
      while (end < docs && ranks[order[end]] == begin) ++end;
      // One lane swaps: what it reads, it wrote.
      for (std::uint32_t left = end - begin; left > 1; --left) {
        const std::uint32_t other = stream.below(left);
        warp.compute([&](unsigned lane) {
          if (lane != 0) return;
          const std::uint32_t doc = order[begin + left - 1];
          order[begin + left - 1] = order[begin + other];
          order[begin + other] = doc;
        });
      }
      warp.sync();
      begin = end;
    }
  }
  warp.sync();
  warp.each([&](unsigned lane) {
    for (std::uint32_t place = lane; place < docs; place += kWarpLanes) ranks[order[place]] = place;
  });
  return stream;
}

}  // namespace plackett::gpu
