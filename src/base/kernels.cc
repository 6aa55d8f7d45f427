// One source, compiled once per instruction set: Highway includes this file again through
// foreach_target.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/kernels.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The order matters: foreach_target.h first.
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/kernels.h"
#include "base/kernels_scalar.h"
#include "base/philox.h"
#include "base/portable_activation.h"
#include "base/portable_exp.h"
#include "base/portable_normals.h"

// Plain x86-64 runs kernels_scalar.cc.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace plackett::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kLanes>;
using FloatVec = hn::Vec<Floats>;
using Quad = hn::Full128<float>;
using QuadVec = hn::Vec<Quad>;
using Doubles = hn::CappedTag<double, kLanes / 2>;

constexpr std::size_t kWidth = hn::MaxLanes(Floats());
constexpr std::size_t kParts = kLanes / kWidth;  // vectors that make 16 virtual lanes

// Adds halves until four lanes are left.
template <class D>
HWY_INLINE QuadVec fold(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    (void)d;
    return v;
  } else {
    const hn::Half<D> half;
    return fold(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// 16 virtual lanes to four, in the order that a 16-lane vector's halving has.
HWY_INLINE QuadVec fold_parts(const FloatVec* parts) {
  const Floats d;
  if constexpr (kParts == 1) {
    return fold(d, parts[0]);
  } else if constexpr (kParts == 2) {
    return fold(d, hn::Add(parts[0], parts[1]));
  } else {
    return fold(d, hn::Add(hn::Add(parts[0], parts[2]), hn::Add(parts[1], parts[3])));
  }
}

// Dot product of one row with `weights`, folded to four lanes.
HWY_INLINE QuadVec dot_row(const float* row, std::size_t width, const float* weights) {
  const Floats d;
  const std::size_t whole = width / kLanes * kLanes;
  FloatVec sums[kParts];
  for (std::size_t p = 0; p < kParts; ++p) sums[p] = hn::Zero(d);
  const auto add = [&](const float* values, std::size_t f) {
    for (std::size_t p = 0; p < kParts; ++p) {
      sums[p] = hn::MulAdd(hn::LoadU(d, values + p * kWidth), hn::Load(d, weights + f + p * kWidth),
                           sums[p]);
    }
  };
  for (std::size_t f = 0; f < whole; f += kLanes) add(row + f, f);
  if (whole != width) {
    // Padded with zeros, as the engine's own rows are: the same bits.
    HWY_ALIGN float rest[kLanes];
    std::fill(std::copy(row + whole, row + width, rest), rest + kLanes, 0.0F);
    add(rest, whole);
  }
  return fold_parts(sums);
}

// Lane r of the result is (f0 + f2) + (f1 + f3) of folded[r].
HWY_INLINE QuadVec add_lanes(const QuadVec* folded) {
  const Quad quad;
  const QuadVec low01 = hn::InterleaveLower(quad, folded[0], folded[1]);
  const QuadVec high01 = hn::InterleaveUpper(quad, folded[0], folded[1]);
  const QuadVec low23 = hn::InterleaveLower(quad, folded[2], folded[3]);
  const QuadVec high23 = hn::InterleaveUpper(quad, folded[2], folded[3]);
  const QuadVec sum01 = hn::Add(low01, high01);  // r0: f0+f2, r1: f0+f2, r0: f1+f3, r1: f1+f3
  const QuadVec sum23 = hn::Add(low23, high23);
  return hn::Add(hn::ConcatLowerLower(quad, sum23, sum01),
                 hn::ConcatUpperUpper(quad, sum23, sum01));
}

// Stores the first `count` lanes.
HWY_INLINE void store_lanes(QuadVec lanes, std::size_t count, float* out) {
  const Quad quad;
  if (count == 4) {
    hn::StoreU(lanes, quad, out);
  } else {
    HWY_ALIGN float all[4];
    hn::Store(lanes, quad, all);
    std::copy(all, all + count, out);
  }
}

// One row after another, so that memory is read in order: several rows at once are several streams,
// which not every processor's prefetcher follows (docs/decisions/0003-memory.md).
void dot_rows(const RowsView& rows, const float* weights, float* out) {
  const Quad quad;
  QuadVec folded[4];
  for (std::size_t first = 0; first < rows.count; first += 4) {
    const std::size_t count = std::min<std::size_t>(4, rows.count - first);
    for (std::size_t r = 0; r < 4; ++r) {
      folded[r] = r < count ? dot_row(rows.data + (first + r) * rows.stride, rows.width, weights)
                            : hn::Zero(quad);
    }
    store_lanes(add_lanes(folded), count, out + first);
  }
}

// Four rows at a time by as many vectors as leave their sums in registers: each load serves several
// products, for rows that the cache holds.
template <std::size_t kVectors>
HWY_INLINE void dot_tile(const float* const* rows, std::size_t width, const float* weights,
                         std::size_t weight_stride, QuadVec (*folded)[4]) {
  const Floats d;
  const std::size_t whole = width / kLanes * kLanes;
  FloatVec sums[kVectors][4][kParts];
  for (auto& of_vector : sums) {
    for (auto& of_row : of_vector) std::fill(of_row, of_row + kParts, hn::Zero(d));
  }
  const auto add = [&](const float* const* values, std::size_t from, std::size_t f) {
    for (std::size_t p = 0; p < kParts; ++p) {
      FloatVec w[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) {
        w[v] = hn::Load(d, weights + v * weight_stride + f + p * kWidth);
      }
      for (std::size_t r = 0; r < 4; ++r) {
        const FloatVec x = hn::LoadU(d, values[r] + from + p * kWidth);
        for (std::size_t v = 0; v < kVectors; ++v) {
          sums[v][r][p] = hn::MulAdd(x, w[v], sums[v][r][p]);
        }
      }
    }
  };
  for (std::size_t f = 0; f < whole; f += kLanes) add(rows, f, f);
  if (whole != width) {
    HWY_ALIGN float rest[4][kLanes];
    const float* padded[4] = {rest[0], rest[1], rest[2], rest[3]};
    for (std::size_t r = 0; r < 4; ++r) {
      std::fill(std::copy(rows[r] + whole, rows[r] + width, rest[r]), rest[r] + kLanes, 0.0F);
    }
    add(padded, 0, whole);
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t r = 0; r < 4; ++r) folded[v][r] = fold_parts(sums[v][r]);
  }
}

template <std::size_t kVectors>
HWY_INLINE void dot_vectors(const float* const* rows, std::size_t count, std::size_t width,
                            const float* weights, std::size_t weight_stride, float* out,
                            std::size_t out_stride) {
  QuadVec folded[kVectors][4];
  dot_tile<kVectors>(rows, width, weights, weight_stride, folded);
  for (std::size_t v = 0; v < kVectors; ++v) {
    store_lanes(add_lanes(folded[v]), count, out + v * out_stride);
  }
}

// All vectors for four rows, then for the next four: rows are read from memory once, and the
// vectors stay in the cache.
void dot_rows_each(const RowsView& rows, const RowsView& weights, float* out,
                   std::size_t out_stride) {
  // 32 registers hold 4 x 4 sums of one vector each, 16 hold 4 of two.
  constexpr std::size_t kVectors = kWidth == 16 ? 4 : 1;
  constexpr std::size_t kAhead = 8;
  for (std::size_t first = 0; first < rows.count; first += 4) {
    const std::size_t count = std::min<std::size_t>(4, rows.count - first);
    const float* four[4];
    for (std::size_t r = 0; r < 4; ++r) {
      four[r] = rows.data + (first + std::min(r, count - 1)) * rows.stride;
    }
    // Each step over the vectors prefetches its part of the rows that come kAhead later.
    const std::size_t later = std::min(first + kAhead, rows.count) * rows.stride;
    const std::size_t lines =
        (std::min(first + kAhead + 4, rows.count) * rows.stride - later) / kLanes;
    const auto dot = [&]<std::size_t kCount>(std::size_t v) {
      const std::size_t end = lines * (v + kCount) / weights.count;
      for (std::size_t line = lines * v / weights.count; line < end; ++line) {
        hwy::Prefetch(rows.data + later + line * kLanes);
      }
      dot_vectors<kCount>(four, count, rows.width, weights.data + v * weights.stride,
                          weights.stride, out + v * out_stride + first, out_stride);
    };
    std::size_t v = 0;
    for (; v + kVectors <= weights.count; v += kVectors) dot.template operator()<kVectors>(v);
    for (; v < weights.count; ++v) dot.template operator()<1>(v);
  }
}

void add_scaled_rows(const float* const* rows, const float* scales, std::size_t row_count,
                     std::size_t width, float* y) {
  const Floats d;
  const std::size_t whole = width / kWidth * kWidth;
  for (std::size_t f = 0; f < whole; f += kWidth) {
    FloatVec sum = hn::Load(d, y + f);
    for (std::size_t r = 0; r < row_count; ++r) {
      sum = hn::MulAdd(hn::Set(d, scales[r]), hn::LoadU(d, rows[r] + f), sum);
    }
    hn::Store(sum, d, y + f);
  }
  if (whole == width) return;
  HWY_ALIGN float rest[kWidth];
  FloatVec sum = hn::Load(d, y + whole);
  for (std::size_t r = 0; r < row_count; ++r) {
    std::fill(std::copy(rows[r] + whole, rows[r] + width, rest), rest + kWidth, 0.0F);
    sum = hn::MulAdd(hn::Set(d, scales[r]), hn::Load(d, rest), sum);
  }
  hn::Store(sum, d, y + whole);
}

// kRows rows by kVecs vectors of columns, all sums in registers. Prefetches the rows of the next
// tile a cache line at a time: arithmetic bounds a tile, so they arrive before they are needed.
template <std::size_t kRows, std::size_t kVecs>
HWY_INLINE void multiply_tile(const RowsView& rows, std::size_t first, const float* weights,
                              std::size_t columns, const float* bias, float* out) {
  const Floats d;
  FloatVec sums[kRows][kVecs];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVecs; ++v) sums[r][v] = hn::Load(d, bias + v * kWidth);
  }
  const std::size_t stride = rows.stride;
  const float* data = rows.data + first * stride;
  const std::size_t next = std::min(kRows, rows.count - first - kRows);
  out += first * columns;
  for (std::size_t f = 0; f < rows.width; ++f) {
    if (f % kLanes == 0) {
      for (std::size_t r = 0; r < next; ++r) hwy::Prefetch(data + (kRows + r) * stride + f);
    }
    FloatVec w[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v) w[v] = hn::Load(d, weights + f * columns + v * kWidth);
    for (std::size_t r = 0; r < kRows; ++r) {
      const FloatVec x = hn::Set(d, data[r * stride + f]);
      for (std::size_t v = 0; v < kVecs; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVecs; ++v) {
      hn::Store(sums[r][v], d, out + r * columns + v * kWidth);
    }
  }
}

