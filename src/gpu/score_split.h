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

// What a lane reads of the documents: two chunks are on their way while one is used.
class SplitReader {
 public:
  // Of the documents of the next kSplitTiles tiles, or of `tiles` if these are fewer.
  SplitReader(const float* rows, std::uint32_t tiles, std::uint32_t width, unsigned lane)
      // Past the last tile the first is read again.
      : rows_{rows + lane, rows + (tiles > 1 ? tile_size(width) : 0) + lane} {}

  [[gnu::always_inline]] void read(std::uint32_t chunk,
                                   float (&values)[kSplitTiles][kSplitDocs]) const {
    PLACKETT_UNROLL_ALL
    for (unsigned tile = 0; tile < kSplitTiles; ++tile) {
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kSplitDocs; ++doc) {
        values[tile][doc] =
            load_float(rows_[tile] + std::size_t{chunk} * (16 * kTileDocs) + doc * kWarpLanes);
      }
    }
  }

 private:
  const float* rows_[kSplitTiles];
};

// Two chunks of a lane's.
struct SplitChunks {
  float values[2][kSplitTiles][kSplitDocs];
};

// The one of the first two chunks that score_tiles expects at that place: so that the last two lie
// in order, the first is at 1 if their number is odd.
constexpr std::uint32_t first_chunk_at(unsigned place, std::uint32_t width) {
  return width > 16 ? (place + width / 16) % 2 : 0;
}

// Of the documents of the next kSplitTiles tiles, or of `tiles` if these are fewer, and the rankers
// whose weights these are: to `scores`, as scores_of. Their first two chunks are there; then those
// of the documents that come next are.
[[gnu::always_inline]] inline void score_tiles(const Warp& warp, const float* rows,
                                               std::uint32_t tiles, const float* next_rows,
                                               std::uint32_t next_tiles, std::uint32_t width,
                                               const float* weights,
                                               PerLane<SplitChunks>& chunks_read, float* scores) {
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
    const SplitReader reader(rows, tiles, width, lane);
    const float* own_weights = weights + std::size_t{lane % kSplitLanes} * 4;
    auto& values = chunks_read[lane].values;
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
    const std::uint32_t chunks = width / 16;
    std::uint32_t chunk = chunks % 2;
    if (chunk > 0) {
      use(1, 0);
      if (chunks > 1) reader.read(2, values[1]);
    }
    PLACKETT_UNROLL(1)
    for (; chunk + 2 < chunks; chunk += 2) {
      use(0, chunk);
      reader.read(chunk + 2, values[0]);
      use(1, chunk + 1);
      reader.read(chunk + 3, values[1]);
    }
    const SplitReader next(next_rows, next_tiles, width, lane);
    if (chunks > 1) use(0, chunk);
    next.read(first_chunk_at(0, width), values[0]);
    if (chunks > 1) use(1, chunk + 1);
    next.read(first_chunk_at(1, width), values[1]);
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

// All blocks that share documents come to them at about the same time, and what is not in the
// second cache is waited for much longer than it takes to read two chunks: it is fetched so many
// steps before.
inline constexpr std::uint32_t kStepsAhead = 2;

// Of the next kSplitTiles tiles, or of `tiles` if these are fewer, part `number` of `parts`: into
// the second cache.
[[gnu::always_inline]] inline void fetch_tiles(const Warp& warp, std::uint32_t number,
                                               std::uint32_t parts, const float* rows,
                                               std::uint32_t tiles, std::uint32_t width) {
  constexpr std::uint32_t kLine = 32;  // floats
  const auto floats =
      static_cast<std::uint32_t>((tiles < kSplitTiles ? tiles : kSplitTiles) * tile_size(width));
  warp.compute([&](unsigned lane) {
    for (std::uint32_t at = (number * kWarpLanes + lane) * kLine; at < floats;
         at += parts * kWarpLanes * kLine) {
      prefetch(rows + at);
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
    if (tile >= last_tile) return;
    PerLane<SplitChunks> chunks;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      const SplitReader reader(rows, last_tile - tile, split.width, lane);
      PLACKETT_UNROLL_ALL
      for (unsigned place = 0; place < 2; ++place) {
        reader.read(first_chunk_at(place, split.width), chunks[lane].values[place]);
      }
    });
    for (; tile < last_tile; tile += args.tile_step) {
      const std::uint32_t ahead = tile + kStepsAhead * args.tile_step;
      if (ahead < last_tile) {
        fetch_tiles(warp, warp_number % sharing, sharing,
                    rows + kStepsAhead * args.tile_step * tile_size(split.width), last_tile - ahead,
                    split.width);
      }
      // After the last documents they are read again.
      const bool goes_on = tile + args.tile_step < last_tile;
      const std::uint32_t next_tile = goes_on ? tile + args.tile_step : tile;
      const float* next_rows = rows + (next_tile - tile) * tile_size(split.width);
      score_tiles(warp, rows, last_tile - tile, next_rows, last_tile - next_tile, split.width,
                  weights + std::size_t{ranker} * split.width, chunks, scores);
      rows = next_rows;
      scores += std::size_t{args.tile_step} * (kTileDocs * kScoreRow);
    }
  });
}

}  // namespace plackett::gpu
