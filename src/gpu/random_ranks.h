// Ranks of documents, equal scores in random order, with the bits of RandomRanks
// (sampling/random_ranks.h).
#pragma once

#include "gpu/sort.h"
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

// Scores of so many documents are sorted, and ranks found by binary search: comparing all with each
// other takes about docs^2 / 32 steps of a warp, this docs * (log2 docs)^2 / 64. More are compared
// with each other: they would be sorted in parts and searched for in all of them, first for equal
// scores, by reads of single numbers in tables that shared memory has no room for.
inline constexpr std::uint32_t kLeastSorted = 2 * kWarpLanes + 1;
inline constexpr std::uint32_t kMostSorted = 16 * kWarpLanes;

// sorted[0 ... count) = the scores, the highest first, and -infinity up to a multiple of 4. False
// if two are equal. Requires: count <= kOwn * kWarpLanes; `sorted` at a 16-byte boundary.
template <unsigned kOwn>
[[gnu::always_inline]] inline bool sort_scores(const Warp& warp, const float* scores,
                                               std::uint32_t count, float* sorted) {
  PerLane<float> own[kOwn];
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kOwn; ++at) {  // in any order
      const std::uint32_t doc = at * kWarpLanes + lane;
      own[at][lane] = doc < count ? scores[doc] : -__builtin_inff();
    }
  });
  sort_descending<kWarpLanes>(warp, own);
  const PerLane<float> before = warp.shifted(own[kOwn - 1], 1);
  PerLane<bool> equal;
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const std::uint32_t first = lane * kOwn;
    equal[lane] = first > 0 && first < count && before[lane] == own[0][lane];
    PLACKETT_UNROLL_ALL
    for (unsigned at = 1; at < kOwn; ++at) {
      equal[lane] = equal[lane] || (first + at < count && own[at - 1][lane] == own[at][lane]);
    }
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kOwn; at += 4) {
      if (first + at >= count) continue;
      *reinterpret_cast<Quad*>(sorted + first + at) = {
          {own[at][lane], own[at + 1][lane], own[at + 2][lane], own[at + 3][lane]}};
    }
  });
  return !warp.any(equal);
}

// Calls use(doc, how many of the scores are above its own) for documents `lane` and kWarpLanes
// after one another. Requires: `sorted` has the scores, the highest first, and no two are equal.
template <typename Use>
[[gnu::always_inline]] inline void each_rank(unsigned lane, const float* scores,
                                             std::uint32_t count, const float* sorted,
                                             const Use& use) {
  constexpr unsigned kTogether = 4;  // searches, since each waits for what it reads
  for (std::uint32_t doc = lane; doc < count; doc += kTogether * kWarpLanes) {
    float own[kTogether];
    std::uint32_t above[kTogether] = {};
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kTogether; ++at) {
      const std::uint32_t its = doc + at * kWarpLanes;
      own[at] = scores[its < count ? its : doc];
    }
    for (std::uint32_t step = kMostSorted / 2; step > 0; step /= 2) {
      if (step >= count) continue;
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < kTogether; ++at) {
        const std::uint32_t than = above[at] + step - 1;  // the last one is above none
        if (sorted[than < count ? than : count - 1] > own[at]) above[at] += step;
      }
    }
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kTogether; ++at) {
      const std::uint32_t its = doc + at * kWarpLanes;
      if (its < count) use(its, above[at]);
    }
  }
}

// row[doc] = value_of(how many scores are above that of `doc`), if no two are equal; otherwise
// false, and the row is as it was. `sorted` is scratch for a number per document, up to a multiple
// of 4, at a 16-byte boundary. Requires: scores finite; docs <= kMostSorted.
template <typename ValueOf>
[[gnu::always_inline]] inline bool replace_by_sorting(const Warp& warp, float* row,
                                                      std::uint32_t docs, float* sorted,
                                                      const ValueOf& value_of) {
  const bool distinct = docs <= 4 * kWarpLanes   ? sort_scores<4>(warp, row, docs, sorted)
                        : docs <= 8 * kWarpLanes ? sort_scores<8>(warp, row, docs, sorted)
                                                 : sort_scores<16>(warp, row, docs, sorted);
  if (!distinct) return false;
  warp.sync();
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    each_rank(lane, row, docs, sorted, [&](std::uint32_t doc, std::uint32_t above) PLACKETT_INLINE {
      row[doc] = value_of(static_cast<float>(above));
    });
  });
  return true;
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