template <std::size_t kVecs>
HWY_INLINE void multiply_columns(const RowsView& rows, const float* weights, std::size_t columns,
                                 const float* bias, float* out) {
  std::size_t r = 0;
  for (; r + 6 <= rows.count; r += 6) {
    multiply_tile<6, kVecs>(rows, r, weights, columns, bias, out);
  }
  for (; r + 2 <= rows.count; r += 2) {
    multiply_tile<2, kVecs>(rows, r, weights, columns, bias, out);
  }
  if (r < rows.count) multiply_tile<1, kVecs>(rows, r, weights, columns, bias, out);
}

void multiply(const RowsView& rows, const float* weights, std::size_t columns, const float* bias,
              float* out) {
  // 32 registers hold 6 x 4 sums, 16 hold 6 x 2.
  constexpr std::size_t kVecs = kWidth == 16 ? 4 : 2;
  std::size_t c = 0;
  for (; c + kVecs * kWidth <= columns; c += kVecs * kWidth) {
    multiply_columns<kVecs>(rows, weights + c, columns, bias + c, out + c);
  }
  for (; c < columns; c += kWidth) {
    multiply_columns<1>(rows, weights + c, columns, bias + c, out + c);
  }
}

// kVecs vectors of columns; a row's value is broadcast once for all of them.
template <std::size_t kVecs>
HWY_INLINE void add_outer_columns(const float* rows, const float* deltas, std::size_t row_count,
                                  std::size_t width, std::size_t columns, float scale,
                                  float* weights) {
  const Floats d;
  const FloatVec scales = hn::Set(d, scale);
  for (std::size_t f = 0; f < width; ++f, weights += columns) {
    FloatVec sums[kVecs];
    for (std::size_t v = 0; v < kVecs; ++v) sums[v] = hn::Zero(d);
    for (std::size_t r = 0; r < row_count; ++r) {
      const FloatVec x = hn::Set(d, rows[r * width + f]);
      for (std::size_t v = 0; v < kVecs; ++v) {
        sums[v] = hn::MulAdd(x, hn::Load(d, deltas + r * columns + v * kWidth), sums[v]);
      }
    }
    for (std::size_t v = 0; v < kVecs; ++v) {
      float* target = weights + v * kWidth;
      hn::Store(hn::MulAdd(scales, sums[v], hn::Load(d, target)), d, target);
    }
  }
}

