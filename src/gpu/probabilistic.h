// Probabilistic multileaving: which document a place gets, with the bits of
// ProbabilisticMultileaving (sampling/probabilistic_multileaving.h).
#pragma once

#include "gpu/block.h"
#include "gpu/duel_data.h"
#include "gpu/score.h"
#include "gpu/stream.h"
#include "gpu/warp.h"

namespace plackett::gpu {

struct MultileavingScratch {
  float* table = nullptr;  // [ranker][stride]: weights
  std::uint32_t stride = 0;
  std::uint32_t docs = 0;
  std::uint32_t rankers = 0;
  float* unplaced = nullptr;  // per document: 1, or 0; 0 up to the stride
  float* chances = nullptr;   // per document
  float* scales = nullptr;    // [rank][ranker]
};

// scales[ranker] = 1 / the ranker's weight of what is unplaced: by warp `number` of `warps`.
[[gnu::always_inline]] inline void scale_rankers(const Warp& warp, unsigned number, unsigned warps,
                                                 const MultileavingScratch& scratch,
                                                 float* scales) {
  // As score_docs: four lanes do a ranker.
  constexpr std::uint32_t kTogether = kWarpLanes / kLanesPerDoc;
  const std::uint32_t in_blocks = round_up(scratch.docs, 16);
  for (std::uint32_t first = number * kTogether; first < scratch.rankers;
       first += warps * kTogether) {
    PerLane<Quad> sums;
    warp.compute([&](unsigned lane) {
      const std::uint32_t own = first + lane / kLanesPerDoc;
      const std::uint32_t ranker = own < scratch.rankers ? own : first;
      const float* row = scratch.table + std::size_t{ranker} * scratch.stride;
      Quad sum = {{0, 0, 0, 0}};
      PLACKETT_UNROLL(4)
      for (std::uint32_t at = lane % kLanesPerDoc * 4; at < in_blocks; at += 16) {
        const Quad weights = *reinterpret_cast<const Quad*>(row + at);
        const Quad unplaced = *reinterpret_cast<const Quad*>(scratch.unplaced + at);
        for (unsigned part = 0; part < 4; ++part) {
          sum.values[part] =
              multiply_add(weights.values[part], unplaced.values[part], sum.values[part]);
        }
      }
      sums[lane] = sum;
    });
    const PerLane<float> totals = fold(warp, sums);
    warp.compute([&](unsigned lane) {
      const std::uint32_t ranker = first + lane / kLanesPerDoc;
      if (lane % kLanesPerDoc == 0 && ranker < scratch.rankers) {
        scales[ranker] = 1.0F / totals[lane];
      }
    });
  }
}

// chances[doc] = the sum over rankers of weight times scale, 0 if it is placed: by warp `number` of
// `warps`. A lane does up to kOwn documents at a time.
template <unsigned kOwn>
[[gnu::always_inline]] inline void add_chances(const Warp& warp, unsigned number, unsigned warps,
                                               const MultileavingScratch& scratch,
                                               const float* scales) {
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    for (std::uint32_t first = number * kOwn * kWarpLanes + lane; first < scratch.docs;
         first += warps * kOwn * kWarpLanes) {
      const float* column[kOwn];
      float sums[kOwn];
      for (unsigned at = 0; at < kOwn; ++at) {
        const std::uint32_t doc = first + at * kWarpLanes;
        column[at] = scratch.table + (doc < scratch.docs ? doc : first);
        sums[at] = 0;
      }
      PLACKETT_UNROLL(4)
      for (std::uint32_t ranker = 0; ranker < scratch.rankers; ++ranker) {
        const float scale = scales[ranker];
        for (unsigned at = 0; at < kOwn; ++at) {
          sums[at] =
              multiply_add(scale, column[at][std::size_t{ranker} * scratch.stride], sums[at]);
        }
      }
      for (unsigned at = 0; at < kOwn; ++at) {
        const std::uint32_t doc = first + at * kWarpLanes;
        if (doc < scratch.docs) scratch.chances[doc] = scratch.unplaced[doc] == 0 ? 0 : sums[at];
      }
    }
  });
}

