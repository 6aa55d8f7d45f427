// The linear ranker's scores, with the bits of Kernels::dot_rows (base/kernels.h): 16 virtual lanes,
// fused, then halved until four sums are left, (f0 + f2) + (f1 + f3) of which is the product.
#pragma once

#include "gpu/warp.h"

namespace plackett::gpu {

// Documents that a warp scores at a time: four lanes do eight of them, kTiles times.
inline constexpr unsigned kLanesPerDoc = 4;
inline constexpr unsigned kDocsPerTile = kWarpLanes / kLanesPerDoc;
inline constexpr unsigned kTiles = 2;

inline float score_of(const Quad& sums) {
  return (sums.values[0] + sums.values[2]) + (sums.values[1] + sums.values[3]);
}

// Adds the sums of one row that lie in four lanes; all four get the result.
inline void fold(const Warp& warp, PerLane<Quad>& sums) {
  for (unsigned distance = kLanesPerDoc / 2; distance > 0; distance /= 2) {
    for (unsigned part = 0; part < 4; ++part) {
      PerLane<float> one;
      warp.compute([&](unsigned lane) { one[lane] = sums[lane].values[part]; });
      add_at_distance(warp, one, distance);
      warp.compute([&](unsigned lane) { sums[lane].values[part] = one[lane]; });
    }
  }
}

// scores[doc] = rows[doc] . weights; returns the highest. False in `finite` if one is not finite.
// Requires: docs > 0; `width` a multiple of 16; weights at a 16-byte boundary.
inline float score_docs(const Warp& warp, const float* rows, std::uint32_t docs,
                        std::uint32_t width, const float* weights, float* scores, bool& finite) {
  PerLane<float> highest;
  PerLane<bool> bad;
  warp.compute([&](unsigned lane) {
    highest[lane] = -__builtin_inff();
    bad[lane] = false;
  });
  for (std::uint32_t first = 0; first < docs; first += kTiles * kDocsPerTile) {
    PerLane<Quad> sums[kTiles];
    PerLane<const float*> row[kTiles];
    warp.compute([&](unsigned lane) {
      for (unsigned tile = 0; tile < kTiles; ++tile) {
        const std::uint32_t doc = first + tile * kDocsPerTile + lane / kLanesPerDoc;
        // Past the end the last row is read again, from the cache.
        row[tile][lane] =
            rows + std::uint64_t{doc < docs ? doc : docs - 1} * width + lane % kLanesPerDoc * 4;
        sums[tile][lane] = {{0, 0, 0, 0}};
      }
    });
    warp.compute([&](unsigned lane) {
      const float* own = weights + lane % kLanesPerDoc * 4;
      PLACKETT_UNROLL(3)
      for (std::uint32_t at = 0; at < width; at += 16) {
        const Quad weight = *reinterpret_cast<const Quad*>(own + at);
        Quad values[kTiles];
        for (unsigned tile = 0; tile < kTiles; ++tile) values[tile] = load_quad(row[tile][lane] + at);
        for (unsigned tile = 0; tile < kTiles; ++tile) {
          for (unsigned part = 0; part < 4; ++part) {
            float& sum = sums[tile][lane].values[part];
            sum = multiply_add(values[tile].values[part], weight.values[part], sum);
          }
        }
      }
    });
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      fold(warp, sums[tile]);
      warp.compute([&](unsigned lane) {
        const std::uint32_t doc = first + tile * kDocsPerTile + lane / kLanesPerDoc;
        if (doc >= docs) return;
        const float score = score_of(sums[tile][lane]);
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