void add_outer(const float* rows, const float* deltas, std::size_t row_count, std::size_t width,
               std::size_t columns, float scale, float* weights) {
  constexpr std::size_t kVecs = 4;
  std::size_t c = 0;
  for (; c + kVecs * kWidth <= columns; c += kVecs * kWidth) {
    add_outer_columns<kVecs>(rows, deltas + c, row_count, width, columns, scale, weights + c);
  }
  for (; c < columns; c += kWidth) {
    add_outer_columns<1>(rows, deltas + c, row_count, width, columns, scale, weights + c);
  }
}

// activation_parts::exp_plus_1, step by step.
HWY_INLINE FloatVec exp_plus_1(FloatVec x) {
  using namespace activation_parts;
  const Floats d;
  const hn::RebindToUnsigned<Floats> words;
  const auto q = [&](std::size_t at) { return hn::Set(d, kQ[at]); };
  const FloatVec one = hn::Set(d, 1.0F);
  const FloatVec shifted = hn::MulAdd(x, hn::Set(d, kInverseLn2), hn::Set(d, kRound));
  const FloatVec k = hn::Sub(shifted, hn::Set(d, kRound));
  const FloatVec r = hn::MulAdd(k, hn::Set(d, kLn2Low), hn::MulAdd(k, hn::Set(d, kLn2High), x));
  const FloatVec r2 = hn::Mul(r, r);
  const FloatVec q01 = hn::MulAdd(q(1), r, q(0));
  const FloatVec q24 = hn::MulAdd(q(4), r2, hn::MulAdd(q(3), r, q(2)));
  const FloatVec of_r = hn::Add(one, hn::MulAdd(hn::MulAdd(q24, r2, q01), r2, r));
  const auto bits = hn::ShiftLeft<23>(hn::BitCast(words, shifted));
  const FloatVec power = hn::BitCast(d, hn::Add(bits, hn::Set(words, kOne)));
  return hn::MulAdd(of_r, power, one);
}

