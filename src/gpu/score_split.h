// The scores of all documents of a split for many linear rankers, with the bits of score_docs
// (gpu/score.h): a product of two matrices. They are kept in the device's memory.
//
// A warp does kSplitDocs documents by kSplitRankers rankers at a time, all sums in registers: eight
// lanes share a document, and each has two of its 16 virtual lanes. Documents are taken as they
// lie, whatever queries they are of.
#pragma once

#include "gpu/block.h"
#include "gpu/run_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

inline constexpr unsigned kPairLanes = 8;  // lanes that share a document
inline constexpr unsigned kSplitDocsPerLane = 4;
static_assert(kSplitDocsPerLane * kWarpLanes / kPairLanes == kSplitTiles * kTileDocs);

// Where a weight of ranker `ranker` of kSplitRankers lies in shared memory: a lane reads those of
// two rankers at once. Lane l has the rankers in the order ranker ^ l, so that in each exchange of
// a fold all lanes keep the first half of their sums and give the second.
constexpr std::uint32_t weight_place(std::uint32_t ranker, std::uint32_t feature) {
  const std::uint32_t lane = feature % 16 / 2;
  const std::uint32_t slot = ranker ^ lane;
  return feature / 16 * 16 * kSplitRankers + slot / 2 * (4 * kPairLanes) + lane * 4 + slot % 2 * 2 +
         feature % 2;
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
  PerLane<float> sums[kSplitRankers][kSplitDocsPerLane][2];
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (auto& of_ranker : sums) {
      PLACKETT_UNROLL_ALL
      for (auto& of_doc : of_ranker) {
        PLACKETT_UNROLL_ALL
        for (auto& sum : of_doc) sum[lane] = 0;
      }
    }
    constexpr unsigned kDocsOfTile = kSplitDocsPerLane / kSplitTiles;
    // Past the last tile the first is read again.
    const float* own_rows[kSplitTiles] = {
        rows + std::size_t{lane} * 2,
        rows + (tiles > 1 ? tile_size(width) : 0) + std::size_t{lane} * 2};
    const float* own_weights = weights + std::size_t{lane % kPairLanes} * 4;
    Pair values[2][kSplitDocsPerLane];
    const auto read = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kSplitDocsPerLane; ++doc) {
        values[at][doc] =
            load_pair(own_rows[doc / kDocsOfTile] + std::size_t{chunk} * (16 * kTileDocs) +
                      doc % kDocsOfTile * (16 * kTileDocs / kDocsOfTile));
      }
    };
    const auto use = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned two = 0; two < kSplitRankers / 2; ++two) {
        const Quad weight = read_shared_quad(
            own_weights + std::size_t{chunk} * (16 * kSplitRankers) + two * (4 * kPairLanes));
        PLACKETT_UNROLL_ALL
        for (unsigned part = 0; part < 4; ++part) {
          PLACKETT_UNROLL_ALL
          for (unsigned doc = 0; doc < kSplitDocsPerLane; ++doc) {
            float& sum = sums[2 * two + part / 2][doc][part % 2][lane];
            sum = multiply_add(values[at][doc].values[part % 2], weight.values[part], sum);
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
      for (unsigned doc = 0; doc < kSplitDocsPerLane; ++doc) {
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < 2; ++at) {
          add(warp, sums[slot][doc][at], warp.exchanged(sums[slot + left][doc][at], left));
        }
      }
    }
  }
  warp.compute([&](unsigned lane) {
    float* to = scores + lane / kPairLanes * kScoreRow + lane % kPairLanes;
    PLACKETT_UNROLL_ALL
    for (unsigned doc = 0; doc < kSplitDocsPerLane; ++doc) {
      if (doc * kSplitTiles / kSplitDocsPerLane < tiles) {
        to[doc * (kWarpLanes / kPairLanes) * kScoreRow] =
            sums[0][doc][0][lane] + sums[0][doc][1][lane];
      }
    }
  });
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
