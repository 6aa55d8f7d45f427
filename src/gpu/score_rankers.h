// The scores of a query's documents for many linear rankers, by a block, with the bits of
// score_docs (gpu/score.h). The rankers' weights are staged in shared memory for all warps.
//
// A warp does 16 documents by kMultileaveGroup rankers at a time, all sums in registers, as in
// gpu/score_split.h, but eight lanes share a document and have two of its virtual lanes each.
#pragma once

#include "gpu/block.h"
#include "gpu/run_data.h"
#include "gpu/score.h"
#include "gpu/warp.h"

namespace plackett::gpu {

inline constexpr unsigned kGroupLanes = 8;    // lanes that share a document
inline constexpr unsigned kGroupDocs = 4;     // of a lane
inline constexpr unsigned kProductDocs = 16;  // of a warp
static_assert(kGroupDocs * kWarpLanes / kGroupLanes == kProductDocs);
static_assert(kMultileaveGroup == kGroupLanes);  // after the fold, a ranker for each

// Of a group's weights of 16 features.
inline constexpr std::uint32_t kStagedFloats = 16 * kMultileaveGroup;

// Where the weights of two features, 2 * pair and the next, of a group's ranker lie. A lane reads
// those of two rankers at once. Lane l has the rankers in the order ranker ^ l, so that in each
// exchange of a fold all lanes keep the first half of their sums and give the second.
constexpr std::uint32_t staged_place(std::uint32_t ranker, std::uint32_t pair) {
  const std::uint32_t lane = pair % kGroupLanes;
  const std::uint32_t slot = ranker ^ lane;
  return pair / kGroupLanes * kStagedFloats + slot / 2 * (4 * kGroupLanes) + lane * 4 +
         slot % 2 * 2;
}

// Of a lane: its two virtual lanes of four documents under each ranker.
using GroupSums = PerLane<float>[kMultileaveGroup][kGroupDocs][2];

// sums += the products of so many chunks of 16 features. `rows` are those of a tile; the next
// tile's lie `to_second` floats after them.
[[gnu::always_inline]] inline void add_products(const Warp& warp, const float* rows,
                                                std::size_t to_second, const float* weights,
                                                std::uint32_t chunks, GroupSums& sums) {
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    constexpr unsigned kTileFloats = 16 * kTileDocs;
    constexpr unsigned kDocsOfTile = kTileDocs * kGroupLanes / kWarpLanes;  // of a lane
    const float* own_rows[] = {rows + std::size_t{lane} * 2,
                               rows + to_second + std::size_t{lane} * 2};
    const float* own_weights = weights + std::size_t{lane % kGroupLanes} * 4;
    Pair values[2][kGroupDocs];
    const auto read = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kGroupDocs; ++doc) {
        values[at][doc] = load_pair(own_rows[doc / kDocsOfTile] + std::size_t{chunk} * kTileFloats +
                                    doc % kDocsOfTile * (kTileFloats / kDocsOfTile));
      }
    };
    const auto use = [&](unsigned at, std::uint32_t chunk) PLACKETT_INLINE {
      PLACKETT_UNROLL_ALL
      for (unsigned two = 0; two < kMultileaveGroup / 2; ++two) {
        const Quad weight = read_shared_quad(own_weights + std::size_t{chunk} * kStagedFloats +
                                             two * (4 * kGroupLanes));
        PLACKETT_UNROLL_ALL
        for (unsigned part = 0; part < 4; ++part) {
          PLACKETT_UNROLL_ALL
          for (unsigned doc = 0; doc < kGroupDocs; ++doc) {
            float& sum = sums[2 * two + part / 2][doc][part % 2][lane];
            sum = multiply_add(values[at][doc].values[part % 2], weight.values[part], sum);
          }
        }
      }
    };
    // Two chunks are on their way while one is used. Past the last one it is read again.
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
}

// scores[ranker][stride], of the first `rankers` of the group and 16 documents.
[[gnu::always_inline]] inline void store_products(const Warp& warp, GroupSums& sums,
                                                  std::uint32_t rankers, std::uint32_t stride,
                                                  float* scores) {
  PLACKETT_UNROLL_ALL
  for (unsigned left = kMultileaveGroup / 2; left > 0; left /= 2) {
    PLACKETT_UNROLL_ALL
    for (unsigned slot = 0; slot < left; ++slot) {
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kGroupDocs; ++doc) {
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < 2; ++at) {
          add(warp, sums[slot][doc][at], warp.exchanged(sums[slot + left][doc][at], left));
        }
      }
    }
  }
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const std::uint32_t ranker = lane % kGroupLanes;
    if (ranker >= rankers) return;
    float* to = scores + std::size_t{ranker} * stride + lane / kGroupLanes;
    PLACKETT_UNROLL_ALL
    for (unsigned doc = 0; doc < kGroupDocs; ++doc) {
      to[doc * (kWarpLanes / kGroupLanes)] = sums[0][doc][0][lane] + sums[0][doc][1][lane];
    }
  });
}