HWY_INLINE FloatVec sigmoid(FloatVec x) {
  using namespace activation_parts;
  const Floats d;
  const FloatVec negated = hn::Min(hn::Neg(x), hn::Set(d, kMostPower));
  return hn::Div(hn::Set(d, 1.0F), exp_plus_1(hn::Max(negated, hn::Set(d, -kMostPower))));
}

HWY_INLINE FloatVec tanh(FloatVec x) {
  using namespace activation_parts;
  const Floats d;
  const auto t = [&](std::size_t at) { return hn::Set(d, kT[at]); };
  const FloatVec size = hn::Abs(x);
  const FloatVec twice = hn::Min(hn::Add(size, size), hn::Set(d, kMostTwice));
  const FloatVec large = hn::Sub(hn::Set(d, 1.0F), hn::Div(hn::Set(d, 2.0F), exp_plus_1(twice)));
  const FloatVec x2 = hn::Mul(size, size);
  const FloatVec x4 = hn::Mul(x2, x2);
  const FloatVec t01 = hn::MulAdd(t(1), x2, t(0));
  const FloatVec t24 = hn::MulAdd(t(4), x4, hn::MulAdd(t(3), x2, t(2)));
  const FloatVec small = hn::MulAdd(hn::Mul(size, x2), hn::MulAdd(t24, x4, t01), size);
  const auto is_small = hn::Lt(size, hn::Set(d, kSmall));
  return hn::CopySignToAbs(hn::IfThenElse(is_small, small, large), x);
}

void activate(Activation activation, float* values, std::size_t count) {
  const Floats d;
  // Minima and maxima turn NaN into a number.
  const auto each = [&](auto activated) {
    for (std::size_t i = 0; i < count; i += kWidth) {
      const FloatVec x = hn::Load(d, values + i);
      hn::Store(hn::IfThenElse(hn::Eq(x, x), activated(x), x), d, values + i);
    }
  };
  switch (activation) {
    case Activation::kSigmoid:
      each([](FloatVec x) { return sigmoid(x); });
      break;
    case Activation::kRelu:
      each([](FloatVec x) { return hn::Max(x, hn::Zero(Floats())); });
      break;
    case Activation::kTanh:
      each([](FloatVec x) { return tanh(x); });
      break;
  }
}

using DoubleVec = hn::Vec<Doubles>;

HWY_INLINE DoubleVec power_of_2(DoubleVec k) {
  const Doubles d;
  const hn::RebindToUnsigned<Doubles> words;
  const auto shifted = hn::BitCast(words, hn::Add(k, hn::Set(d, exp_parts::kPower)));
  return hn::BitCast(d, hn::ShiftLeft<52>(shifted));
}

// portable_exp, step by step. Requires: exp_parts::kLowest <= x <= 0.
HWY_INLINE DoubleVec exp_below_0(DoubleVec x) {
  using namespace exp_parts;
  const Doubles d;
  const auto round = [&](DoubleVec v) {
    return hn::Sub(hn::Add(v, hn::Set(d, kRound)), hn::Set(d, kRound));
  };
  // Not MulAdd: that would fuse.
  const auto add_product = [](DoubleVec sum, DoubleVec a, DoubleVec b) {
    return hn::Add(sum, hn::Mul(a, b));
  };
  const auto q_pair = [&](std::size_t at, DoubleVec r) {
    return add_product(hn::Set(d, kQ[at]), hn::Set(d, kQ[at + 1]), r);
  };
  const DoubleVec k = round(hn::Mul(x, hn::Set(d, kInverseLn2)));
  const DoubleVec high = hn::Sub(x, hn::Mul(k, hn::Set(d, kLn2High)));
  const DoubleVec low = hn::Mul(k, hn::Set(d, kLn2Low));
  const DoubleVec r = hn::Sub(high, low);
  const DoubleVec r2 = hn::Mul(r, r);
  const DoubleVec r4 = hn::Mul(r2, r2);
  const DoubleVec q0 = add_product(q_pair(0, r), q_pair(2, r), r2);
  const DoubleVec q4 = add_product(q_pair(4, r), q_pair(6, r), r2);
  const DoubleVec q8 = add_product(q_pair(8, r), hn::Set(d, kQ[10]), r2);
  const DoubleVec q = add_product(add_product(q0, q4, r4), q8, hn::Mul(r4, r4));
  const DoubleVec of_r = hn::Add(hn::Set(d, 1.0), hn::Sub(high, hn::Sub(low, hn::Mul(r2, q))));
  const DoubleVec k1 = round(hn::Mul(k, hn::Set(d, 0.5)));
  return hn::Mul(hn::Mul(of_r, power_of_2(k1)), power_of_2(hn::Sub(k, k1)));
}