// The document that the engine draws, by its sums: one after another, in doubles. Not inlined: it
// is done about once in a thousand draws.
[[gnu::noinline]] inline std::uint32_t draw_in_order(const float* chances, std::uint32_t docs,
                                                     double uniform) {
  double total = 0;
  for (std::uint32_t doc = 0; doc < docs; ++doc) total += chances[doc];
  double left = uniform * total;
  std::uint32_t last = 0;
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    const float chance = chances[doc];
    if (chance == 0) continue;
    last = doc;
    left -= chance;
    if (left < 0) break;
  }
  return last;
}

// The same document, in proportion to its chance: by sums of floats over all lanes, which know when
// rounding could have misled them, as QuickUrn (gpu/sample.h).
[[gnu::always_inline]] inline std::uint32_t draw_doc(const Warp& warp, const float* chances,
                                                     std::uint32_t docs, double uniform) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  const std::uint32_t per_lane = (docs + kWarpLanes - 1) / kWarpLanes;
  const auto end_of = [&](unsigned lane) {
    const std::uint32_t end = (lane + 1) * per_lane;
    return end < docs ? end : docs;
  };
  PerLane<float> own;
  warp.compute([&](unsigned lane) {
    own[lane] = 0;
    for (std::uint32_t doc = lane * per_lane; doc < end_of(lane); ++doc) own[lane] += chances[doc];
  });
  PerLane<float> sums = own;
  add_those_before(warp, sums);
  const float total = warp.from(sums, kWarpLanes - 1);
  const float target = static_cast<float>(uniform) * total;
  const float margin = total * static_cast<float>(per_lane + 16) * 0x1p-22F;
  PerLane<bool> is_below;
  warp.compute([&](unsigned lane) { is_below[lane] = target < sums[lane]; });
  const std::uint32_t below = warp.mask(is_below);
  if (below != 0) {
    const auto chosen_lane = static_cast<unsigned>(__builtin_ctz(below));
    PerLane<std::uint32_t> chosen;
    warp.compute([&](unsigned lane) {
      chosen[lane] = kNone;
      if (lane != chosen_lane) return;
      float low = sums[lane] - own[lane];
      for (std::uint32_t doc = lane * per_lane; doc < end_of(lane); ++doc) {
        const float chance = chances[doc];
        if (target < low + chance) {
          if (target - low > margin && low + chance - target > margin) chosen[lane] = doc;
          break;
        }
        low += chance;
      }
    });
    const std::uint32_t doc = warp.from(chosen, chosen_lane);
    if (doc != kNone) return doc;
  }
  return draw_in_order(chances, docs, uniform);
}

// Places documents at the ranks below `shown`. The first warp draws them from `stream`.
template <typename Team>
[[gnu::always_inline]] inline void show_multileaved(const Team& team,
                                                    const MultileavingScratch& scratch,
                                                    std::uint32_t shown, Stream& stream,
                                                    std::uint32_t* docs) {
  for (std::uint32_t rank = 0; rank < shown; ++rank) {
    float* scales = scratch.scales + std::size_t{rank} * scratch.rankers;
    team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      scale_rankers(warp, number, team.warps(), scratch, scales);
    });
    team.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      add_chances<Team::kIsAlone ? 4 : 1>(warp, number, team.warps(), scratch, scales);
    });
    team.first_warp([&](const Warp& warp) PLACKETT_INLINE {
      const std::uint32_t doc = draw_doc(warp, scratch.chances, scratch.docs, stream.uniform());
      warp.compute([&](unsigned lane) {
        if (lane != 0) return;
        docs[rank] = doc;
        scratch.unplaced[doc] = 0;
      });
    });
  }
}

}  // namespace plackett::gpu
