#include "base/portable_activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/aligned.h"
#include "base/kernels.h"

namespace plackett {
namespace {

constexpr float kInfinityF = std::numeric_limits<float>::infinity();

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double tanh_of(double x) { return std::tanh(x); }

// Floats of every sign and exponent.
std::vector<float> many_floats() {
  constexpr std::uint32_t kStep = 1009;
  std::vector<float> floats;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += kStep) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  floats.insert(floats.end(), {0.0F, -0.0F, 0.625F, -0.625F, 88.0F, -88.0F, 10.0F, -10.0F,
                               kInfinityF, -kInfinityF});
  return floats;
}

// The largest error over floats of the size from `least` to `most`, in units of the last place of
// the truth.
template <typename Function>
double worst_float_error(double least, double most, Function function, double (*truth)(double)) {
  double worst = 0;
  for (const float x : many_floats()) {
    if (!(std::abs(x) >= least && std::abs(x) <= most)) continue;
    const double expected = truth(x);
    const auto size = static_cast<float>(std::abs(expected));
    const double unit = double{std::nextafter(size, kInfinityF)} - double{size};
    worst = std::max(worst, std::abs(double{function(x)} - expected) / unit);
  }
  return worst;
}

TEST(PortableActivation, SigmoidIsAtMostThreeUlpsOff) {
  EXPECT_LT(worst_float_error(0, 1, portable_sigmoid, sigmoid_of), 2);
  EXPECT_LT(worst_float_error(1, 87, portable_sigmoid, sigmoid_of), 3);
}

TEST(PortableActivation, TanhIsAtMostTwoUlpsOff) {
  EXPECT_LT(worst_float_error(1e-30, 0.7, portable_tanh, tanh_of), 2);
  EXPECT_LT(worst_float_error(0.6, 100, portable_tanh, tanh_of), 2);
}

TEST(PortableActivation, CheckRejectsATanhThatIsOneTermShort) {
  const auto short_tanh = [](float x) { return x - x * x * x / 3; };
  EXPECT_GT(worst_float_error(0.1, 0.2, short_tanh, tanh_of), 100);
}

TEST(PortableActivation, KeepsItsPromisesAtTheEnds) {
  EXPECT_EQ(portable_sigmoid(0.0F), 0.5F);
  EXPECT_EQ(portable_sigmoid(kInfinityF), 1.0F);
  EXPECT_EQ(portable_sigmoid(88.0F), 1.0F);
  EXPECT_GE(portable_sigmoid(-kInfinityF), 0.0F);
  EXPECT_LT(portable_sigmoid(-kInfinityF), 1e-37F);
  EXPECT_EQ(portable_tanh(0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(portable_tanh(-0.0F)));
  EXPECT_EQ(portable_tanh(kInfinityF), 1.0F);
  EXPECT_EQ(portable_tanh(-10.0F), -1.0F);
  for (const Activation activation : {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(portable_activation(activation, nan)));
  }
  EXPECT_EQ(portable_activation(Activation::kRelu, -3.0F), 0.0F);
  EXPECT_EQ(portable_activation(Activation::kRelu, 3.0F), 3.0F);
}

TEST(PortableActivation, IsTheKernelsToTheBitWhereTheyFuse) {
  const std::vector<float> floats = many_floats();
  const std::size_t count = floats.size() / kLanes * kLanes;
  for (const Kernels* kernels : all_kernels()) {
    if (kernels->name != "avx2" && kernels->name != "avx512") continue;
    for (const Activation activation :
         {Activation::kSigmoid, Activation::kRelu, Activation::kTanh}) {
      AlignedVector<float> values(floats.end() - static_cast<std::ptrdiff_t>(count), floats.end());
      const AlignedVector<float> given = values;
      kernels->activate(activation, values.data(), count);
      std::size_t wrong = 0;
      for (std::size_t at = 0; at < count; ++at) {
        if (std::isnan(given[at]) && std::isnan(values[at])) continue;
        const float expected = portable_activation(activation, given[at]);
        if (std::bit_cast<std::uint32_t>(values[at]) == std::bit_cast<std::uint32_t>(expected)) {
          continue;
        }
        if (++wrong < 5) {
          ADD_FAILURE() << kernels->name << ' ' << static_cast<int>(activation) << " of "
                        << given[at] << ": " << values[at] << ", expected " << expected;
        }
      }
      EXPECT_EQ(wrong, 0U);
    }
  }
}

}  // namespace
}  // namespace plackett