double exp_from_max(const float* scores, std::size_t count, double* masses) {
  const Floats df;
  const Doubles dd;
  const hn::Rebind<float, Doubles> half;
  constexpr std::size_t kDoubles = hn::MaxLanes(Doubles());

  float max = scores[0];
  std::size_t i = 0;
  if (count >= kWidth) {
    FloatVec maxima = hn::LoadU(df, scores);
    for (i = kWidth; i + kWidth <= count; i += kWidth) {
      maxima = hn::Max(maxima, hn::LoadU(df, scores + i));
    }
    max = hn::GetLane(hn::MaxOfLanes(df, maxima));
  }
  for (; i < count; ++i) max = std::max(max, scores[i]);

  const auto shift = hn::Set(dd, static_cast<double>(max));
  // The clamp keeps far-off scores inside exp's valid range.
  const auto lowest = hn::Set(dd, exp_parts::kLowest);
  const auto exp_of = [&](const float* from) {
    const auto x = hn::Sub(hn::PromoteTo(dd, hn::LoadU(half, from)), shift);
    return exp_below_0(hn::Max(x, lowest));
  };
  i = 0;
  for (; i + kDoubles <= count; i += kDoubles) hn::StoreU(exp_of(scores + i), dd, masses + i);
  if (i < count) {
    HWY_ALIGN float padded[kDoubles];
    HWY_ALIGN double last[kDoubles];
    std::fill(std::copy(scores + i, scores + count, padded), padded + kDoubles, max);
    hn::Store(exp_of(padded), dd, last);
    std::copy(last, last + (count - i), masses + i);
  }
  return max;
}

void exp_each(double* values, std::size_t count) {
  const Doubles d;
  constexpr std::size_t kDoubles = hn::MaxLanes(Doubles());
  const auto exp_of = [&](const double* from) {
    return exp_below_0(hn::Max(hn::LoadU(d, from), hn::Set(d, exp_parts::kLowest)));
  };
  std::size_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles) hn::StoreU(exp_of(values + i), d, values + i);
  if (i == count) return;
  HWY_ALIGN double rest[kDoubles];
  std::fill(std::copy(values + i, values + count, rest), rest + kDoubles, 0.0);
  hn::Store(exp_of(rest), d, rest);
  std::copy(rest, rest + (count - i), values + i);
}

using Words = hn::RebindToUnsigned<Floats>;
using WordVec = hn::Vec<Words>;

struct WordPair {
  WordVec low;
  WordVec high;
};

HWY_INLINE WordPair multiply_words(WordVec x, std::uint32_t factor) {
  const Words d;
  const WordVec factors = hn::Set(d, factor);
  const auto even = hn::MulEven(x, factors);
  const auto odd = hn::MulEven(hn::Shuffle2301(x), factors);
  const WordVec even_words = hn::BitCast(d, even);
  const WordVec odd_words = hn::BitCast(d, odd);
  return {hn::OddEven(hn::Shuffle2301(odd_words), even_words),
          hn::OddEven(odd_words, hn::Shuffle2301(even_words))};
}

// The top 24 bits: exact as a float.
HWY_INLINE FloatVec top_bits(WordVec words) {
  const Floats d;
  const hn::RebindToSigned<Floats> ints;
  return hn::ConvertTo(d, hn::BitCast(ints, hn::ShiftRight<8>(words)));
}

// normal_parts::logarithm, step by step.
HWY_INLINE FloatVec logarithm(FloatVec x) {
  using namespace normal_parts;
  const Floats d;
  const Words words;
  const hn::RebindToSigned<Floats> ints;
  const auto bits = hn::Add(hn::BitCast(words, x), hn::Set(words, kOne - kRootHalf));
  const FloatVec k =
      hn::ConvertTo(d, hn::Sub(hn::BitCast(ints, hn::ShiftRight<23>(bits)), hn::Set(ints, kBias)));
  const FloatVec y =
      hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(words, kMantissa)), hn::Set(words, kRootHalf)));
  const FloatVec one = hn::Set(d, 1.0F);
  const FloatVec f = hn::Sub(y, one);
  const FloatVec z = hn::Div(f, hn::Add(y, one));
  const FloatVec z2 = hn::Mul(z, z);
  const FloatVec z4 = hn::Mul(z2, z2);
  const FloatVec even = hn::MulAdd(hn::Set(d, kLog[2]), z4, hn::Set(d, kLog[0]));
  const FloatVec odd = hn::Mul(hn::MulAdd(hn::Set(d, kLog[3]), z4, hn::Set(d, kLog[1])), z4);
  const FloatVec rest = hn::MulAdd(even, z2, odd);
  const FloatVec low = hn::Sub(hn::MulSub(z, hn::Sub(f, rest), hn::Mul(k, hn::Set(d, kLn2Low))), f);
  return hn::MulSub(k, hn::Set(d, kLn2High), low);
}

