// Offline performance of networks, as gpu/evaluate.h: a block measures a run, each of its warps a
// part of the queries.
#pragma once

#include "gpu/block.h"
#include "gpu/evaluate.h"
#include "gpu/network.h"

namespace plackett::gpu {

// The scores of all documents of a query, by one warp.
[[gnu::always_inline]] inline void score_query(const Warp& warp, const SplitData& split,
                                               std::uint32_t query, std::uint32_t docs,
                                               std::uint32_t features, const Network& network,
                                               float* scores) {
  const float* tiles = split.rows + split.first_tiles[query] * tile_size(split.width);
  for (std::uint32_t batch = 0; batch < batches_of(docs); ++batch) {
    score_batch(warp, tiles, docs, features, network, batch, scores);
  }
  warp.sync();
}

[[gnu::always_inline]] inline bool all_equal(const Warp& warp, const float* scores,
                                             std::uint32_t docs) {
  PerLane<bool> differs;
  warp.compute([&](unsigned lane) {
    differs[lane] = false;
    for (std::uint32_t doc = lane; doc < docs; doc += kWarpLanes) {
      differs[lane] = differs[lane] || scores[doc] != scores[0];
    }
  });
  return !warp.any(differs);
}

// The values of the queries from `first_query` on, args.queries_each of them, of the run at
// `place` of those that take part.
[[gnu::always_inline]] inline void measure_network(const Block& block, const BatchArgs& args,
                                                   std::uint32_t place, std::uint32_t first_query,
                                                   std::byte* shared) {
  const std::uint32_t which = args.which[place];
  const SplitData split = args.runs[which].measured;
  const std::uint32_t features = args.runs[which].features;
  auto* parameters = at_offset<float>(shared, 0);
  copy_floats(block, args.weights + std::uint64_t{which} * args.network.layout.size,
              args.network.layout.size, parameters);
  const Network network(parameters, args.network.layout);
  std::uint32_t last_query = first_query + args.queries_each;
  if (last_query > split.query_count) last_query = split.query_count;
  block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    if (number >= args.network.measuring_warps) return;
    float* scores =
        parameters + args.network.layout.size + std::size_t{number} * args.measured_docs;
    for (std::uint32_t query = first_query + number; query < last_query;
         query += args.network.measuring_warps) {
      if (!(split.inverse_ideals[query] > 0)) continue;
      const auto docs =
          static_cast<std::uint32_t>(split.query_begin[query + 1] - split.query_begin[query]);
      score_query(warp, split, query, docs, features, network, scores);
      const bool finite = look_at_scores(warp, scores, docs).finite;
      double value = kTied;
      if (finite) {
        const BestDocs best = best_docs(warp, {scores}, docs);
        if (!best.tied) {
          value = ndcg_of(args.discounts, split, query, best);
        } else if (all_equal(warp, scores, docs)) {
          value = kAllTied;
        }
      }
      warp.compute([&](unsigned lane) {
        if (lane == 0) args.values[std::uint64_t{place} * args.value_stride + query] = value;
        if (lane == 0 && !finite) args.states[which].is_not_finite = 1;
      });
      warp.sync();
    }
  });
}

// As sum_queries, by a warp. The parameters stay in the device's memory: few queries have ties of
// some scores. All scores of all queries are equal before the first step of a network whose output
// begins at 0, but these are not scored again.
[[gnu::always_inline]] inline void sum_network(const Warp& warp, const BatchArgs& args,
                                               std::uint32_t place, std::byte* shared) {
  const std::uint32_t which = args.which[place];
  const std::uint32_t features = args.runs[which].features;
  const Network network(args.weights + std::uint64_t{which} * args.network.layout.size,
                        args.network.layout);
  auto* scores = at_offset<float>(shared, 0);
  sum_queries_by(warp, args, place,
                 [&](const SplitData& split, std::uint32_t query, std::uint32_t docs, double value)
                     PLACKETT_INLINE {
                       if (value == kAllTied) {
                         warp.each([&](unsigned lane) {
                           for (std::uint32_t doc = lane; doc < docs; doc += kWarpLanes) {
                             scores[doc] = 0;
                           }
                         });
                       } else {
                         score_query(warp, split, query, docs, features, network, scores);
                       }
                       return DocScores{scores};
                     });
}

}  // namespace plackett::gpu
