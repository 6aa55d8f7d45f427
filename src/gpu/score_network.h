// The scores of all documents of a split for a network of one hidden layer, with the bits of
// gpu/network.h, as gpu/score_split.h has those of linear rankers.
//
// A block does kStepTiles tiles by 64 units at a time: 16 features of the documents and the units'
// weights lie in shared memory while the next 16 are on their way. A warp does a quarter of the
// documents. A lane has eight documents by eight units in registers; of each 16 units, two: the
// virtual lanes that it alone sums.
#pragma once

#include "gpu/block.h"
#include "gpu/network.h"

namespace plackett::gpu {

inline constexpr unsigned kUnitLanes = 8;  // lanes that share their documents
inline constexpr unsigned kDocLanes = kWarpLanes / kUnitLanes;
inline constexpr unsigned kStepDocs = 8;    // of a lane
inline constexpr unsigned kStepUnits = 64;  // of a block
inline constexpr unsigned kStepChunks = kStepUnits / 16;
static_assert(kStepDocs == kUnitLanes);
static_assert(kStepDocs * kDocLanes * kNetworkWarps == kStepTiles * kTileDocs);
inline constexpr unsigned kWarpTiles = kStepTiles / kNetworkWarps;

// The first of a lane's two units among each 16.
inline std::uint32_t first_of_two(unsigned lane) { return 2 * (lane % kUnitLanes); }

// The 16 virtual lanes of a document lie in eight lanes, two each; all eight get its score.
inline PerLane<float> fold(const Warp& warp, const PerLane<Pair>& sums) {
  PerLane<float> parts[2];
  warp.compute([&](unsigned lane) {
    for (unsigned at = 0; at < 2; ++at) parts[at][lane] = sums[lane].values[at];
  });
  PLACKETT_UNROLL_ALL
  for (auto& part : parts) {
    for (unsigned distance = kUnitLanes / 2; distance > 0; distance /= 2) {
      add_at_distance(warp, part, distance);
    }
  }
  add(warp, parts[0], parts[1]);
  return parts[0];
}

// Two buffers: 16 features of the block's documents, tile by tile, and of the units' weights.
struct StepBuffers {
  StepBuffers() = default;
  explicit StepBuffers(float* shared) : floats(shared) {}

  [[nodiscard]] float* features(std::uint32_t chunk, unsigned warp) const {
    return floats + chunk % 2 * kFloats + warp * kWarpTiles * kTileFloats;
  }
  [[nodiscard]] float* weights(std::uint32_t chunk) const {
    return floats + chunk % 2 * kFloats + kWeights;
  }

  // A lane's two virtual lanes of the score of one of its documents.
  [[nodiscard]] float* sums(unsigned warp, unsigned doc, unsigned lane) const {
    return floats + 2 * kFloats + ((warp * kStepDocs + doc) * kWarpLanes + lane) * 2;
  }

  static constexpr unsigned kTileFloats = 16 * kTileDocs;
  static constexpr unsigned kWeights = kStepTiles * kTileFloats;  // where these begin
  static constexpr unsigned kFloats = kWeights + 16 * kStepUnits;
  static_assert(kStepBytes == (2 * kFloats + kStepTiles * kTileDocs * 16) * sizeof(float));

  float* floats = nullptr;
};

// What a lane copies of each 16 features, one chunk after another.
class StepReader {
 public:
  StepReader() = default;
  // Of the tiles at `rows`, `tiles` of them, and of the units from `first_unit` on.
  StepReader(const float* rows, std::uint32_t tiles, const Network& network,
             std::uint32_t first_unit, const StepBuffers& buffers, unsigned warp, unsigned lane)
      : rows_(rows + lane * 4), stride_(network.padded_units), buffers_(buffers) {
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kWarpTiles; ++at) {
      // Past the last tile the first is read again.
      const std::uint32_t tile = warp * kWarpTiles + at;
      tiles_[at] = (tile < tiles ? tile : 0) * static_cast<std::uint32_t>(tile_size(network.width));
    }
    features_to_ = warp * kWarpTiles * StepBuffers::kTileFloats + lane * 4;
    // Units in the order of lanes, each lane's of two chunks side by side.
    const unsigned chunk = lane / kUnitLanes;
    const std::uint32_t unit = first_unit + chunk * 16;
    weights_ = network.weights + warp * kFeatures * stride_ + (unit < stride_ ? unit : first_unit) +
               first_of_two(lane);
    weights_to_ = StepBuffers::kWeights + warp * kFeatures * kStepUnits +
                  chunk / 2 * (kUnitLanes * 4) + lane % kUnitLanes * 4 + chunk % 2 * 2;
  }

