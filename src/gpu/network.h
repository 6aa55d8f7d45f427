// A network of one hidden layer: its scores, with the bits of NeuralRanker and
// LinearPlusNeuralRanker (src/ranker). A unit's sum starts at its bias and takes the features in
// order, fused, as Kernels::multiply does. The units are summed as Kernels::dot_rows does: 16
// virtual lanes, fused, then halved until four sums are left, (f0 + f2) + (f1 + f3) of which is the
// score.
//
// Lanes lie as in gpu/score.h: four do a document, four virtual lanes each. A warp does kBatchDocs
// documents by up to 64 units at a time, all sums in registers.
#pragma once

#include "base/portable_activation.h"
#include "gpu/run_data.h"
#include "gpu/score.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// Documents of a lane: with 64 units it has 32 sums. Twice as many are no faster: what else a block
// needs from phase to phase would leave the registers.
inline constexpr unsigned kDocsPerLane = 2;
inline constexpr std::uint32_t kBatchDocs = kDocsPerLane * kTileDocs;

constexpr std::uint32_t batches_of(std::uint32_t docs) {
  return (docs + kBatchDocs - 1) / kBatchDocs;
}

// A run's parameters.
struct Network {
  Network(float* parameters, const NetworkLayout& layout)
      : linear(layout.has_linear != 0 ? parameters : nullptr),
        weights(parameters + layout.weights),
        biases(parameters + layout.biases),
        output(parameters + layout.output),
        width(layout.width),
        units(layout.units),
        padded_units(layout.padded_units),
        activation(layout.activation) {}

  float* linear;  // the linear part's weights, or null
  float* weights;
  float* biases;
  float* output;
  std::uint32_t width;
  std::uint32_t units;
  std::uint32_t padded_units;
  Activation activation;
};

// The first of a lane's four units among each 16.
inline std::uint32_t unit_of(unsigned lane) { return 4 * (lane % kLanesPerDoc); }

// Where a document's features lie; those of chunk c are c * kTileDocs * 16 floats further on.
inline const float* row_of(const float* tiles, std::uint32_t doc, std::uint32_t width) {
  return tiles + feature_place(doc, 0, width);
}

// The document whose features begin so far from the query's.
inline std::uint32_t doc_of_row(std::uint32_t place, std::uint32_t width) {
  const auto tile = static_cast<std::uint32_t>(tile_size(width));
  return place / tile * kTileDocs + place % tile / 16;
}

// One lane's sums of kChunks * 16 units from `first_unit` on for its documents' rows, over the
// first `features` of them. So many loads of each row are under way while others are added, if
// kAhead > 0. Requires: features <= network.width.
template <unsigned kAhead, unsigned kDocs, unsigned kChunks>
[[gnu::always_inline]] inline void multiply_units(const float* const (&rows)[kDocs],
                                                  std::uint32_t features, const Network& network,
                                                  std::uint32_t first_unit, unsigned lane,
                                                  Quad (&sums)[kDocs][kChunks]) {
  constexpr unsigned kChunkQuads = 4;
  constexpr std::size_t kChunkStep = std::size_t{kTileDocs} * 16;
  const std::uint32_t own = first_unit + unit_of(lane);
  auto weights = [&] {
    // The compiler divides reads of one chunk; those of several lie at fixed distances.
    if constexpr (kChunks == 1) {
      return in_shared(network.weights + own);
    } else {
      return static_cast<const float*>(network.weights + own);
    }
  }();
  PLACKETT_UNROLL_ALL
  for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
    const Quad bias = read_shared_quad(network.biases + own + chunk * 16);
    for (auto& of_doc : sums) of_doc[chunk] = bias;
  }
  const auto add_four = [&](const Quad(&values)[kDocs], std::uint32_t count) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (unsigned part = 0; part < 4; ++part) {
      if (part >= count) break;
      PLACKETT_UNROLL_ALL
      for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
        const Quad weight = read_shared_quad(weights + chunk * 16);
        PLACKETT_UNROLL_ALL
        for (unsigned doc = 0; doc < kDocs; ++doc) {
          PLACKETT_UNROLL_ALL
          for (unsigned at = 0; at < 4; ++at) {
            float& sum = sums[doc][chunk].values[at];
            sum = multiply_add(values[doc].values[part], weight.values[at], sum);
          }
        }
      }
      weights += network.padded_units;
    }
  };
  const auto load = [&](std::size_t offset, Quad(&values)[kDocs]) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (unsigned doc = 0; doc < kDocs; ++doc) values[doc] = load_quad(rows[doc] + offset);
  };
  const auto load_and_add = [&](std::size_t offset, std::uint32_t count) PLACKETT_INLINE {
    Quad values[kDocs];
    load(offset, values);
    add_four(values, count);
  };
  Quad ahead[kAhead + 1][kDocs];  // the last is not used
  PLACKETT_UNROLL_ALL
  for (unsigned quad = 0; quad < kAhead; ++quad) load(std::size_t{quad} * 4, ahead[quad]);
  std::size_t offset = 0;  // of the next feature, in a row
  std::uint32_t feature = 0;
  for (; feature + 16 <= features; feature += 16) {
    // After the last chunk it is read again.
    const std::size_t next = feature + 16 < network.width ? offset + kChunkStep : offset;
    PLACKETT_UNROLL_ALL
    for (unsigned quad = 0; quad < kChunkQuads; ++quad) {
      if constexpr (kAhead > 0) {
        const unsigned later = quad + kAhead;
        add_four(ahead[quad % kAhead], 4);
        load((later < kChunkQuads ? offset : next) + std::size_t{later % kChunkQuads} * 4,
             ahead[quad % kAhead]);
      } else {
        load_and_add(offset + std::size_t{quad} * 4, 4);
      }
    }
    offset += kChunkStep;
  }
  for (; feature < features; feature += 4, offset += 4) load_and_add(offset, features - feature);
}

