#include "plackett/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace plackett {
namespace {

Result<std::unique_ptr<int>> half_of(int number) {
  if (number % 2 != 0) return Error{"odd"};
  return std::make_unique<int>(number / 2);
}

TEST(Result, HoldsEitherTheValueOrTheError) {
  auto four = half_of(8);
  ASSERT_TRUE(four.ok());
  EXPECT_EQ(**four, 4);
  EXPECT_EQ(half_of(7).error().message, "odd");
}

TEST(Result, GivesUpItsValueWhenMovedFrom) {
  std::unique_ptr<int> taken = half_of(6).value();
  EXPECT_EQ(*taken, 3);
}

TEST(Result, WithoutAValueIsSuccessByDefault) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(Result<void>(Error{"no"}).ok());
}

}  // namespace
}  // namespace plackett
