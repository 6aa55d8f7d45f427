// The scores of all documents of a split for many linear rankers, with the bits of score_docs
// (gpu/score.h): a product of two matrices. They are kept in the device's memory.
//
// A warp does kSplitTiles tiles by kSplitRankers rankers at a time, all sums in registers: 16 lanes
// share a document, and each has one of its virtual lanes. So a lane reads 16 numbers for 64
// multiplications, which is the least: what it reads, also of shared memory, is the limit.
// Documents are taken as they lie, whatever queries they are of.
#pragma once

#include "gpu/block.h"
#include "gpu/run_data.h"
#include "gpu/score.h"
#include "gpu/warp.h"

namespace plackett::gpu {

inline constexpr unsigned kSplitLanes = 16;  // that share a document
inline constexpr unsigned kSplitHalves = kWarpLanes / kSplitLanes;
inline constexpr unsigned kSplitDocs = kTileDocs / kSplitHalves;  // of a lane, in each tile

// Where a weight of ranker `ranker` of kSplitRankers lies in shared memory: a lane reads those of
// four rankers at once. A lane has the rankers in the order ranker ^ (its virtual lane / 2), so
// that in each exchange of a fold all lanes keep the first half of their sums and give the second.
constexpr std::uint32_t weight_place(std::uint32_t ranker, std::uint32_t feature) {
  const std::uint32_t lane = feature % kSplitLanes;
  const std::uint32_t slot = ranker ^ lane / 2;
  return feature / 16 * 16 * kSplitRankers + slot / 4 * (4 * kSplitLanes) + lane * 4 + slot % 4;
}

// The weights of the block's rankers, zeros for those that it lacks.
inline void load_rankers(const Block& block, const BatchArgs& args, std::uint32_t first,
                         std::uint32_t width, float* weights) {
  block.each_warp([&](const Warp& warp, unsigned number) {
    for (std::uint32_t ranker = number; ranker < args.rankers_per_block; ranker += kNetworkWarps) {
      const std::uint32_t place = first + ranker;
      const float* from = place < args.count
                              ? args.weights + std::uint64_t{args.which[place]} * args.weight_stride
                              : nullptr;
      float* to = weights + std::size_t{ranker / kSplitRankers * kSplitRankers} * width;
      warp.compute([&](unsigned lane) {
        for (std::uint32_t feature = lane; feature < width; feature += kWarpLanes) {
          to[weight_place(ranker % kSplitRankers, feature)] = from == nullptr ? 0 : from[feature];
        }
      });
    }
  });
}

// Of the documents of the next kSplitTiles tiles, or of `tiles` if these are fewer, and the rankers
// whose weights these are: to `scores`, as scores_of.
[[gnu::always_inline]] inline void score_tiles(const Warp& warp, const float* rows,
                                               std::uint32_t tiles, std::uint32_t width,
                                               const float* weights, float* scores) {
  PerLane<float> sums[kSplitRankers][kSplitTiles][kSplitDocs];
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (auto& of_ranker : sums) {
      PLACKETT_UNROLL_ALL
      for (auto& of_tile : of_ranker) {
        PLACKETT_UNROLL_ALL
        for (auto& sum : of_tile) sum[lane] = 0;
      }
    }
    // Past the last tile the first is read again.
    const float* own_rows[kSplitTiles] = {rows + lane,
                                          rows + (tiles > 1 ? tile_size(width) : 0) + lane};
    const float* own_weights = weights + std::size_t{lane % kSplitLanes} * 4;
    float values[2][kSplitTiles][kSplitDocs];
    const auto read = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned tile = 0; tile < kSplitTiles; ++tile) {
        PLACKETT_UNROLL_ALL
        for (unsigned doc = 0; doc < kSplitDocs; ++doc) {
          values[at][tile][doc] =
              load_float(own_rows[tile] + std::size_t{chunk} * (16 * kTileDocs) + doc * kWarpLanes);
        }
      }
    };
    const auto use = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned four = 0; four < kSplitRankers / 4; ++four) {
        const Quad weight = read_shared_quad(
            own_weights + std::size_t{chunk} * (16 * kSplitRankers) + four * (4 * kSplitLanes));
        PLACKETT_UNROLL_ALL
        for (unsigned part = 0; part < 4; ++part) {
          PLACKETT_UNROLL_ALL
          for (unsigned tile = 0; tile < kSplitTiles; ++tile) {
            PLACKETT_UNROLL_ALL
            for (unsigned doc = 0; doc < kSplitDocs; ++doc) {
              float& sum = sums[4 * four + part][tile][doc][lane];
              sum = multiply_add(values[at][tile][doc], weight.values[part], sum);
            }
          }
        }
      }
    };
    // Two chunks are on their way while one is used. Past the last one it is read again.
    const std::uint32_t chunks = width / 16;
    const auto read_next = [&](unsigned at, std::uint32_t next)
                               PLACKETT_INLINE { read(at, next < chunks ? next : chunks - 1); };
    std::uint32_t chunk = chunks % 2;
    read_next(0, chunk);
    read_next(1, 1 - chunk);
    if (chunk > 0) {
      use(1, 0);
      read_next(1, 2);
    }
    for (; chunk < chunks; chunk += 2) {
      use(0, chunk);
      read_next(0, chunk + 2);
      use(1, chunk + 1);
      read_next(1, chunk + 3);
    }
  });
  PLACKETT_UNROLL_ALL
  for (unsigned left = kSplitRankers / 2; left > 0; left /= 2) {
    PLACKETT_UNROLL_ALL
    for (unsigned slot = 0; slot < left; ++slot) {
      PLACKETT_UNROLL_ALL
      for (unsigned tile = 0; tile < kSplitTiles; ++tile) {
        PLACKETT_UNROLL_ALL
        for (unsigned doc = 0; doc < kSplitDocs; ++doc) {
          add(warp, sums[slot][tile][doc], warp.exchanged(sums[slot + left][tile][doc], 2 * left));
        }
      }
    }
  }
  // Of the last two lanes, each keeps a tile.
  PLACKETT_UNROLL_ALL
  for (unsigned doc = 0; doc < kSplitDocs; ++doc) {
    PerLane<float> kept;
    PerLane<float> given;
    warp.compute([&](unsigned lane) {
      const float first = sums[0][0][doc][lane];
      const float second = sums[0][1][doc][lane];
      kept[lane] = choose(lane % 2 != 0, second, first);
      given[lane] = choose(lane % 2 != 0, first, second);
    });
    add(warp, kept, warp.exchanged(given, 1));
    warp.compute([&](unsigned lane) {
      if (lane % 2 >= tiles) return;
      const std::uint32_t row = lane % 2 * kTileDocs + doc * kSplitHalves + lane / kSplitLanes;
      scores[row * kScoreRow + lane % kSplitLanes / 2] = kept[lane];
    });
  }
}

