// Candidate networks: the current one, moved along random directions over all its parameters, with
// the bits of Candidates (learner/candidates.h). A direction's numbers are drawn in the order of
// Ranker::get_parameters() and lie where the parameters do.
#pragma once

#include "gpu/candidates.h"
#include "gpu/network_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// Where parameters lie, by their places in the order of Ranker::get_parameters().
class ParameterPlaces {
 public:
  [[gnu::always_inline]] ParameterPlaces(const NetworkLayout& layout, std::uint32_t features)
      : layout_(layout),
        features_(features),
        linear_(layout.has_linear != 0 ? features : 0),
        inverse_units_(std::uint64_t{0xFFFFFFFFU / layout.units} + 1) {}

  [[nodiscard]] [[gnu::always_inline]] std::uint32_t operator()(std::uint32_t parameter) const {
    if (parameter < linear_) return parameter;
    const std::uint32_t of_network = parameter - linear_;
    // Divided by the units: exact below 2^32 / units, which is more than shared memory holds.
    std::uint32_t row = static_cast<std::uint32_t>(of_network * inverse_units_ >> 32);
    const std::uint32_t unit = of_network - row * layout_.units;
    // The biases and the output's weights follow the padded features.
    if (row >= features_) row += layout_.width - features_;
    return layout_.weights + row * layout_.padded_units + unit;
  }

 private:
  const NetworkLayout& layout_;
  std::uint32_t features_;
  std::uint32_t linear_;         // parameters before the network's
  std::uint64_t inverse_units_;  // 2^32 over them, rounded up
};

// Numbers that a candidate's direction takes of the normals: its own, and padding.
constexpr std::uint32_t direction_stride(std::uint32_t parameters) {
  return round_up(parameters, 16);
}

// Writes a candidate's direction, normals; the padding stays. Of `threads` threads, lane l of this
// warp is thread first_thread + l.
[[gnu::always_inline]] inline void draw_network_direction(
    const Warp& warp, std::uint32_t first_thread, std::uint32_t threads, const RunData& run,
    const NetworkLayout& layout, std::uint64_t impression, std::uint32_t candidate,
    float* direction) {
  const std::uint32_t parameters = run.duels.parameters;
  const std::uint32_t begin = candidate * direction_stride(parameters);
  const std::uint32_t end_block = (begin + parameters + 63) / 64 * 16;
  const ParameterPlaces place_of(layout, run.features);
  warp.compute([&](unsigned lane) {
    for (std::uint32_t block = begin / 64 * 16 + first_thread + lane; block < end_block;
         block += threads) {
      const Quad normals = normals_of_block(run, impression, block);
      std::uint32_t parameter = block / 16 * 64 + block % 16 - begin;
      PLACKETT_UNROLL_ALL
      for (const float normal : normals.values) {
        // The first and the last group may be cut short: before the first, it is huge.
        if (parameter < parameters) direction[place_of(parameter)] = normal;
        parameter += 16;
      }
    }
  });
}

// 1 / the direction's length, or 0, in the order of Kernels::dot_rows: half a warp does it.
[[gnu::always_inline]] inline float inverse_length(const Warp& warp, const RunData& run,
                                                   const NetworkLayout& layout,
                                                   const float* direction) {
  PerLane<float> squares;
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    squares[lane] = 0;
    if (lane >= 16) return;
    std::uint32_t begin = 0;  // of the row, among the parameters
    const auto add_row = [&](const float* row, std::uint32_t count) PLACKETT_INLINE {
      PLACKETT_UNROLL(4)
      for (std::uint32_t at = (lane - begin) % 16; at < count; at += 16) {
        squares[lane] = multiply_add(row[at], row[at], squares[lane]);
      }
      begin += count;
    };
    if (layout.has_linear != 0) add_row(direction, run.features);
    const float* row = direction + layout.weights;
    for (std::uint32_t feature = 0; feature < run.features; ++feature) {
      add_row(row, layout.units);
      row += layout.padded_units;
    }
    add_row(direction + layout.biases, layout.units);
    add_row(direction + layout.output, layout.units);
  });
  for (unsigned distance = 8; distance > 0; distance /= 2) add_at_distance(warp, squares, distance);
  const float square = warp.from(squares, 0);
  return square > 0 ? 1.0F / square_root(square) : 0.0F;
}

}  // namespace plackett::gpu