  // The next chunk, to this buffer.
  [[gnu::always_inline]] void read(std::uint32_t buffer) {
    float* to = buffers_.floats + buffer * StepBuffers::kFloats;
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kWarpTiles; ++at) {
      copy_quad_ahead(rows_ + tiles_[at], to + features_to_ + at * StepBuffers::kTileFloats);
    }
    PLACKETT_UNROLL_ALL
    for (unsigned at = 0; at < kFeatures; ++at) {
      copy_pair_ahead(weights_ + at * stride_, to + weights_to_ + at * kStepUnits);
    }
    rows_ += StepBuffers::kTileFloats;
    weights_ += 16 * stride_;
  }

 private:
  static constexpr unsigned kFeatures = 16 / kNetworkWarps;  // whose weights a warp copies

  const float* rows_;
  const float* weights_;
  std::uint32_t stride_;
  std::uint32_t tiles_[kWarpTiles];
  std::uint32_t features_to_;
  std::uint32_t weights_to_;
  StepBuffers buffers_;
};

using UnitSums = PerLane<Pair>[kStepDocs][kStepChunks];

// Adds `quads` * 4 features of a chunk.
[[gnu::always_inline]] inline void multiply_chunk(const Warp& warp, const float* features,
                                                  const float* weights, std::uint32_t quads,
                                                  UnitSums& sums) {
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    const float* own_features = features + lane / kUnitLanes * 16;
    const float* own_weights = weights + lane % kUnitLanes * 4;
    PLACKETT_UNROLL(1)
    for (std::uint32_t quad = 0; quad < quads; ++quad) {
      Quad values[kStepDocs];
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kStepDocs; ++doc) {
        values[doc] = read_shared_quad(own_features + doc * (16 * kDocLanes) + quad * 4);
      }
      PLACKETT_UNROLL_ALL
      for (unsigned part = 0; part < 4; ++part) {
        const float* of_feature = own_weights + (quad * 4 + part) * kStepUnits;
        PLACKETT_UNROLL_ALL
        for (unsigned chunk = 0; chunk < kStepChunks; chunk += 2) {
          const Quad weight = read_shared_quad(of_feature + chunk / 2 * (kUnitLanes * 4));
          PLACKETT_UNROLL_ALL
          for (unsigned doc = 0; doc < kStepDocs; ++doc) {
            PLACKETT_UNROLL_ALL
            for (unsigned at = 0; at < 4; ++at) {
              float& sum = sums[doc][chunk + at / 2][lane].values[at % 2];
              sum = multiply_add(values[doc].values[part], weight.values[at], sum);
            }
          }
        }
      }
    }
  });
}

// Of numbers so small, the sigmoid needs no tests for what exp or its reciprocal can't give.
inline constexpr float kQuickSigmoids = 87;

// Adds what the units give to a warp's virtual lanes of the scores, in shared memory.
[[gnu::always_inline]] inline void add_activated(const Warp& warp, unsigned number,
                                                 const Network& network, std::uint32_t first_unit,
                                                 const StepBuffers& buffers, UnitSums& sums) {
  const auto each = [&](const auto& activated) PLACKETT_INLINE {
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      Pair weights[kStepChunks];
      PLACKETT_UNROLL_ALL
      for (unsigned chunk = 0; chunk < kStepChunks; ++chunk) {
        const std::uint32_t unit = first_unit + chunk * 16;
        weights[chunk] = {{0, 0}};
        if (unit < network.padded_units)
          weights[chunk] = load_pair(network.output + unit + first_of_two(lane));
      }
      PLACKETT_UNROLL_ALL
      for (unsigned doc = 0; doc < kStepDocs; ++doc) {
        float* kept = buffers.sums(number, doc, lane);
        Pair score = read_pair(kept);
        PLACKETT_UNROLL_ALL
        for (unsigned chunk = 0; chunk < kStepChunks; ++chunk) {
          PLACKETT_UNROLL_ALL
          for (unsigned at = 0; at < 2; ++at) {
            score.values[at] = multiply_add(activated(sums[doc][chunk][lane].values[at]),
                                            weights[chunk].values[at], score.values[at]);
          }
        }
        *reinterpret_cast<Pair*>(kept) = score;
      }
    });
  };
  if (network.activation == Activation::kSigmoid) {
    PerLane<bool> large;
    warp.compute([&](unsigned lane) PLACKETT_INLINE {
      float most = 0;
      PLACKETT_UNROLL_ALL
      for (auto& of_doc : sums) {
        PLACKETT_UNROLL_ALL
        for (auto& two : of_doc) {
          most = larger_size(two[lane].values[0], larger_size(two[lane].values[1], most));
        }
      }
      large[lane] = !(most <= kQuickSigmoids);
    });
    if (warp.any(large)) {
      each([](float x) { return portable_sigmoid(x); });
    } else {
      each([](float x) { return reciprocal(activation_parts::exp_plus_1(-x)); });
    }
  } else if (network.activation == Activation::kTanh) {
    each([](float x) { return portable_tanh(x); });
  } else {
    each([](float x) { return portable_activation(Activation::kRelu, x); });
  }
}

