// The inner loops, in plain C++ and once per vector instruction set, picked at run time.
//
// AVX2 and AVX-512 give the same bits: every sum runs over 16 virtual lanes in one fixed order
// with fused multiply-add. Plain C++ and SSE4 do not fuse, and differ from these within
// kKernelTolerance relative to the sum of the terms' magnitudes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "plackett/activation.h"

namespace plackett {

// Widths and column counts are multiples of this many floats, and buffers start at 64-byte
// boundaries, except for rows where a kernel says so.
inline constexpr std::size_t kLanes = 16;

inline constexpr double kKernelTolerance = 4e-6;

// What Kernels::keep_best keeps at most.
inline constexpr std::size_t kMostKept = 64;

// Rows of `width` floats, each `stride` floats after the one before.
struct RowsView {
  const float* data = nullptr;
  std::size_t count = 0;
  std::size_t stride = 0;
  std::size_t width = 0;
};

struct Kernels {
  std::string_view name;  // "scalar", "sse4", "avx2", "avx512"

  // out[r] = sum over f < width of rows[r][f] * weights[f]. Rows of any alignment and width; the
  // weights are padded with zeros.
  void (*dot_rows)(const RowsView& rows, const float* weights, float* out);

  // out[v * out_stride + r] = the dot product of rows[r] with weights[v], with the bits of
  // dot_rows. Reads each row from memory once. The weights are padded with zeros and aligned.
  void (*dot_rows_each)(const RowsView& rows, const RowsView& weights, float* out,
                        std::size_t out_stride);

  // y[f] += sum over r of scales[r] * rows[r][f] for f < width, in the order of r. Rows of any
  // alignment and width; y is padded.
  void (*add_scaled_rows)(const float* const* rows, const float* scales, std::size_t row_count,
                          std::size_t width, float* y);

  // out[r * columns + c] = bias[c] + sum over f < width of
  //   rows[r][f] * weights[f * columns + c].
  // Rows of any alignment and width.
  void (*multiply)(const RowsView& rows, const float* weights, std::size_t columns,
                   const float* bias, float* out);

  // weights[f * columns + c] += scale * sum over r of rows[r * width + f] * deltas[r * columns +
  // c].
  void (*add_outer)(const float* rows, const float* deltas, std::size_t row_count,
                    std::size_t width, std::size_t columns, float scale, float* weights);

  // Applies the activation in place to `count` values, a multiple of kLanes: where it fuses, with
  // the bits of portable_activation (base/portable_activation.h). NaN stays NaN.
  void (*activate)(Activation activation, float* values, std::size_t count);

  // masses[i] = exp(scores[i] - max), by portable_exp on every instruction set, and returns max,
  // the largest score. Requires count > 0 and finite scores; any alignment.
  double (*exp_from_max)(const float* scores, std::size_t count, double* masses);

  // values[i] = exp(values[i]), in place. Requires: values at most 0; any alignment.
  void (*exp_each)(double* values, std::size_t count);

  // Standard normals from Philox blocks counter, counter + 1, ... (word 0 counts, modulo 2^32):
  // 16 blocks give a group of 64. With words w0..w3 of the group's block j, out[j] and
  // out[16 + j] are sqrt(-2 log u) times cos and sin of 2 pi v, where u = (a + 0.5) / 2^24 and
  // v = b / 2^24 for a and b the top 24 bits of w0 and w1; out[32 + j] and out[48 + j] likewise
  // from w2 and w3. At most 5.9 in size.
  void (*normals)(const std::uint32_t* counter, const std::uint32_t* key, std::size_t groups,
                  float* out);

  // above[i] = how many of the first `count` scores are greater than scores[i], for i up to
  // `count` rounded up to kLanes; returns their sum. Requires: the padding of the scores is
  // +infinity; no NaN. Cost: O(count^2 / kLanes).
  std::uint64_t (*count_above)(const float* scores, std::size_t count, std::uint32_t* above);

  // Narrows scores down to a few that include the best k: those that are at least the k-th largest
  // of the 16 virtual lanes' largest scores (score i is in lane i % 16). kept[c] is the score at
  // positions[c], in ascending order of positions. Returns how many, at least k; or 0 if they are
  // more than kMostKept. Every instruction set gives the same. Requires: 0 < k <= kLanes;
  // k <= count; no NaN; room for kMostKept + kLanes in kept and positions. Cost: O(count / kLanes).
  std::size_t (*keep_best)(const float* scores, std::size_t count, std::size_t k, float* kept,
                           std::uint32_t* positions);

  // weights[i] = 1 / (above[i] + 1)^3 for `count` values, a multiple of kLanes.
  void (*inverse_cubes)(const std::uint32_t* above, std::size_t count, float* weights);

  // Scales each of the first `width` columns of `count` rows to (x - min) / (max - min) in double
  // precision; a constant column becomes 0. Rows of any alignment and width. Every instruction set
  // gives the same bits.
  void (*scale_minmax)(float* rows, std::size_t count, std::size_t stride, std::size_t width);
};

// The fastest set for this machine. The environment variable PLACKETT_SIMD selects another by name;
// an unknown or unsupported name is ignored. Every call gives the same answer.
const Kernels& kernels();

// All sets that this machine can run, slowest first.
std::span<const Kernels* const> all_kernels();

}  // namespace plackett