// Block `number` of those that share the runs that take part, which are all measured on the same
// split: args.tiles_each of its tiles from `first_tile` on.
[[gnu::always_inline]] inline void score_split(const Block& block, const BatchArgs& args,
                                               std::uint32_t number, std::uint32_t first_tile,
                                               std::byte* shared) {
  const SplitData split = args.runs[args.which[0]].measured;
  auto* weights = at_offset<float>(shared, 0);
  const std::uint32_t first = number * args.rankers_per_block;
  load_rankers(block, args, first, split.width, weights);
  std::uint32_t last_tile = first_tile + args.tiles_each;
  if (last_tile > args.tile_count) last_tile = args.tile_count;
  block.each_warp([&](const Warp& warp, unsigned warp_number) PLACKETT_INLINE {
    // Warps with the same documents at the same time, so that these are read from the cache.
    const std::uint32_t sharing = args.rankers_per_block / kSplitRankers;
    const std::uint32_t step = warp_number * args.tile_step / (kNetworkWarps * kSplitTiles);
    const std::uint32_t ranker = (warp_number - step * sharing) * kSplitRankers;
    if (first + ranker >= args.count) return;
    std::uint32_t tile = first_tile + step * kSplitTiles;
    const float* rows = split.rows + tile * tile_size(split.width);
    float* scores = scores_of(args, first + ranker, tile);
    for (; tile < last_tile; tile += args.tile_step) {
      score_tiles(warp, rows, last_tile - tile, split.width,
                  weights + std::size_t{ranker} * split.width, scores);
      rows += args.tile_step * tile_size(split.width);
      scores += std::size_t{args.tile_step} * (kTileDocs * kScoreRow);
    }
  });
}

}  // namespace plackett::gpu
