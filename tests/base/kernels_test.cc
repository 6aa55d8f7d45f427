#include "base/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/kernels_scalar.h"
#include "plackett/rng.h"
#include "support/guarded_floats.h"

namespace plackett {
namespace {

AlignedVector<float> random_floats(std::size_t count, std::uint32_t run, double scale = 1.0) {
  Rng rng({.seed = 42, .run = run});
  AlignedVector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.normal() * scale);
  return values;
}

struct Shape {
  std::size_t rows;
  std::size_t width;
  std::size_t columns;
};

constexpr Shape kShapes[] = {{1, 16, 16},  {2, 32, 48},   {3, 48, 64},  {4, 16, 32},
                             {5, 144, 64}, {7, 144, 80},  {13, 64, 16}, {125, 144, 64},
                             {6, 16, 128}, {31, 704, 112}};

// The results of all kernels for one shape, in order.
std::vector<std::vector<float>> outcomes(const Kernels& k, const Shape& shape) {
  const auto rows = random_floats(shape.rows * shape.width, 1);
  const auto weights = random_floats(shape.width, 2);
  const auto matrix = random_floats(shape.width * shape.columns, 3);
  const auto bias = random_floats(shape.columns, 4);
  const auto deltas = random_floats(shape.rows * shape.columns, 5);
  std::vector<std::vector<float>> all;
  const auto keep = [&all](const auto& values) { all.emplace_back(values.begin(), values.end()); };

  AlignedVector<float> dots(shape.rows);
  k.dot_rows({rows.data(), shape.rows, shape.width, shape.width}, weights.data(), dots.data());
  keep(dots);

  for (const std::size_t vectors : {1U, 4U, 6U, 34U}) {
    const auto sets = random_floats(vectors * shape.width, 9);
    const std::size_t out_stride = shape.rows + 3;
    AlignedVector<float> each(vectors * out_stride, 7.0F);
    AlignedVector<float> one_by_one = each;
    const RowsView documents{rows.data(), shape.rows, shape.width, shape.width};
    k.dot_rows_each(documents, {sets.data(), vectors, shape.width, shape.width}, each.data(),
                    out_stride);
    for (std::size_t v = 0; v < vectors; ++v) {
      k.dot_rows(documents, sets.data() + v * shape.width, one_by_one.data() + v * out_stride);
    }
    EXPECT_EQ(std::memcmp(each.data(), one_by_one.data(), each.size() * sizeof(float)), 0)
        << k.name;
    keep(each);
  }

  std::vector<const float*> pointers;
  for (std::size_t r = 0; r < shape.rows; ++r) pointers.push_back(rows.data() + r * shape.width);
  const auto scales = random_floats(shape.rows, 6);
  AlignedVector<float> sum = weights;
  k.add_scaled_rows(pointers.data(), scales.data(), shape.rows, shape.width, sum.data());
  keep(sum);

  AlignedVector<float> product(shape.rows * shape.columns);
  k.multiply({rows.data(), shape.rows, shape.width, shape.width}, matrix.data(), shape.columns,
             bias.data(), product.data());
  keep(product);

  AlignedVector<float> updated = matrix;
  k.add_outer(rows.data(), deltas.data(), shape.rows, shape.width, shape.columns, 0.1F,
              updated.data());
  keep(updated);

  for (const Activation activation : {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
    AlignedVector<float> values = random_floats(shape.rows * shape.columns, 7, 20.0);
    values[0] = 1000;
    values[1] = -1000;
    k.activate(activation, values.data(), values.size());
    keep(values);
  }

  std::vector<double> masses(shape.rows * shape.columns);
  const auto scores = random_floats(masses.size(), 8, 5.0);
  const double max = k.exp_from_max(scores.data(), scores.size(), masses.data());
  keep(masses);
  all.push_back({static_cast<float>(max)});

  AlignedVector<float> normals(shape.rows * Rng::kNormalGroup);
  const std::uint32_t counter[] = {0xFFFFFFF0, 1, 2, 3};  // runs over the counter's end
  const std::uint32_t key[] = {4, 5};
  k.normals(counter, key, shape.rows, normals.data());
  keep(normals);

  auto padded_scores = random_floats((shape.rows + kLanes - 1) / kLanes * kLanes, 9);
  if (shape.rows > 4) padded_scores[3] = padded_scores[1];
  std::fill(padded_scores.begin() + static_cast<std::ptrdiff_t>(shape.rows), padded_scores.end(),
            std::numeric_limits<float>::infinity());
  AlignedVector<std::uint32_t> above(padded_scores.size());
  all.push_back(
      {static_cast<float>(k.count_above(padded_scores.data(), shape.rows, above.data()))});
  keep(above);
  AlignedVector<float> cubes(above.size());
  k.inverse_cubes(above.data(), above.size(), cubes.data());
  keep(cubes);

  for (const std::size_t k_best : {std::size_t{1}, std::min<std::size_t>(shape.rows, 10)}) {
    AlignedVector<float> kept(kMostKept + kLanes);
    AlignedVector<std::uint32_t> positions(kMostKept + kLanes);
    const std::size_t count =
        k.keep_best(padded_scores.data(), shape.rows, k_best, kept.data(), positions.data());
    all.emplace_back(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
    all.emplace_back(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

TEST(Kernels, EveryInstructionSetAgreesWithPlainCode) {
  ASSERT_EQ(all_kernels().front(), &kScalarKernels);
  for (const Kernels* k : all_kernels()) {
    for (const Shape& shape : kShapes) {
      const auto plain = outcomes(kScalarKernels, shape);
      const auto fast = outcomes(*k, shape);
      ASSERT_EQ(plain.size(), fast.size());
      for (std::size_t kernel = 0; kernel < plain.size(); ++kernel) {
        // At most `width` terms of size about 1: a bound of the sum of their magnitudes.
        const double bound = kKernelTolerance * static_cast<double>(shape.width);
        for (std::size_t i = 0; i < plain[kernel].size(); ++i) {
          ASSERT_NEAR(plain[kernel][i], fast[kernel][i], bound)
              << k->name << " kernel " << kernel << " at " << i;
        }
      }
    }
  }
}

// Scores at any place, with ties and infinities, and no readable memory after them.
TEST(Kernels, KeepBestKeepsTheBestAndWhatPlainCodeKeeps) {
  const float infinity = std::numeric_limits<float>::infinity();
  Rng rng({.seed = 44});
  for (std::size_t count = 1; count <= 300; count += count < 150 ? 1 : 29) {
    for (const std::uint32_t values : {1U, 3U, 60U, 1U << 20}) {
      testing::GuardedFloats scores(count);
      for (float& score : scores) {
        score = static_cast<float>(rng.below(values)) - 1;
        if (values == 60 && rng.below(9) == 0) score = rng.below(2) == 0 ? infinity : -infinity;
      }
      std::vector<float> sorted(scores.begin(), scores.end());
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (const std::size_t k : {1U, 2U, 10U, 16U}) {
        if (k > count) continue;
        std::vector<float> plain(kMostKept + kLanes);
        std::vector<std::uint32_t> plain_positions(kMostKept + kLanes);
        const std::size_t expected = kScalarKernels.keep_best(scores.begin(), count, k,
                                                              plain.data(), plain_positions.data());
        for (const Kernels* set : all_kernels()) {
          std::vector<float> kept(kMostKept + kLanes);
          std::vector<std::uint32_t> positions(kMostKept + kLanes);
          const std::size_t found =
              set->keep_best(scores.begin(), count, k, kept.data(), positions.data());
          ASSERT_EQ(found, expected) << set->name << ", " << count << " scores, k " << k;
          ASSERT_LE(found, kMostKept);
          if (found == 0) continue;
          const auto end = static_cast<std::ptrdiff_t>(found);
          ASSERT_TRUE(std::equal(kept.begin(), kept.begin() + end, plain.begin()));
          ASSERT_TRUE(
              std::equal(positions.begin(), positions.begin() + end, plain_positions.begin()));
          for (std::size_t at = 0; at < found; ++at) {
            ASSERT_EQ(kept[at], scores.begin()[positions[at]]);
          }
          // All scores that reach the k-th best are there.
          const auto reach = [&](const float* begin, const float* last) {
            return std::count_if(begin, last, [&](float one) { return one >= sorted[k - 1]; });
          };
          ASSERT_EQ(reach(kept.data(), kept.data() + found), reach(scores.begin(), scores.end()));
        }
      }
      if (values == 1) {
        std::vector<float> kept(kMostKept + kLanes);
        std::vector<std::uint32_t> positions(kMostKept + kLanes);
        const std::size_t found =
            kernels().keep_best(scores.begin(), count, 1, kept.data(), positions.data());
        EXPECT_EQ(found, count > kMostKept ? 0 : count);
      }
    }
  }
}

TEST(Kernels, ActivationsLeaveNanAsItIs) {
  for (const Kernels* k : all_kernels()) {
    for (const Activation activation :
         {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
      AlignedVector<float> values(kLanes, 0.5F);
      values[3] = std::numeric_limits<float>::quiet_NaN();
      k->activate(activation, values.data(), values.size());
      for (std::size_t at = 0; at < values.size(); ++at) {
        EXPECT_EQ(std::isnan(values[at]), at == 3) << k->name << " at " << at;
      }
    }
  }
}

TEST(Kernels, Avx2AndAvx512GiveTheSameBits) {
  const Kernels* avx2 = nullptr;
  const Kernels* avx512 = nullptr;
  for (const Kernels* k : all_kernels()) {
    if (k->name == "avx2") avx2 = k;
    if (k->name == "avx512") avx512 = k;
  }
  if (avx2 == nullptr || avx512 == nullptr) GTEST_SKIP() << "this machine lacks AVX-512";
  for (const Shape& shape : kShapes) {
    const auto narrow = outcomes(*avx2, shape);
    const auto wide = outcomes(*avx512, shape);
    for (std::size_t kernel = 0; kernel < narrow.size(); ++kernel) {
      EXPECT_EQ(std::memcmp(narrow[kernel].data(), wide[kernel].data(),
                            narrow[kernel].size() * sizeof(float)),
                0)
          << "kernel " << kernel << ", " << shape.rows << " x " << shape.width;
    }
  }
}

// Unaligned rows of any width, `stride` floats apart, with no readable memory after the last one;
// and the same rows padded, as the engine keeps its own.
struct OddRows {
  OddRows(std::size_t count, std::size_t width, std::size_t stride)
      : padded_width((width + kLanes - 1) / kLanes * kLanes),
        guarded((count - 1) * stride + width),
        padded(count * padded_width) {
    std::fill(guarded.begin(), guarded.end(), std::numeric_limits<float>::quiet_NaN());
    Rng rng({.seed = 43, .run = static_cast<std::uint32_t>(width * 100 + stride)});
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t f = 0; f < width; ++f) {
        const auto value = static_cast<float>(rng.normal());
        guarded.begin()[r * stride + f] = value;
        padded[r * padded_width + f] = value;
      }
    }
    odd_view = {guarded.begin(), count, stride, width};
    padded_view = {padded.data(), count, padded_width, padded_width};
  }

  std::size_t padded_width;
  testing::GuardedFloats guarded;
  AlignedVector<float> padded;
  RowsView odd_view;
  RowsView padded_view;
};

// The results of the three kernels that read rows.
std::vector<float> row_outcomes(const Kernels& k, const RowsView& rows, std::size_t padded_width) {
  constexpr std::size_t kColumns = 48;
  AlignedVector<float> weights = random_floats(padded_width, 21);
  const auto matrix = random_floats(padded_width * kColumns, 22);
  const auto bias = random_floats(kColumns, 23);
  const auto scales = random_floats(rows.count, 24);
  std::vector<float> all(rows.count);
  k.dot_rows(rows, weights.data(), all.data());
  std::vector<float> each(rows.count);
  k.dot_rows_each(rows, {weights.data(), 1, padded_width, padded_width}, each.data(), rows.count);
  all.insert(all.end(), each.begin(), each.end());

  AlignedVector<float> product(rows.count * kColumns);
  k.multiply(rows, matrix.data(), kColumns, bias.data(), product.data());
  all.insert(all.end(), product.begin(), product.end());

  std::vector<const float*> pointers;
  for (std::size_t r = 0; r < rows.count; ++r) pointers.push_back(rows.data + r * rows.stride);
  k.add_scaled_rows(pointers.data(), scales.data(), rows.count, rows.width, weights.data());
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

constexpr std::size_t kOddWidths[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 15, 16, 17, 20,
                                      23, 24, 25, 31, 32, 33, 40, 46, 47, 63, 65, 136};

TEST(Kernels, RowsOfAnyWidthStrideAndPlaceGiveThePaddedRowsBits) {
  for (const Kernels* k : all_kernels()) {
    for (const std::size_t width : kOddWidths) {
      for (const std::size_t stride : {width, width + 1, width + 13}) {
        for (const std::size_t count : {1U, 2U, 6U, 9U}) {
          const OddRows rows(count, width, stride);
          const auto odd = row_outcomes(*k, rows.odd_view, rows.padded_width);
          const auto padded = row_outcomes(*k, rows.padded_view, rows.padded_width);
          ASSERT_EQ(std::memcmp(odd.data(), padded.data(), odd.size() * sizeof(float)), 0)
              << k->name << ", " << count << " rows of " << width << ", stride " << stride;
        }
      }
    }
  }
}

TEST(Kernels, EveryInstructionSetAgreesWithPlainCodeOnRowsOfAnyWidth) {
  for (const Kernels* k : all_kernels()) {
    for (const std::size_t width : kOddWidths) {
      const OddRows rows(7, width, width + 5);
      const auto plain = row_outcomes(kScalarKernels, rows.odd_view, rows.padded_width);
      const auto fast = row_outcomes(*k, rows.odd_view, rows.padded_width);
      // Sums of products of normals, of at most width + 7 terms: ten times their number.
      const double bound = kKernelTolerance * 10 * static_cast<double>(width + 7);
      for (std::size_t at = 0; at < plain.size(); ++at) {
        ASSERT_NEAR(plain[at], fast[at], bound) << k->name << " " << width << " at " << at;
      }
    }
  }
}

// Proves that the guard works.
TEST(GuardedFloatsDeathTest, ReadingPastTheEndEndsTheProcess) {
  const testing::GuardedFloats floats(5);
  const volatile float* end = floats.end();
  EXPECT_DEATH((void)*end, "");
}

// Columns of every kind, the same for the same seed: constant, zeros of both signs, the widest and
// narrowest ranges of floats, infinities and NaN.
void fill_columns(testing::GuardedFloats& floats, std::size_t count, std::size_t stride,
                  std::size_t width, std::uint32_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {0.0F,
                                -0.0F,
                                std::numeric_limits<float>::denorm_min(),
                                std::numeric_limits<float>::max(),
                                -std::numeric_limits<float>::max(),
                                kInfinity,
                                -kInfinity,
                                std::numeric_limits<float>::quiet_NaN()};
  Rng rng({.seed = seed});
  std::fill(floats.begin(), floats.end(), 7.0F);
  for (std::size_t f = 0; f < width; ++f) {
    const std::uint32_t kind = rng.below(6);
    const double size = std::pow(2.0, static_cast<int>(rng.below(280)) - 149);
    const float first = static_cast<float>(rng.normal() * size);
    for (std::size_t r = 0; r < count; ++r) {
      float value = static_cast<float>(rng.normal() * size);
      if (kind == 0) value = first;
      if (kind == 1) value = kSpecial[rng.below(2)];
      if (kind == 2) value = kSpecial[rng.below(5)];
      if (kind == 3 && rng.below(4) == 0) value = kSpecial[rng.below(8)];
      floats.begin()[r * stride + f] = value;
    }
  }
}

TEST(Kernels, ScaleMinMaxGivesPlainCodesBitsForAnyValuesWidthAndStride) {
  for (const Kernels* k : all_kernels()) {
    for (const std::size_t width : kOddWidths) {
      for (const std::size_t stride : {width, width + 1, width + 13}) {
        for (const std::size_t count : {1U, 2U, 5U, 40U}) {
          testing::GuardedFloats plain((count - 1) * stride + width);
          testing::GuardedFloats fast((count - 1) * stride + width);
          const auto seed = static_cast<std::uint32_t>(width * 1000 + stride * 50 + count);
          fill_columns(plain, count, stride, width, seed);
          fill_columns(fast, count, stride, width, seed);
          kScalarKernels.scale_minmax(plain.begin(), count, stride, width);
          k->scale_minmax(fast.begin(), count, stride, width);
          ASSERT_EQ(std::memcmp(plain.begin(), fast.begin(),
                                static_cast<std::size_t>(plain.end() - plain.begin()) * 4),
                    0)
              << k->name << ", " << count << " rows of " << width << ", stride " << stride;
        }
      }
    }
  }
}

// Quotients m / 2^25, m odd and near 2^25: each right between two floats, where the least error of
// the double quotient shows.
TEST(Kernels, ScaleMinMaxRoundsAsDivisionDoes) {
  constexpr std::size_t kCount = 1000;
  constexpr std::size_t kColumns = 48;
  const auto fill = [](AlignedVector<float>& rows) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      const float unit = 1023.0F - 2.0F * static_cast<float>(c);  // range / 2^25
      for (std::size_t r = 0; r < kCount; ++r) {
        rows[r * kColumns + c] = unit * (0x1p11F - static_cast<float>(2 * r + 1));
      }
      rows[c] = unit * (0x1p11F - 0x1p25F);
      rows[kColumns + c] = unit * 0x1p11F;
    }
  };
  for (const Kernels* k : all_kernels()) {
    AlignedVector<float> plain(kCount * kColumns);
    AlignedVector<float> rows(kCount * kColumns);
    fill(plain);
    fill(rows);
    kScalarKernels.scale_minmax(plain.data(), kCount, kColumns, kColumns);
    k->scale_minmax(rows.data(), kCount, kColumns, kColumns);
    EXPECT_EQ(plain, rows) << k->name;
  }
}

TEST(Kernels, ExpFromMaxIsRightForScoresOfAnySize) {
  for (const Kernels* k : all_kernels()) {
    for (const std::size_t count : {1, 3, 8, 16, 17, 125}) {
      std::vector<float> scores(count, -1e30F);
      scores[count / 2] = 3e38F;
      std::vector<double> masses(count);
      EXPECT_EQ(k->exp_from_max(scores.data(), count, masses.data()), double{3e38F});
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(masses[i], i == count / 2 ? 1.0 : 0.0);

      for (std::size_t i = 0; i < count; ++i) scores[i] = -3.1F * static_cast<float>(i);
      EXPECT_EQ(k->exp_from_max(scores.data(), count, masses.data()), 0.0);
      for (std::size_t i = 0; i < count; ++i) {
        const double expected = std::exp(double{scores[i]});
        EXPECT_NEAR(masses[i] / expected, 1.0, 1e-14) << k->name << " " << count << " " << i;
      }
    }
  }
}

TEST(Kernels, CountAboveCountsWhatIsGreater) {
  for (const Kernels* k : all_kernels()) {
    for (std::size_t count = 1; count < 300; count += 7) {
      AlignedVector<float> scores = random_floats((count + kLanes - 1) / kLanes * kLanes, 11);
      for (std::size_t i = 0; i + 3 < count; i += 5) scores[i + 3] = scores[i];
      std::fill(scores.begin() + static_cast<std::ptrdiff_t>(count), scores.end(),
                std::numeric_limits<float>::infinity());
      AlignedVector<std::uint32_t> above(scores.size());
      const std::uint64_t sum = k->count_above(scores.data(), count, above.data());
      std::uint64_t expected_sum = 0;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        std::uint32_t expected = 0;
        for (std::size_t j = 0; j < count; ++j) expected += scores[j] > scores[i] ? 1 : 0;
        ASSERT_EQ(above[i], expected) << k->name << " " << count << " " << i;
        expected_sum += expected;
      }
      EXPECT_EQ(sum, expected_sum);
    }
  }
}

TEST(Kernels, SigmoidKeepsItsEndsExact) {
  for (const Kernels* k : all_kernels()) {
    AlignedVector<float> values(kLanes, 0.0F);
    values[0] = 3e38F;
    values[1] = -3e38F;
    k->activate(Activation::kSigmoid, values.data(), values.size());
    EXPECT_EQ(values[0], 1.0F);
    EXPECT_LT(values[1], 1e-37F);
    EXPECT_GE(values[1], 0.0F);
    EXPECT_EQ(values[2], 0.5F);
  }
}

}  // namespace
}  // namespace plackett
