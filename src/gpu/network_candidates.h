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
        units_(unknown(layout.units)),  // what follows from it is computed where it is needed
        linear_(layout.has_linear != 0 ? features : 0),
        weights_end_(linear_ + features * units_),
        inverse_units_(std::uint64_t{0xFFFFFFFFU / units_} + 1) {}

  [[nodiscard]] [[gnu::always_inline]] std::uint32_t operator()(std::uint32_t parameter) const {
    if (parameter < linear_) return parameter;
    std::uint32_t row = row_of(parameter);
    const std::uint32_t unit = parameter - linear_ - row * units_;
    // The biases and the output's weights follow the padded features.
    if (row >= features_) row += layout_.width - features_;
    return layout_.weights + row * layout_.padded_units + unit;
  }

  // Up to which parameter they lie side by side from this one on, if there are more.
  [[nodiscard]] [[gnu::always_inline]] std::uint32_t side_by_side(std::uint32_t parameter) const {
    if (parameter < linear_) return linear_;
    if (units_ != layout_.padded_units) return linear_ + (row_of(parameter) + 1) * units_;
    return parameter < weights_end_ ? weights_end_ : weights_end_ + 2 * units_;
  }

 private:
  // Of the network's: divided by the units, exact below 2^32 / units, which is more than shared
  // memory holds.
  [[nodiscard]] [[gnu::always_inline]] std::uint32_t row_of(std::uint32_t parameter) const {
    return static_cast<std::uint32_t>((parameter - linear_) * inverse_units_ >> 32);
  }

  const NetworkLayout& layout_;
  std::uint32_t features_;
  std::uint32_t units_;
  std::uint32_t linear_;         // parameters before the network's
  std::uint32_t weights_end_;    // ... and before the biases
  std::uint64_t inverse_units_;  // 2^32 over the units, rounded up
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
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    PLACKETT_UNROLL(2)
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

// Adds the squares of `count` numbers to a sum: those of every sixteenth place from `at` on. One
// sum waits for the other, so numbers are read while the ones before are added.
[[gnu::always_inline]] inline void add_squares(const float* from, std::uint32_t count,
                                               std::uint32_t at, float& sum) {
  constexpr unsigned kAtOnce = 16;
  constexpr std::uint32_t kStep = 16 * kAtOnce;
  const std::uint32_t steps = count / kStep;  // at which each lane has kAtOnce numbers
  from += at;
  float next[kAtOnce];
  const auto read = [&] {
    PLACKETT_UNROLL_ALL
    for (unsigned number = 0; number < kAtOnce; ++number) next[number] = from[number * 16];
  };
  if (steps > 0) read();
  for (std::uint32_t step = 0; step < steps; ++step) {
    float numbers[kAtOnce];
    PLACKETT_UNROLL_ALL
    for (unsigned number = 0; number < kAtOnce; ++number) numbers[number] = next[number];
    if (step + 1 < steps) from += kStep;  // the last are read again
    read();
    PLACKETT_UNROLL_ALL
    for (const float number : numbers) sum = multiply_add(number, number, sum);
  }
  if (steps > 0) from += kStep;
  PLACKETT_UNROLL(4)
  for (at += steps * kStep; at < count; at += 16, from += 16) {
    sum = multiply_add(*from, *from, sum);
  }
}

// 1 / the direction's length, or 0, in the order of Kernels::dot_rows: half a warp does it.
[[gnu::always_inline]] inline float inverse_length(const Warp& warp, const RunData& run,
                                                   const NetworkLayout& layout,
                                                   const float* direction) {
  const ParameterPlaces place_of(layout, run.features);
  PerLane<float> squares;
  warp.compute([&](unsigned lane) PLACKETT_INLINE {
    squares[lane] = 0;
    if (lane >= 16) return;
    float sum = 0;
    std::uint32_t end = 0;
    for (std::uint32_t begin = 0; begin < run.duels.parameters; begin = end) {
      end = place_of.side_by_side(begin);
      add_squares(direction + place_of(begin), end - begin, (lane - begin) % 16, sum);
    }
    squares[lane] = sum;
  });
  for (unsigned distance = 8; distance > 0; distance /= 2) add_at_distance(warp, squares, distance);
  const float square = warp.from(squares, 0);
  return square > 0 ? 1.0F / square_root(square) : 0.0F;
}

}  // namespace plackett::gpu