// normal_parts::reduced_sine, step by step.
template <class IntVec>
HWY_INLINE FloatVec reduced_sine(FloatVec x, IntVec multiple, float part, IntVec changed) {
  using namespace normal_parts;
  const Floats d;
  const FloatVec count = hn::ConvertTo(d, multiple);
  for (const float minus_pi : kMinusPi) x = hn::MulAdd(count, hn::Set(d, part * minus_pi), x);
  x = hn::Xor(x, hn::BitCast(d, changed));
  const FloatVec y = hn::Mul(x, x);
  const FloatVec y2 = hn::Mul(y, y);
  const FloatVec high = hn::MulAdd(hn::Set(d, kSine[3]), y, hn::Set(d, kSine[2]));
  const FloatVec low = hn::MulAdd(hn::Set(d, kSine[1]), y, hn::Set(d, kSine[0]));
  return hn::MulAdd(hn::MulAdd(y2, high, low), hn::Mul(y, x), x);
}
HWY_INLINE FloatVec cosine(FloatVec x) {
  const Floats d;
  const hn::RebindToSigned<Floats> ints;
  const auto half = hn::ConvertTo(ints, hn::Mul(x, hn::Set(d, normal_parts::kInversePi)));
  const auto multiple = hn::Add(hn::ShiftLeft<1>(half), hn::Set(ints, 1));
  return reduced_sine(x, multiple, 0.5F, hn::ShiftLeft<30>(hn::AndNot(multiple, hn::Set(ints, 2))));
}
HWY_INLINE FloatVec sine(FloatVec x) {
  const Floats d;
  const hn::RebindToSigned<Floats> ints;
  const auto multiple =
      hn::ConvertTo(ints, hn::MulAdd(x, hn::Set(d, normal_parts::kInversePi), hn::Set(d, 0.5F)));
  return reduced_sine(x, multiple, 1.0F, hn::ShiftLeft<31>(multiple));
}

// Two vectors of normals from two of words: portable_normals.
HWY_INLINE void box_muller(WordVec radius_words, WordVec angle_words, float* cosines,
                           float* sines) {
  using namespace normal_parts;
  const Floats d;
  const FloatVec u = hn::MulAdd(top_bits(radius_words), hn::Set(d, kUnit), hn::Set(d, kHalfUnit));
  const FloatVec radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0F), logarithm(u)));
  const FloatVec angle = hn::Mul(top_bits(angle_words), hn::Set(d, kAngleUnit));
  hn::Store(hn::Mul(radius, cosine(angle)), d, cosines);
  hn::Store(hn::Mul(radius, sine(angle)), d, sines);
}

void normals(const std::uint32_t* counter, const std::uint32_t* key, std::size_t groups,
             float* out) {
  using namespace philox_constants;
  const Words d;
  for (std::size_t block = 0; block < groups * kLanes; block += kWidth) {
    WordVec w0 = hn::Iota(d, counter[0] + static_cast<std::uint32_t>(block));
    WordVec w1 = hn::Set(d, counter[1]);
    WordVec w2 = hn::Set(d, counter[2]);
    WordVec w3 = hn::Set(d, counter[3]);
    std::uint32_t key0 = key[0];
    std::uint32_t key1 = key[1];
    for (int round = 0; round < kRounds; ++round) {
      const WordPair product0 = multiply_words(w0, kMultiplier0);
      const WordPair product1 = multiply_words(w2, kMultiplier1);
      w0 = hn::Xor(hn::Xor(product1.high, w1), hn::Set(d, key0));
      w2 = hn::Xor(hn::Xor(product0.high, w3), hn::Set(d, key1));
      w1 = product1.low;
      w3 = product0.low;
      key0 += kWeyl0;
      key1 += kWeyl1;
    }
    float* group = out + block / kLanes * 4 * kLanes + block % kLanes;
    box_muller(w0, w1, group, group + kLanes);
    box_muller(w2, w3, group + 2 * kLanes, group + 3 * kLanes);
  }
}

// kVecs vectors of documents against all documents.
template <std::size_t kVecs>
HWY_INLINE std::uint64_t count_above_block(const float* scores, std::size_t count,
                                           std::size_t first, std::uint32_t* above) {
  const Floats d;
  const Words words;
  FloatVec own[kVecs];
  WordVec counts[kVecs];
  for (std::size_t v = 0; v < kVecs; ++v) {
    own[v] = hn::Load(d, scores + first + v * kWidth);
    counts[v] = hn::Zero(words);
  }
  const WordVec one = hn::Set(words, 1);
  for (std::size_t other = 0; other < count; ++other) {
    const FloatVec score = hn::Set(d, scores[other]);
    for (std::size_t v = 0; v < kVecs; ++v) {
      counts[v] =
          hn::Add(counts[v], hn::IfThenElseZero(hn::RebindMask(words, hn::Gt(score, own[v])), one));
    }
  }
  WordVec sum = hn::Zero(words);
  for (std::size_t v = 0; v < kVecs; ++v) {
    hn::Store(counts[v], words, above + first + v * kWidth);
    sum = hn::Add(sum, counts[v]);
  }
  HWY_ALIGN std::uint32_t lanes[kWidth];
  hn::Store(sum, words, lanes);
  std::uint64_t total = 0;
  for (const std::uint32_t lane : lanes) total += lane;
  return total;
}

