#include "base/portable_exp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/kernels.h"
#include "plackett/rng.h"

namespace plackett {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// How far `value` is from the truth, in units of the last place of a double that large.
double ulps(double value, long double truth) {
  const double magnitude = std::abs(static_cast<double>(truth));
  const double unit = std::max(std::nextafter(magnitude, kInfinity) - magnitude,
                               std::numeric_limits<double>::denorm_min());
  return static_cast<double>(std::abs(static_cast<long double>(value) - truth) / unit);
}

// Many arguments of each size; long double has 64 bits of mantissa.
template <typename Function, typename Truth>
double worst_error(double least, double most, Function function, Truth truth) {
  constexpr int kCount = 400'000;
  Rng rng({.seed = 1});
  double worst = 0;
  for (int at = 0; at < kCount; ++at) {
    const double x = least + (most - least) * rng.uniform();
    worst = std::max(worst, ulps(function(x), truth(static_cast<long double>(x))));
  }
  return worst;
}

double worst_of_exp(double least, double most) {
  return worst_error(least, most, portable_exp, [](long double x) { return std::exp(x); });
}

double worst_of_log(double least, double most) {
  return worst_error(least, most, portable_log, [](long double x) { return std::log(x); });
}

TEST(PortableExp, IsAtMostOneUlpOff) {
  EXPECT_LT(worst_of_exp(-0.3466, 0.3466), 1);
  EXPECT_LT(worst_of_exp(-1e-3, 1e-3), 1);
  EXPECT_LT(worst_of_exp(-40, 0), 1);
  EXPECT_LT(worst_of_exp(-708, 709.7), 1);
  EXPECT_LT(worst_of_exp(-745.2, -708), 1);  // below the normal range
}

TEST(PortableExp, CheckRejectsAPolynomialThatIsOneTermShort) {
  const auto short_exp = [](double x) { return 1 + x * (1 + x * (0.5 + x / 6)); };
  EXPECT_GT(worst_error(-0.01, 0.01, short_exp, [](long double x) { return std::exp(x); }), 100);
}

TEST(PortableExp, KeepsItsPromisesAtTheEnds) {
  EXPECT_EQ(portable_exp(0.0), 1);
  EXPECT_EQ(portable_exp(-0.0), 1);
  EXPECT_EQ(portable_exp(-kInfinity), 0);
  EXPECT_EQ(portable_exp(-746), 0);
  EXPECT_EQ(portable_exp(-745), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(portable_exp(709.79), kInfinity);
  EXPECT_EQ(portable_exp(1e300), kInfinity);
  EXPECT_TRUE(std::isnan(portable_exp(kNaN)));
}

TEST(PortableExp, IsTheKernelsExpToTheBitOnEveryInstructionSet) {
  Rng rng({.seed = 2});
  for (const std::size_t count : {1, 2, 7, 8, 15, 16, 17, 125, 1000}) {
    std::vector<float> scores(count);
    for (std::size_t at = 0; at < count; ++at) {
      scores[at] = static_cast<float>((at % 3 == 0 ? 1000 : 4) * (rng.uniform() - 0.5));
    }
    const double max = *std::max_element(scores.begin(), scores.end());
    for (const Kernels* kernels : all_kernels()) {
      std::vector<double> masses(count);
      EXPECT_EQ(kernels->exp_from_max(scores.data(), count, masses.data()), max);
      for (std::size_t at = 0; at < count; ++at) {
        EXPECT_EQ(masses[at], portable_exp(scores[at] - max)) << kernels->name << ' ' << scores[at];
        masses[at] = scores[at] - max;
      }
      kernels->exp_each(masses.data(), count);
      for (std::size_t at = 0; at < count; ++at) {
        EXPECT_EQ(masses[at], portable_exp(scores[at] - max)) << kernels->name << ' ' << scores[at];
      }
    }
  }
}

TEST(PortableLog, IsAtMostOneUlpOff) {
  EXPECT_LT(worst_of_log(0.70, 1.42), 1);
  EXPECT_LT(worst_of_log(0.999, 1.001), 1);
  EXPECT_LT(worst_of_log(1, 1000), 1);
  EXPECT_LT(worst_of_log(1e-300, 1e-290), 1);
  EXPECT_LT(worst_of_log(1e-320, 1e-310), 1);
  EXPECT_LT(worst_of_log(1e300, 1e308), 1);
}

TEST(PortableLog, KeepsItsPromisesAtTheEnds) {
  EXPECT_EQ(portable_log(1.0), 0);
  EXPECT_EQ(portable_log(0.0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1.0)));
  EXPECT_TRUE(std::isnan(portable_log(kNaN)));
}

}  // namespace
}  // namespace plackett
