// What runs with networks read, and where it lies.
#pragma once

#include <cstdint>

#include "plackett/activation.h"

namespace plackett::gpu {

// Warps of a block: one that does a run, or measures several.
inline constexpr std::uint32_t kNetworkWarps = 4;
// Likewise, of a block that a multiprocessor does alone: as many as there are registers for.
inline constexpr std::uint32_t kManyWarps = 16;
// Such blocks that a multiprocessor does at a time, at most.
inline constexpr std::uint32_t kNetworkBlocks = 4;
// What the first warp of a block tells the others: BlockState (gpu/learn_network.h).
inline constexpr std::uint32_t kBlockStateBytes = 64;

// Tiles that a block scores at a time when it measures, and the shared memory that this takes.
inline constexpr std::uint32_t kStepTiles = 16;
inline constexpr std::uint32_t kStepBytes =
    (2 * (kStepTiles * 128 + 16 * 64) + kStepTiles * 128) * 4;

// Where the parameters of a network of one hidden layer lie, in floats, and those of a linear part
// before them. Features and units are padded with zeros to multiples of 16.
struct NetworkLayout {
  std::uint32_t width = 0;         // padded features
  std::uint32_t units = 0;         // 0: no network
  std::uint32_t padded_units = 0;  // likewise
  std::uint32_t has_linear = 0;    // the linear part: [width], at 0
  std::uint32_t weights = 0;       // [width][padded_units]
  std::uint32_t biases = 0;        // [padded_units]
  std::uint32_t output = 0;        // likewise
  std::uint32_t size = 0;
  Activation activation = Activation::kSigmoid;

  constexpr NetworkLayout() = default;
  constexpr NetworkLayout(std::uint32_t padded_features, std::uint32_t unit_count,
                          Activation of_units, bool with_linear)
      : width(padded_features),
        units(unit_count),
        padded_units((unit_count + 15) / 16 * 16),
        has_linear(with_linear ? 1 : 0),
        weights(with_linear ? padded_features : 0),
        biases(weights + padded_features * padded_units),
        output(biases + padded_units),
        size(output + padded_units),
        activation(of_units) {}

  [[nodiscard]] constexpr bool exists() const { return units > 0; }
  // What AdaGrad keeps, one float for each parameter of the network, in their order.
  [[nodiscard]] constexpr std::uint32_t square_count() const { return size - weights; }

  constexpr bool operator==(const NetworkLayout&) const = default;
};

// Of a launch. A block's scratch begins with what others have per warp.
struct NetworkArgs {
  NetworkLayout layout = {};
  float* squares = nullptr;         // [run][layout.square_count()], or null: constant steps
  std::uint32_t block_state = 0;    // in shared memory
  std::uint32_t hidden = 0;         // what units give, then their deltas: in shared memory or
  bool hidden_is_spilled = false;   // in the spill
  std::uint32_t hidden_floats = 0;  // of each
  // Queries with up to so many documents are scored in parts (gpu/few_docs.h).
  std::uint32_t few_docs = 0;
  std::uint32_t given = 0;  // what units give to these, in shared memory: [doc][padded unit]
};

}  // namespace plackett::gpu