std::uint64_t count_above(const float* scores, std::size_t count, std::uint32_t* above) {
  constexpr std::size_t kVecs = 8;
  const std::size_t padded = (count + kLanes - 1) / kLanes * kLanes;
  std::uint64_t total = 0;
  std::size_t first = 0;
  for (; first + kVecs * kWidth <= padded; first += kVecs * kWidth) {
    total += count_above_block<kVecs>(scores, count, first, above);
  }
  for (; first + 2 * kWidth <= padded; first += 2 * kWidth) {
    total += count_above_block<2>(scores, count, first, above);
  }
  for (; first < padded; first += kWidth) {
    total += count_above_block<1>(scores, count, first, above);
  }
  return total;
}

// The k-th largest of kLanes values.
HWY_INLINE float kth_largest(const FloatVec* values, std::size_t k) {
  const Floats d;
  const Words words;
  HWY_ALIGN float lanes[kLanes];
  for (std::size_t p = 0; p < kParts; ++p) hn::Store(values[p], d, lanes + p * kWidth);
  FloatVec least = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto limit = hn::Set(words, static_cast<std::uint32_t>(k));
  for (std::size_t p = 0; p < kParts; ++p) {
    auto above = hn::Zero(words);
    for (const float lane : lanes) {
      const auto is_above = hn::Gt(hn::Set(d, lane), values[p]);
      above = hn::Sub(above, hn::BitCast(words, hn::VecFromMask(d, is_above)));
    }
    const auto is_among = hn::RebindMask(d, hn::Lt(above, limit));
    least = hn::Min(least, hn::IfThenElse(is_among, values[p], least));
  }
  return hn::GetLane(hn::MinOfLanes(d, least));
}

std::size_t keep_best(const float* scores, std::size_t count, std::size_t k, float* kept,
                      std::uint32_t* positions) {
  const Floats d;
  const Words words;
  const std::size_t whole = count / kLanes * kLanes;
  HWY_ALIGN float rest[kLanes];
  std::fill(std::copy(scores + whole, scores + count, rest), rest + kLanes,
            -std::numeric_limits<float>::infinity());
  FloatVec maxima[kParts];
  for (std::size_t p = 0; p < kParts; ++p) maxima[p] = hn::Load(d, rest + p * kWidth);
  for (std::size_t at = 0; at < whole; at += kLanes) {
    for (std::size_t p = 0; p < kParts; ++p) {
      maxima[p] = hn::Max(maxima[p], hn::LoadU(d, scores + at + p * kWidth));
    }
  }
  const FloatVec bound = hn::Set(d, kth_largest(maxima, k));

  std::size_t found = 0;
  for (std::size_t first = 0; first < count; first += 64) {
    const std::size_t end = std::min(first + 64, count);
    std::uint64_t bits = 0;  // bit j: whether score first + j is kept
    for (std::size_t at = first; at < end; at += kWidth) {
      const float* values = at < whole ? scores + at : rest + (at - whole);
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Ge(hn::LoadU(d, values), bound), bytes);
      bits |= (std::uint64_t{bytes[0]} | std::uint64_t{bytes[1]} << 8) << (at - first);
    }
    if (end - first < 64) bits &= (std::uint64_t{1} << (end - first)) - 1;  // no padding
    if (found + static_cast<std::size_t>(std::popcount(bits)) > kMostKept) return 0;
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t position = first + static_cast<std::size_t>(std::countr_zero(bits));
      kept[found] = scores[position];
      positions[found] = static_cast<std::uint32_t>(position);
      ++found;
    }
  }
  return found;
}

void inverse_cubes(const std::uint32_t* above, std::size_t count, float* weights) {
  const Floats d;
  const hn::RebindToSigned<Floats> ints;
  const Words words;
  const FloatVec one = hn::Set(d, 1.0F);
  for (std::size_t i = 0; i < count; i += kWidth) {
    const FloatVec rank =
        hn::Add(hn::ConvertTo(d, hn::BitCast(ints, hn::Load(words, above + i))), one);
    hn::Store(hn::Div(one, hn::Mul(rank, hn::Mul(rank, rank))), d, weights + i);
  }
}

