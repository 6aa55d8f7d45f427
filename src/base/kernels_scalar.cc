#include "base/kernels_scalar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "base/portable_exp.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

void dot_rows(const RowsView& rows, const float* weights, float* out) {
  for (std::size_t r = 0; r < rows.count; ++r) {
    const float* row = rows.data + r * rows.stride;
    float sum = 0;
    for (std::size_t f = 0; f < rows.width; ++f) sum += row[f] * weights[f];
    out[r] = sum;
  }
}

void dot_rows_each(const RowsView& rows, const RowsView& weights, float* out,
                   std::size_t out_stride) {
  for (std::size_t v = 0; v < weights.count; ++v) {
    dot_rows(rows, weights.data + v * weights.stride, out + v * out_stride);
  }
}

void add_scaled_rows(const float* const* rows, const float* scales, std::size_t row_count,
                     std::size_t width, float* y) {
  for (std::size_t r = 0; r < row_count; ++r) {
    for (std::size_t f = 0; f < width; ++f) y[f] += scales[r] * rows[r][f];
  }
}

void multiply(const RowsView& rows, const float* weights, std::size_t columns, const float* bias,
              float* out) {
  for (std::size_t r = 0; r < rows.count; ++r) {
    float* out_row = out + r * columns;
    std::copy(bias, bias + columns, out_row);
    for (std::size_t f = 0; f < rows.width; ++f) {
      const float x = rows.data[r * rows.stride + f];
      for (std::size_t c = 0; c < columns; ++c) out_row[c] += x * weights[f * columns + c];
    }
  }
}

void add_outer(const float* rows, const float* deltas, std::size_t row_count, std::size_t width,
               std::size_t columns, float scale, float* weights) {
  for (std::size_t f = 0; f < width; ++f) {
    for (std::size_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (std::size_t r = 0; r < row_count; ++r) {
        sum += rows[r * width + f] * deltas[r * columns + c];
      }
      weights[f * columns + c] += scale * sum;
    }
  }
}

void activate(Activation activation, float* values, std::size_t count) {
  switch (activation) {
    case Activation::kSigmoid:
      for (std::size_t i = 0; i < count; ++i) values[i] = 1.0F / (1.0F + std::exp(-values[i]));
      break;
    case Activation::kRelu:
      for (std::size_t i = 0; i < count; ++i) values[i] = std::max(values[i], 0.0F);
      break;
    case Activation::kTanh:
      for (std::size_t i = 0; i < count; ++i) values[i] = std::tanh(values[i]);
      break;
  }
}

double exp_from_max(const float* scores, std::size_t count, double* masses) {
  const double max = *std::max_element(scores, scores + count);
  for (std::size_t i = 0; i < count; ++i) masses[i] = portable_exp(scores[i] - max);
  return max;
}

void exp_each(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = portable_exp(values[i]);
}

void normals(const std::uint32_t* counter, const std::uint32_t* key, std::size_t groups,
             float* out) {
  for (std::size_t block = 0; block < groups * kLanes; ++block) {
    const auto words =
        philox({counter[0] + static_cast<std::uint32_t>(block), counter[1], counter[2], counter[3]},
               {key[0], key[1]});
    float* group = out + block / kLanes * 4 * kLanes + block % kLanes;
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const float u = static_cast<float>(words[2 * pair] >> 8) * 0x1p-24F + 0x1p-25F;
      const float radius = std::sqrt(-2.0F * std::log(u));
      const float angle =
          static_cast<float>(words[2 * pair + 1] >> 8) * (0x1.921fb6p+2F * 0x1p-24F);
      group[2 * pair * kLanes] = radius * std::cos(angle);
      group[(2 * pair + 1) * kLanes] = radius * std::sin(angle);
    }
  }
}

std::uint64_t count_above(const float* scores, std::size_t count, std::uint32_t* above) {
  const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < padded; ++i) {
    above[i] = static_cast<std::uint32_t>(
        std::count_if(scores, scores + count, [&](float other) { return other > scores[i]; }));
    total += above[i];
  }
  return total;
}

std::size_t keep_best(const float* scores, std::size_t count, std::size_t k, float* kept,
                      std::uint32_t* positions) {
  std::array<float, kLanes> maxima;
  maxima.fill(-std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < count; ++i) {
    maxima[i % kLanes] = std::max(maxima[i % kLanes], scores[i]);
  }
  const auto kth = maxima.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(maxima.begin(), kth, maxima.end(), std::greater<>());
  const float bound = *kth;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(scores[i] >= bound)) continue;
    if (found == kMostKept) return 0;
    kept[found] = scores[i];
    positions[found] = static_cast<std::uint32_t>(i);
    ++found;
  }
  return found;
}

void inverse_cubes(const std::uint32_t* above, std::size_t count, float* weights) {
  for (std::size_t i = 0; i < count; ++i) {
    const float rank = static_cast<float>(above[i]) + 1.0F;
    weights[i] = 1.0F / (rank * (rank * rank));
  }
}

void scale_minmax(float* rows, std::size_t count, std::size_t stride, std::size_t width) {
  if (count == 0) return;
  for (std::size_t f = 0; f < width; ++f) {
    float low = rows[f];
    float high = low;
    for (std::size_t r = 1; r < count; ++r) {
      low = std::min(low, rows[r * stride + f]);
      high = std::max(high, rows[r * stride + f]);
    }
    const double range = double{high} - low;
    for (std::size_t r = 0; r < count; ++r) {
      float& value = rows[r * stride + f];
      const double above = double{value} - low;
      value = range > 0 ? static_cast<float>(above / range) : 0.0F;
    }
  }
}

}  // namespace

const Kernels kScalarKernels{"scalar",    dot_rows,  dot_rows_each, add_scaled_rows, multiply,
                             add_outer,   activate,  exp_from_max,  exp_each,        normals,
                             count_above, keep_best, inverse_cubes, scale_minmax};

}  // namespace plackett