// What the units give: 0 for those of the padding.
template <unsigned kDocs, unsigned kChunks>
[[gnu::always_inline]] inline void activate_units(const Network& network, std::uint32_t first_unit,
                                                  unsigned lane, Quad (&sums)[kDocs][kChunks]) {
  const auto each = [&](const auto& activated) PLACKETT_INLINE {
    PLACKETT_UNROLL_ALL
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      PLACKETT_UNROLL_ALL
      for (unsigned at = 0; at < 4; ++at) {
        const bool is_unit = first_unit + chunk * 16 + unit_of(lane) + at < network.units;
        PLACKETT_UNROLL_ALL
        for (auto& of_doc : sums) {
          float& value = of_doc[chunk].values[at];
          value = is_unit ? activated(value) : 0.0F;
        }
      }
    }
  };
  if (network.activation == Activation::kSigmoid) {
    each([](float x) { return portable_sigmoid(x); });
  } else if (network.activation == Activation::kTanh) {
    each([](float x) { return portable_tanh(x); });
  } else {
    each([](float x) { return portable_activation(Activation::kRelu, x); });
  }
}

// Adds kChunks * 16 units to the virtual lanes of the batch's scores.
template <unsigned kChunks>
[[gnu::always_inline]] inline void add_units(const Warp& warp,
                                             const PerLane<const float*> (&rows)[kDocsPerLane],
                                             std::uint32_t features, const Network& network,
                                             std::uint32_t first_unit,
                                             PerLane<Quad> (&scores)[kDocsPerLane]) {
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const float* own_rows[kDocsPerLane];
    for (unsigned doc = 0; doc < kDocsPerLane; ++doc) own_rows[doc] = rows[doc][lane];
    Quad sums[kDocsPerLane][kChunks];
    multiply_units<0>(own_rows, features, network, first_unit, lane, sums);
    activate_units(network, first_unit, lane, sums);
    const float* output = network.output + first_unit + unit_of(lane);
    PLACKETT_UNROLL_ALL
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      const Quad weight = read_shared_quad(output + chunk * 16);
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kDocsPerLane; ++doc) {
        PLACKETT_UNROLL_ALL
        for (unsigned at = 0; at < 4; ++at) {
          float& sum = scores[doc][lane].values[at];
          sum = multiply_add(sums[doc][chunk].values[at], weight.values[at], sum);
        }
      }
    }
  });
}

// The scores of batch `batch` of a query's documents: kBatchDocs from batch * kBatchDocs on, or
// what is left. `tiles` are the query's.
[[gnu::always_inline]] inline void score_batch(const Warp& warp, const float* tiles,
                                               std::uint32_t docs, std::uint32_t features,
                                               const Network& network, std::uint32_t batch,
                                               float* scores) {
  const std::uint32_t first = batch * kBatchDocs;
  if (network.linear != nullptr) {
    Scored scored[1];
    score_docs(warp, tiles + feature_place(first, 0, network.width),
               docs - first < kBatchDocs ? docs - first : kBatchDocs, network.width,
               {.weights = network.linear, .scores = scores + first}, scored);
  }
  const auto doc_of = [first](unsigned lane, unsigned at) {
    return first + at * kTileDocs + lane / kLanesPerDoc;
  };
  PerLane<const float*> rows[kDocsPerLane];
  PerLane<Quad> sums[kDocsPerLane];
  warp.compute([&](unsigned lane) {
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kDocsPerLane; ++at) {
      // Past the last document the first is read again.
      const std::uint32_t doc = doc_of(lane, at);
      rows[at][lane] = row_of(tiles, doc < docs ? doc : first, network.width);
      sums[at][lane] = {{0, 0, 0, 0}};
    }
  });
  std::uint32_t unit = 0;
  for (; unit + 64 <= network.padded_units; unit += 64) {
    add_units<4>(warp, rows, features, network, unit, sums);
  }
  for (; unit < network.padded_units; unit += 16) {
    add_units<1>(warp, rows, features, network, unit, sums);
  }
  PLACKETT_UNROLL_ALL
  for (unsigned at = 0; at < kDocsPerLane; ++at) {
    const PerLane<float> of_doc = fold(warp, sums[at]);
    warp.compute([&](unsigned lane) {
      const std::uint32_t doc = doc_of(lane, at);
      if (lane % kLanesPerDoc != 0 || doc >= docs) return;
      scores[doc] = network.linear != nullptr ? scores[doc] + of_doc[lane] : of_doc[lane];
    });
  }
}

// The highest of the scores, and whether they are finite.
inline Scored look_at_scores(const Warp& warp, const float* scores, std::uint32_t docs) {
  PerLane<float> highest;
  PerLane<bool> bad;
  warp.compute([&](unsigned lane) {
    highest[lane] = -__builtin_inff();
    bad[lane] = false;
    for (std::uint32_t doc = lane; doc < docs; doc += kWarpLanes) {
      const float score = scores[doc];
      bad[lane] = bad[lane] || 0.0F * score != 0.0F;
      if (score > highest[lane]) highest[lane] = score;
    }
  });
  return {.highest = largest(warp, highest), .finite = !warp.any(bad)};
}

}  // namespace plackett::gpu