// Scales at most kLanes columns, one cache line, of `count` rows.
void scale_columns(float* rows, std::size_t count, std::size_t stride, std::size_t columns) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  constexpr std::size_t kDoubles = hn::MaxLanes(Doubles());
  constexpr std::size_t kVecs = kLanes / kDoubles;
  const bool whole = columns == kLanes;
  HWY_ALIGN float rest[kLanes] = {};  // a row with fewer columns, padded
  const auto padded = [&](float* row) {
    if (whole) return row;
    std::copy(row, row + columns, rest);
    return rest;
  };

  // Comparisons rather than Min and Max: NaN and the sign of 0 come out as in plain code.
  hn::Vec<decltype(df)> low[kVecs];
  hn::Vec<decltype(df)> high[kVecs];
  const float* first = padded(rows);
  for (std::size_t v = 0; v < kVecs; ++v) low[v] = high[v] = hn::LoadU(df, first + v * kDoubles);
  for (std::size_t r = 1; r < count; ++r) {
    const float* row = padded(rows + r * stride);
    for (std::size_t v = 0; v < kVecs; ++v) {
      const auto x = hn::LoadU(df, row + v * kDoubles);
      low[v] = hn::IfThenElse(hn::Lt(x, low[v]), x, low[v]);
      high[v] = hn::IfThenElse(hn::Lt(high[v], x), x, high[v]);
    }
  }

  DoubleVec least[kVecs];
  DoubleVec range[kVecs];
  DoubleVec reciprocal[kVecs];
  bool finite = true;
  for (std::size_t v = 0; v < kVecs; ++v) {
    least[v] = hn::PromoteTo(d, low[v]);
    range[v] = hn::Sub(hn::PromoteTo(d, high[v]), least[v]);
    reciprocal[v] = hn::Div(hn::Set(d, 1.0), range[v]);
    const auto infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    finite = finite && hn::AllTrue(d, hn::Lt(range[v], infinity));
  }
  const auto scale = [&](auto divide) {
    for (std::size_t r = 0; r < count; ++r) {
      float* row = padded(rows + r * stride);
      for (std::size_t v = 0; v < kVecs; ++v) {
        float* values = row + v * kDoubles;
        const DoubleVec above = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, values)), least[v]);
        const auto varies = hn::Gt(range[v], hn::Zero(d));
        hn::StoreU(hn::DemoteTo(df, hn::IfThenElseZero(varies, divide(above, v))), df, values);
      }
      if (!whole) std::copy(rest, rest + columns, rows + r * stride);
    }
  };
  if (kWidth >= 8 && finite) {
    // The quotient from a reciprocal and two fused corrections is the correctly rounded one
    // (Markstein, "Computation of elementary functions on the IBM RISC System/6000", 1990):
    // differences of floats and their quotients stay far from the ends of double's range.
    scale([&](DoubleVec above, std::size_t v) {
      DoubleVec quotient = hn::Mul(above, reciprocal[v]);
      for (int correction = 0; correction < 2; ++correction) {
        const DoubleVec error = hn::NegMulAdd(quotient, range[v], above);
        quotient = hn::MulAdd(error, reciprocal[v], quotient);
      }
      return hn::CopySign(quotient, above);  // the corrections make 0 of -0
    });
  } else {
    scale([&](DoubleVec above, std::size_t v) { return hn::Div(above, range[v]); });
  }
}

void scale_minmax(float* rows, std::size_t count, std::size_t stride, std::size_t width) {
  if (count == 0) return;
  for (std::size_t f = 0; f < width; f += kLanes) {
    scale_columns(rows + f, count, stride, std::min(kLanes, width - f));
  }
}

}  // namespace

const Kernels* vector_kernels() {
  static constexpr Kernels kKernels{kWidth == 16 ? "avx512" : (kWidth == 8 ? "avx2" : "sse4"),
                                    dot_rows,
                                    dot_rows_each,
                                    add_scaled_rows,
                                    multiply,
                                    add_outer,
                                    activate,
                                    exp_from_max,
                                    exp_each,
                                    normals,
                                    count_above,
                                    keep_best,
                                    inverse_cubes,
                                    scale_minmax};
  return &kKernels;
}

}  // namespace plackett::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace plackett {
namespace {

std::vector<const Kernels*> find_kernels() {
  std::vector<const Kernels*> found{&kScalarKernels};
  const auto supported = hwy::SupportedTargets();
#if HWY_TARGETS & HWY_SSE4
  if ((supported & HWY_SSE4) != 0) found.push_back(N_SSE4::vector_kernels());
#endif
#if HWY_TARGETS & HWY_AVX2
  if ((supported & HWY_AVX2) != 0) found.push_back(N_AVX2::vector_kernels());
#endif
#if HWY_TARGETS & HWY_AVX3
  if ((supported & HWY_AVX3) != 0) found.push_back(N_AVX3::vector_kernels());
#endif
  return found;
}

const Kernels& choose_kernels() {
  const char* asked = std::getenv("PLACKETT_SIMD");
  if (asked != nullptr) {
    for (const Kernels* candidate : all_kernels()) {
      if (candidate->name == asked) return *candidate;
    }
  }
  return *all_kernels().back();
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  static const std::vector<const Kernels*> found = find_kernels();
  return found;
}

const Kernels& kernels() {
  static const Kernels& chosen = choose_kernels();
  return chosen;
}

}  // namespace plackett
#endif  // HWY_ONCE
