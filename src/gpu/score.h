// The linear ranker's scores, with the bits of Kernels::dot_rows (base/kernels.h): 16 virtual
// lanes, fused, then halved until four sums are left, (f0 + f2) + (f1 + f3) of which is the
// product.
#pragma once

#include "gpu/run_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// Four lanes do a document, a warp kTiles tiles at a time.
inline constexpr unsigned kLanesPerDoc = kWarpLanes / kTileDocs;
inline constexpr unsigned kTiles = 2;

// The sums of one document lie in four lanes; all four get its score. In each exchange a lane keeps
// half of its sums and gives the others away, until lane p has f_p.
inline PerLane<float> fold(const Warp& warp, const PerLane<Quad>& sums) {
  PerLane<float> kept[2];
  PerLane<float> given[2];
  warp.compute([&](unsigned lane) {
    const float* own = sums[lane].values;
    const bool upper = (lane & 2) != 0;
    for (unsigned at = 0; at < 2; ++at) {
      kept[at][lane] = upper ? own[at + 2] : own[at];
      given[at][lane] = upper ? own[at] : own[at + 2];
    }
  });
  for (unsigned at = 0; at < 2; ++at) add(warp, kept[at], warp.exchanged(given[at], 2));
  PerLane<float> one;
  PerLane<float> other;
  warp.compute([&](unsigned lane) {
    const bool upper = (lane & 1) != 0;
    one[lane] = upper ? kept[1][lane] : kept[0][lane];
    other[lane] = upper ? kept[0][lane] : kept[1][lane];
  });
  add(warp, one, warp.exchanged(other, 1));
  add_at_distance(warp, one, 2);
  add_at_distance(warp, one, 1);
  return one;
}

// scores[doc] = the row of `doc` . weights; returns the highest. False in `finite` if one is not
// finite. `tiles` are the query's.
// Requires: docs > 0; `width` a multiple of 16; weights at a 16-byte boundary.
inline float score_docs(const Warp& warp, const float* tiles, std::uint32_t docs,
                        std::uint32_t width, const float* weights, float* scores, bool& finite) {
  PerLane<float> highest;
  PerLane<bool> bad;
  warp.compute([&](unsigned lane) {
    highest[lane] = -__builtin_inff();
    bad[lane] = false;
  });
  for (std::uint32_t first = 0; first < docs; first += kTiles * kTileDocs) {
    PerLane<Quad> sums[kTiles];
    PerLane<const float*> row[kTiles];
    warp.compute([&](unsigned lane) {
      for (unsigned tile = 0; tile < kTiles; ++tile) {
        // Past the last tile it is read again, from the cache.
        const std::uint32_t doc = first + tile * kTileDocs;
        row[tile][lane] =
            tiles + (doc < docs ? doc : first) / kTileDocs * tile_size(width) + lane * 4;
        sums[tile][lane] = {{0, 0, 0, 0}};
      }
    });
    warp.compute([&](unsigned lane) {
      const float* own = weights + lane % kLanesPerDoc * 4;
      PLACKETT_UNROLL(3)
      for (std::uint32_t at = 0; at < width; at += 16) {
        const Quad weight = *reinterpret_cast<const Quad*>(own + at);
        Quad values[kTiles];
        for (unsigned tile = 0; tile < kTiles; ++tile) {
          values[tile] = load_quad(row[tile][lane] + at * kTileDocs);
        }
        for (unsigned tile = 0; tile < kTiles; ++tile) {
          for (unsigned part = 0; part < 4; ++part) {
            float& sum = sums[tile][lane].values[part];
            sum = multiply_add(values[tile].values[part], weight.values[part], sum);
          }
        }
      }
    });
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      const PerLane<float> of_tile = fold(warp, sums[tile]);
      warp.compute([&](unsigned lane) {
        const std::uint32_t doc = first + tile * kTileDocs + lane / kLanesPerDoc;
        if (doc >= docs) return;
        const float score = of_tile[lane];
        if (lane % kLanesPerDoc == 0) scores[doc] = score;
        bad[lane] = bad[lane] || 0.0F * score != 0.0F;
        if (score > highest[lane]) highest[lane] = score;
      });
    }
  }
  warp.sync();
  finite = !warp.any(bad);
  return largest(warp, highest);
}

}  // namespace plackett::gpu
