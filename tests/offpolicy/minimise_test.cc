#include "offpolicy/minimise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace plackett {
namespace {

using ::testing::ElementsAre;

double rosenbrock(std::span<const double> at, std::span<double> gradient) {
  const double bend = at[1] - at[0] * at[0];
  const double rest = 1 - at[0];
  gradient[0] = -400 * at[0] * bend - 2 * rest;
  gradient[1] = 200 * bend;
  return 100 * bend * bend + rest * rest;
}

TEST(Minimise, FindsTheEndOfACurvedValleyAndNeverGoesUp) {
  std::vector<double> point = {-1.2, 1};
  double last = std::numeric_limits<double>::infinity();
  int steps = 0;
  const Minimum minimum = minimise({.function = rosenbrock,
                                    .stepped =
                                        [&](auto at) {
                                          double ignored[2];
                                          const double value = rosenbrock(at, ignored);
                                          EXPECT_LE(value, last);
                                          last = value;
                                          ++steps;
                                          return true;
                                        },
                                    .iterations = 500},
                                   point);
  EXPECT_TRUE(minimum.converged);
  EXPECT_EQ(minimum.iterations, steps);
  EXPECT_NEAR(point[0], 1, 1e-5);
  EXPECT_NEAR(point[1], 1, 1e-5);
}

TEST(Minimise, SaysThatTheIterationsWereUsedUp) {
  std::vector<double> point = {-1.2, 1};
  const Minimum minimum = minimise(
      {.function = rosenbrock, .stepped = [](auto) { return true; }, .iterations = 5}, point);
  EXPECT_FALSE(minimum.converged);
  EXPECT_EQ(minimum.iterations, 5U);
}

TEST(Minimise, StopsWhenItIsTold) {
  std::vector<double> point = {-1.2, 1};
  const Minimum minimum = minimise(
      {.function = rosenbrock, .stepped = [](auto) { return false; }, .iterations = 500}, point);
  EXPECT_TRUE(minimum.converged);
  EXPECT_EQ(minimum.iterations, 1U);
}

TEST(Minimise, ShortensAStepToWhereThereIsNoValue) {
  // x - log x, which has a value above 0 only.
  std::vector<double> point = {30};
  const auto function = [](auto at, auto gradient) {
    gradient[0] = 1 - 1 / at[0];
    return at[0] > 0 ? at[0] - std::log(at[0]) : std::numeric_limits<double>::quiet_NaN();
  };
  const Minimum minimum = minimise(
      {.function = function, .stepped = [](auto) { return true; }, .iterations = 500}, point);
  EXPECT_TRUE(minimum.converged);
  EXPECT_NEAR(point[0], 1, 1e-4);
}

TEST(Minimise, PassesOnWhatTheFunctionThrows) {
  std::vector<double> point = {-1.2, 1};
  int calls = 0;
  const auto function = [&](auto at, auto gradient) {
    if (++calls == 5) throw std::runtime_error("enough");
    return rosenbrock(at, gradient);
  };
  EXPECT_THROW(
      minimise({.function = function, .stepped = [](auto) { return true; }, .iterations = 500},
               point),
      std::runtime_error);
  EXPECT_EQ(calls, 5);
}

TEST(Minimise, StaysAtAMinimum) {
  std::vector<double> point = {1, 1};
  const Minimum minimum = minimise(
      {.function = rosenbrock, .stepped = [](auto) { return true; }, .iterations = 500}, point);
  EXPECT_TRUE(minimum.converged);
  EXPECT_THAT(point, ElementsAre(1, 1));
}

}  // namespace
}  // namespace plackett