// The scores of the documents of kStepTiles tiles at most, `tiles` of them, by all warps: to
// `to`, as scores_of. If the network has a linear part, its scores are there.
[[gnu::always_inline]] inline void score_step(const Block& block, const Network& network,
                                              std::uint32_t features, const float* rows,
                                              std::uint32_t tiles, const StepBuffers& buffers,
                                              float* to) {
  const std::uint32_t chunks = (features + 15) / 16;
  PerWarp<UnitSums> sums;
  block.each_warp([&](const Warp& warp, unsigned number) {
    warp.compute([&](unsigned lane) {
      for (unsigned doc = 0; doc < kStepDocs; ++doc) {
        *reinterpret_cast<Pair*>(buffers.sums(number, doc, lane)) = {{0, 0}};
      }
    });
  });
  for (std::uint32_t unit = 0; unit < network.padded_units; unit += kStepUnits) {
    PerWarp<PerLane<StepReader>> readers;
    block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      warp.compute([&](unsigned lane) PLACKETT_INLINE {
        readers[number][lane] = StepReader(rows, tiles, network, unit, buffers, number, lane);
        readers[number][lane].read(0);
        PLACKETT_UNROLL_ALL
        for (unsigned chunk = 0; chunk < kStepChunks; ++chunk) {
          const std::uint32_t of_chunk = unit + chunk * 16;
          const Pair bias =
              load_pair(network.biases + (of_chunk < network.padded_units ? of_chunk : unit) +
                        first_of_two(lane));
          PLACKETT_UNROLL_ALL
          for (auto& of_doc : sums[number]) of_doc[chunk][lane] = bias;
        }
        wait_for_copies();
      });
    });
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
        warp.compute([&](unsigned lane) PLACKETT_INLINE {
          if (chunk + 1 < chunks) readers[number][lane].read((chunk + 1) % 2);
        });
        const std::uint32_t left = (features + 3) / 4 - chunk * 4;
        multiply_chunk(warp, buffers.features(chunk, number), buffers.weights(chunk),
                       left < 4 ? left : 4, sums[number]);
        wait_for_copies();
      });
    }
    block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
      add_activated(warp, number, network, unit, buffers, sums[number]);
    });
  }
  block.each_warp([&](const Warp& warp, unsigned number) PLACKETT_INLINE {
    PerLane<float> scores;  // a lane's: of one of its documents
    PLACKETT_UNROLL_ALL
    for (unsigned doc = 0; doc < kStepDocs; ++doc) {
      PerLane<Pair> kept;
      warp.compute([&](unsigned lane) { kept[lane] = read_pair(buffers.sums(number, doc, lane)); });
      const PerLane<float> score = fold(warp, kept);
      warp.compute([&](unsigned lane) {
        if (lane % kUnitLanes == doc) scores[lane] = score[lane];
      });
    }
    warp.compute([&](unsigned lane) {
      const std::uint32_t row =
          (number * kStepDocs + lane % kUnitLanes) * kDocLanes + lane / kUnitLanes;
      if (row >= tiles * kTileDocs) return;
      float& score = to[std::size_t{row} * kScoreRow];
      score = network.linear != nullptr ? score + scores[lane] : scores[lane];
    });
  });
}

// Of the run at `place` of those that take part: args.tiles_each tiles from `first_tile` on.
[[gnu::always_inline]] inline void score_network(const Block& block, const BatchArgs& args,
                                                 std::uint32_t place, std::uint32_t first_tile,
                                                 std::byte* shared) {
  const std::uint32_t which = args.which[place];
  const SplitData split = args.runs[which].measured;
  const Network network(args.weights + std::uint64_t{which} * args.weight_stride,
                        args.network.layout);
  std::uint32_t last_tile = first_tile + args.tiles_each;
  if (last_tile > args.tile_count) last_tile = args.tile_count;
  for (std::uint32_t tile = first_tile; tile < last_tile; tile += kStepTiles) {
    const std::uint32_t tiles = last_tile - tile < kStepTiles ? last_tile - tile : kStepTiles;
    score_step(block, network, args.runs[which].features,
               split.rows + tile * tile_size(split.width), tiles,
               StepBuffers(at_offset<float>(shared, 0)), scores_of(args, place, tile));
  }
}

}  // namespace plackett::gpu