// What a block does at a time: groups of rankers, steps of kProductDocs documents, and chunks of 16
// features.
struct ScoringStage {
  std::uint32_t groups = 0;
  std::uint32_t steps = 0;
  std::uint32_t chunks = 0;
};

// Of so many. As many groups as there is room for, of `room` floats. If these have less work than
// there are warps: a product for each warp, of as many features as there is room for.
// Requires: room for kStagedFloats per warp.
constexpr ScoringStage choose_stage(const ScoringStage& all, std::uint32_t room,
                                    std::uint32_t warps) {
  const std::uint32_t whole = room / (all.chunks * kStagedFloats);
  if (whole >= all.groups) return all;
  if (whole * all.steps >= warps) return {whole, all.steps, all.chunks};
  const std::uint32_t steps = all.steps < warps ? all.steps : warps;
  const std::uint32_t groups = warps / steps < all.groups ? warps / steps : all.groups;
  const std::uint32_t most = room / (groups * kStagedFloats);
  const std::uint32_t slices = (all.chunks + most - 1) / most;
  return {groups, steps, (all.chunks + slices - 1) / slices};
}

// A query's documents, rankers one after another, and where their scores go.
struct ScoringJob {
  const float* tiles = nullptr;
  std::uint32_t docs = 0;
  std::uint32_t width = 0;
  const float* rankers = nullptr;  // [ranker][width], in the device's memory
  std::uint32_t count = 0;
  float* scores = nullptr;   // [ranker][stride]: those past the last document are undefined
  std::uint32_t stride = 0;  // a multiple of kProductDocs
  float* staged = nullptr;   // shared memory
  std::uint32_t room = 0;    // of so many floats
};

// scores[ranker][doc] = the row of `doc` . the weights. Requires: docs > 0; `width` a multiple of
// 16; what choose_stage does.
[[gnu::always_inline]] inline void score_rankers(const Block& block, const ScoringJob& job) {
  const auto minimum = [](std::uint32_t one, std::uint32_t other)
                           PLACKETT_INLINE { return one < other ? one : other; };
  const ScoringStage all = {.groups = (job.count + kMultileaveGroup - 1) / kMultileaveGroup,
                            .steps = (job.docs + kProductDocs - 1) / kProductDocs,
                            .chunks = job.width / 16};
  const ScoringStage stage = choose_stage(all, job.room, block.warps());
  PerWarp<GroupSums> sums;
  for (std::uint32_t group = 0; group < all.groups; group += stage.groups) {
    const std::uint32_t first = group * kMultileaveGroup;
    const std::uint32_t groups = minimum(stage.groups, all.groups - group);
    for (std::uint32_t step = 0; step < all.steps; step += stage.steps) {
      const std::uint32_t steps = minimum(stage.steps, all.steps - step);
      for (std::uint32_t chunk = 0; chunk < all.chunks; chunk += stage.chunks) {
        const std::uint32_t chunks = minimum(stage.chunks, all.chunks - chunk);
        block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
          const std::uint32_t rankers = minimum(groups * kMultileaveGroup, job.count - first);
          warp.compute([&](unsigned lane) PLACKETT_INLINE {
            for (std::uint32_t ranker = number; ranker < rankers; ranker += block.warps()) {
              const float* from =
                  job.rankers + std::size_t{first + ranker} * job.width + std::size_t{chunk} * 16;
              float* to =
                  job.staged + std::size_t{ranker / kMultileaveGroup} * chunks * kStagedFloats;
              for (std::uint32_t pair = lane; pair < chunks * 8; pair += kWarpLanes) {
                copy_pair_ahead(from + std::size_t{pair} * 2,
                                to + staged_place(ranker % kMultileaveGroup, pair));
              }
            }
            wait_for_copies();
          });
        });
        // Warps with the same documents at the same time, so that these are read from the cache. A
        // warp has several products only where all features are staged.
        block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
          for (std::uint32_t part = number; part < groups * steps; part += block.warps()) {
            const std::uint32_t of_stage = part % groups;
            const std::uint32_t doc = (step + part / groups) * kProductDocs;
            if (chunk == 0) {
              warp.compute([&](unsigned lane) PLACKETT_INLINE {
                PLACKETT_UNROLL_ALL
                for (auto& of_ranker : sums[number]) {
                  PLACKETT_UNROLL_ALL
                  for (auto& of_doc : of_ranker) of_doc[0][lane] = of_doc[1][lane] = 0;
                }
              });
            }
            // Past the last tile it is read again.
            add_products(warp, job.tiles + feature_place(doc, chunk * 16, job.width),
                         doc + kTileDocs < job.docs ? tile_size(job.width) : 0,
                         job.staged + std::size_t{of_stage} * chunks * kStagedFloats, chunks,
                         sums[number]);
            if (chunk + chunks == all.chunks) {
              const std::uint32_t ranker = first + of_stage * kMultileaveGroup;
              store_products(warp, sums[number], job.count - ranker, job.stride,
                             job.scores + std::size_t{ranker} * job.stride + doc);
            }
          }
        });
      }
    }
  }
}

}  // namespace plackett::gpu
