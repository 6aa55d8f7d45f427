// The inner loops, once in plain C++ and once a vector instruction set, picked at run time.
//
// AVX2 and AVX-512 give the same bits: every sum runs over 16 virtual lanes in one fixed order
// with fused multiply-add. Plain C++ and SSE4 do not fuse, and differ from these within
// kKernelTolerance relative to the sum of the terms' magnitudes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plackett {

// Widths and column counts are multiples of this many floats; buffers start at 64-byte
// boundaries.
inline constexpr std::size_t kLanes = 16;

inline constexpr double kKernelTolerance = 4e-6;

enum class Activation : std::uint8_t { kSigmoid, kRelu, kTanh };

struct Kernels {
  std::string_view name;  // "scalar", "sse4", "avx2", "avx512"

  // out[r] = sum over f of rows[r * width + f] * weights[f].
  void (*dot_rows)(const float* rows, std::size_t row_count, std::size_t width,
                   const float* weights, float* out);

  // y[f] += sum over r of scales[r] * rows[r][f], in the order of r.
  void (*add_scaled_rows)(const float* const* rows, const float* scales, std::size_t row_count,
                          std::size_t width, float* y);

  // out[r * columns + c] = bias[c] + sum over f of rows[r * width + f] * weights[f * columns + c].
  void (*multiply)(const float* rows, std::size_t row_count, std::size_t width,
                   const float* weights, std::size_t columns, const float* bias, float* out);

  // weights[f * columns + c] += scale * sum over r of rows[r * width + f] * deltas[r * columns +
  // c].
  void (*add_outer)(const float* rows, const float* deltas, std::size_t row_count,
                    std::size_t width, std::size_t columns, float scale, float* weights);

  // Applies the activation in place to `count` values, a multiple of kLanes.
  void (*activate)(Activation activation, float* values, std::size_t count);

  // masses[i] = exp(scores[i] - max) and returns max, the largest score. Requires count > 0
  // and finite scores; any alignment.
  double (*exp_from_max)(const float* scores, std::size_t count, double* masses);
};

// The fastest set for this machine. The environment variable PLACKETT_SIMD (one of the names)
// forces another; an unknown or unsupported one is ignored. Same answer on every call.
const Kernels& kernels();

// Every set that this machine can run, slowest first.
std::span<const Kernels* const> all_kernels();

}  // namespace plackett
