// Candidate networks: the current one, moved along random directions over all its parameters, with
// the bits of Candidates (learner/candidates.h). A direction's numbers are drawn in the order of
// Ranker::get_parameters() and lie where the parameters do.
#pragma once

#include "gpu/candidates.h"
#include "gpu/network_data.h"
#include "gpu/warp.h"

namespace plackett::gpu {

// Where parameters lie, one after another in the order of Ranker::get_parameters().
class ParameterWalk {
 public:
  // From that parameter on; before the first one, place() must not be asked.
  [[gnu::always_inline]] ParameterWalk(const NetworkLayout& layout, std::uint32_t features,
                                       std::int32_t parameter)
      : layout_(layout),
        features_(features),
        linear_(layout.has_linear != 0 ? features : 0),
        unit_(parameter - static_cast<std::int32_t>(linear_)) {
    if (unit_ < 0) return;
    const auto units = static_cast<std::int32_t>(layout.units);
    row_ = static_cast<std::uint32_t>(unit_ / units);
    unit_ %= units;
  }

  [[gnu::always_inline]] void advance(std::int32_t count) {
    const auto units = static_cast<std::int32_t>(layout_.units);
    for (unit_ += count; unit_ >= units; unit_ -= units) ++row_;
  }

  [[nodiscard]] [[gnu::always_inline]] std::uint32_t place() const {
    if (unit_ < 0) return linear_ + static_cast<std::uint32_t>(unit_);
    // The biases and the output's weights follow the padded features.
    const std::uint32_t row = row_ < features_ ? row_ : row_ - features_ + layout_.width;
    return layout_.weights + row * layout_.padded_units + static_cast<std::uint32_t>(unit_);
  }

 private:
  const NetworkLayout& layout_;
  std::uint32_t features_;
  std::uint32_t linear_;  // parameters before the network's
  std::int32_t unit_;     // of the row; below 0: of the linear part, from its end
  std::uint32_t row_ = 0;
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
  warp.compute([&](unsigned lane) {
    for (std::uint32_t block = begin / 64 * 16 + first_thread + lane; block < end_block;
         block += threads) {
      const Quad normals = normals_of_block(run, impression, block);
      auto parameter = static_cast<std::int32_t>(block / 16 * 64 + block % 16 - begin);
      ParameterWalk walk(layout, run.features, parameter);
      PLACKETT_UNROLL_ALL
      for (const float normal : normals.values) {
        // The first and the last group may be cut short.
        if (parameter >= 0 && parameter < static_cast<std::int32_t>(parameters)) {
          direction[walk.place()] = normal;
        }
        parameter += 16;
        walk.advance(16);
      }
    }
  });
}

// 1 / the direction's length, or 0, in the order of Kernels::dot_rows: half a warp does it.
[[gnu::always_inline]] inline float inverse_length(const Warp& warp, const RunData& run,
                                                   const NetworkLayout& layout,
                                                   const float* direction) {
  PerLane<float> squares;
  warp.compute([&](unsigned lane) {
    squares[lane] = 0;
    if (lane >= 16) return;
    ParameterWalk walk(layout, run.features, static_cast<std::int32_t>(lane));
    for (std::uint32_t at = lane; at < run.duels.parameters; at += 16) {
      const float value = direction[walk.place()];
      squares[lane] = multiply_add(value, value, squares[lane]);
      walk.advance(16);
    }
  });
  for (unsigned distance = 8; distance > 0; distance /= 2) add_at_distance(warp, squares, distance);
  const float square = warp.from(squares, 0);
  return square > 0 ? 1.0F / square_root(square) : 0.0F;
}

}  // namespace plackett::gpu
