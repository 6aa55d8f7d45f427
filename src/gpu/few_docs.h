// A network's scores of a query with few documents, with the bits of gpu/network.h. A block has
// more warps than there are batches, so they divide the units as well: a part is up to kPartDocs
// documents by 16 units. What units give lies in shared memory, and once all parts are done, the
// scores take it in order.
//
// Lanes lie as in gpu/network.h. What they read limits a part: a lane gets four bytes per cycle of
// a multiprocessor, and reads one float per document and one per unit for each feature. So parts
// have four units of up to four documents per lane: eight floats for 16 multiply-adds. Two
// documents per lane would keep more warps busy, but with six floats for eight.
#pragma once

#include "gpu/network.h"

namespace plackett::gpu {

inline constexpr std::uint32_t kPartTiles = 4;
inline constexpr std::uint32_t kPartDocs = kPartTiles * kTileDocs;

// A query that a block scores, and where its results go.
struct ScoredQuery {
  const float* tiles = nullptr;
  std::uint32_t docs = 0;
  std::uint32_t features = 0;
  float* scores = nullptr;
  bool has_few = false;    // documents: it is scored in parts
  float* given = nullptr;  // then, what units give: [doc][padded unit]
};

// Of each kPartDocs documents: 16 units each, and the linear part's scores.
inline std::uint32_t parts_of_docs(const Network& network) {
  return network.padded_units / 16 + (network.linear != nullptr ? 1 : 0);
}
inline std::uint32_t parts_of(std::uint32_t docs, const Network& network) {
  return (docs + kPartDocs - 1) / kPartDocs * parts_of_docs(network);
}

// What 16 units give to all documents of kTiles tiles. Those past the query's last document are
// padding, which may be read.
template <unsigned kTiles>
[[gnu::always_inline]] inline void give_units(const Warp& warp, const ScoredQuery& query,
                                              const Network& network, std::uint32_t first,
                                              std::uint32_t first_unit) {
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const std::uint32_t first_doc = first + lane / kLanesPerDoc;
    const float* rows[kTiles];
    PLACKETT_UNROLL_ALL
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      rows[tile] = row_of(query.tiles, first_doc + tile * kTileDocs, network.width);
    }
    Quad sums[kTiles][1];
    multiply_units<kTiles == 4 ? 2 : 4>(rows, query.features, network, first_unit, lane, sums);
    activate_units(network, first_unit, lane, sums);
    PLACKETT_UNROLL_ALL
    for (unsigned tile = 0; tile < kTiles; ++tile) {
      const std::uint32_t doc = first_doc + tile * kTileDocs;
      if (doc >= query.docs) continue;
      float* given = query.given + std::size_t{doc} * network.padded_units;
      *reinterpret_cast<Quad*>(given + first_unit + unit_of(lane)) = sums[tile][0];
    }
  });
}

[[gnu::always_inline]] inline void score_part(const Warp& warp, const ScoredQuery& query,
                                              const Network& network, std::uint32_t part) {
  const std::uint32_t of_docs = parts_of_docs(network);
  const std::uint32_t first = part / of_docs * kPartDocs;
  const std::uint32_t first_unit = part % of_docs * 16;
  const std::uint32_t docs = query.docs - first < kPartDocs ? query.docs - first : kPartDocs;
  if (first_unit == network.padded_units) {
    Scored scored[1];
    score_docs(warp, query.tiles + feature_place(first, 0, network.width), docs, network.width,
               {.weights = network.linear, .scores = query.scores + first}, scored);
  } else if (docs > 3 * kTileDocs) {
    give_units<4>(warp, query, network, first, first_unit);
  } else if (docs > 2 * kTileDocs) {
    give_units<3>(warp, query, network, first, first_unit);
  } else if (docs > kTileDocs) {
    give_units<2>(warp, query, network, first, first_unit);
  } else {
    give_units<1>(warp, query, network, first, first_unit);
  }
}

// The scores of a tile, once all parts are done.
[[gnu::always_inline]] inline void sum_units(const Warp& warp, const ScoredQuery& query,
                                             const Network& network, std::uint32_t tile) {
  const std::uint32_t first = tile * kTileDocs;
  PerLane<Quad> sums;
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const std::uint32_t doc = first + lane / kLanesPerDoc;
    // Past the last document the first is summed again.
    const float* given = query.given +
                         std::size_t{doc < query.docs ? doc : first} * network.padded_units +
                         unit_of(lane);
    const float* output = network.output + unit_of(lane);
    Quad sum = {{0, 0, 0, 0}};
    const std::uint32_t units = unknown(network.padded_units);
    for (std::uint32_t unit = 0; unit < units; unit += 16) {
      const Quad value = read_shared_quad(given + unit);
      const Quad weight = read_shared_quad(output + unit);
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        sum.values[at] = multiply_add(value.values[at], weight.values[at], sum.values[at]);
      }
    }
    sums[lane] = sum;
  });
  const PerLane<float> of_doc = fold(warp, sums);
  warp.compute([&](unsigned lane) {
    const std::uint32_t doc = first + lane / kLanesPerDoc;
    if (lane % kLanesPerDoc != 0 || doc >= query.docs) return;
    query.scores[doc] = network.linear != nullptr ? query.scores[doc] + of_doc[lane] : of_doc[lane];
  });
}

// Warp `number`'s share of a query's scores. The first warp has the least to do.
[[gnu::always_inline]] inline void score_share(const Warp& warp, unsigned number, unsigned warps,
                                               const ScoredQuery& query, const Network& network) {
  const unsigned turn = warps - 1 - number;
  if (query.has_few) {
    for (std::uint32_t part = turn; part < parts_of(query.docs, network); part += warps) {
      score_part(warp, query, network, part);
    }
    return;
  }
  for (std::uint32_t batch = turn; batch < batches_of(query.docs); batch += warps) {
    score_batch(warp, query.tiles, query.docs, query.features, network, batch, query.scores);
  }
}

// What is left to do of few documents' scores, in a phase after that.
[[gnu::always_inline]] inline void sum_share(const Warp& warp, unsigned number, unsigned warps,
                                             const ScoredQuery& query, const Network& network) {
  for (std::uint32_t tile = number; tile * kTileDocs < query.docs; tile += warps) {
    sum_units(warp, query, network, tile);
  }
}

}  // namespace plackett::gpu
