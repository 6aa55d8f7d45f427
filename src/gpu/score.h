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

// By value: a choice between places in an array would keep the array in memory.
template <typename T>
T choose(bool first, T one, T other) {
  return first ? one : other;
}

// The sums of one document lie in four lanes; all four get its score. In each exchange a lane keeps
// half of its sums and gives the others away, until lane p has f_p.
inline PerLane<float> fold(const Warp& warp, const PerLane<Quad>& sums) {
  PerLane<float> kept[2];
  PerLane<float> given[2];
  warp.compute([&](unsigned lane) {
    const float* own = sums[lane].values;
    const bool upper = (lane & 2) != 0;
    for (unsigned at = 0; at < 2; ++at) {
      kept[at][lane] = choose(upper, own[at + 2], own[at]);
      given[at][lane] = choose(upper, own[at], own[at + 2]);
    }
  });
  for (unsigned at = 0; at < 2; ++at) add(warp, kept[at], warp.exchanged(given[at], 2));
  PerLane<float> one;
  PerLane<float> other;
  warp.compute([&](unsigned lane) {
    const bool upper = (lane & 1) != 0;
    one[lane] = choose(upper, kept[1][lane], kept[0][lane]);
    other[lane] = choose(upper, kept[0][lane], kept[1][lane]);
  });
  add(warp, one, warp.exchanged(other, 1));
  add_at_distance(warp, one, 2);
  add_at_distance(warp, one, 1);
  return one;
}

// The scores of one ranker.
struct Scored {
  float highest = 0;
  bool finite = true;
};

// Of several rankers, one after another: weights and scores that many floats apart.
struct RankersScratch {
  float* weights = nullptr;
  std::uint32_t weight_stride = 0;
  float* scores = nullptr;
  std::uint32_t score_stride = 0;
};

inline Quad read_shared_quad(const float* from) { return *reinterpret_cast<const Quad*>(from); }

// scores[doc] = the row of `doc` . weights, for kRankers rankers that read the rows together.
// `tiles` are the query's. The weights are read by kRead.
// Requires: docs > 0; `width` a multiple of 16; weights at a 16-byte boundary.
template <unsigned kRankers, Quad (*kRead)(const float*) = read_shared_quad>
[[gnu::always_inline]] inline void score_docs(const Warp& warp, const float* tiles,
                                              std::uint32_t docs, std::uint32_t width,
                                              const RankersScratch& scratch,
                                              Scored (&scored)[kRankers]) {
  PerLane<float> highest[kRankers];
  PerLane<bool> bad[kRankers];
  warp.compute([&](unsigned lane) {
    for (unsigned ranker = 0; ranker < kRankers; ++ranker) {
      highest[ranker][lane] = -__builtin_inff();
      bad[ranker][lane] = false;
    }
  });
  for (std::uint32_t first = 0; first < docs; first += kTiles * kTileDocs) {
    PerLane<Quad> sums[kRankers][kTiles];
    PerLane<const float*> row[kTiles];
    warp.compute([&](unsigned lane) {
      for (unsigned tile = 0; tile < kTiles; ++tile) {
        // Past the last tile it is read again, from the cache.
        const std::uint32_t doc = first + tile * kTileDocs;
        row[tile][lane] = tiles + (doc < docs ? doc : first) / kTileDocs * tile_size(width) +
                          std::size_t{lane} * 4;
        for (auto& of_ranker : sums) of_ranker[tile][lane] = {{0, 0, 0, 0}};
      }
    });
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      const float* own = scratch.weights + std::size_t{lane % kLanesPerDoc} * 4;
      // Several chunks are read before the first is needed.
      const auto add_chunks = [&]<unsigned kChunks>(std::uint32_t at) PLACKETT_INLINE {
        Quad values[kChunks][kTiles];
        for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
          for (unsigned tile = 0; tile < kTiles; ++tile) {
            values[chunk][tile] =
                load_quad(row[tile][lane] + std::size_t{at + chunk * 16} * kTileDocs);
          }
        }
        PLACKETT_UNROLL_ALL
        for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
          PLACKETT_UNROLL_ALL
          for (unsigned ranker = 0; ranker < kRankers; ++ranker) {
            const Quad weight =
                kRead(own + std::size_t{ranker} * scratch.weight_stride + (at + chunk * 16));
            for (unsigned tile = 0; tile < kTiles; ++tile) {
              for (unsigned part = 0; part < 4; ++part) {
                float& sum = sums[ranker][tile][lane].values[part];
                sum = multiply_add(values[chunk][tile].values[part], weight.values[part], sum);
              }
            }
          }
        }
      };
      std::uint32_t at = 0;
      for (; at + 48 <= width; at += 48) add_chunks.template operator()<3>(at);
      for (; at < width; at += 16) add_chunks.template operator()<1>(at);
    });
    PLACKETT_UNROLL_ALL
    for (unsigned ranker = 0; ranker < kRankers; ++ranker) {
      PLACKETT_UNROLL_ALL
      for (unsigned tile = 0; tile < kTiles; ++tile) {
        const PerLane<float> of_tile = fold(warp, sums[ranker][tile]);
        warp.compute([&](unsigned lane) {
          const std::uint32_t doc = first + tile * kTileDocs + lane / kLanesPerDoc;
          if (doc >= docs) return;
          const float score = of_tile[lane];
          if (lane % kLanesPerDoc == 0)
            scratch.scores[std::size_t{ranker} * scratch.score_stride + doc] = score;
          bad[ranker][lane] = bad[ranker][lane] || 0.0F * score != 0.0F;
          if (score > highest[ranker][lane]) highest[ranker][lane] = score;
        });
      }
    }
  }
  warp.sync();
  PLACKETT_UNROLL_ALL
  for (unsigned ranker = 0; ranker < kRankers; ++ranker) {
    scored[ranker].finite = !warp.any(bad[ranker]);
    scored[ranker].highest = largest(warp, highest[ranker]);
  }
}

}  // namespace plackett::gpu
