#include "experiment/made_ahead.h"

#include <gtest/gtest.h>

#include <new>
#include <thread>

namespace plackett {
namespace {

TEST(MadeAhead, IsWhatAnotherThreadMadeAndIsGivenOnce) {
  MadeAhead<std::thread::id> ahead;
  const auto here = [] { return Result(std::this_thread::get_id()); };
  EXPECT_EQ(ahead.get(here).value(), std::this_thread::get_id());
  ahead.start(here);
  EXPECT_NE(ahead.get(here).value(), std::this_thread::get_id());
  EXPECT_EQ(ahead.get(here).value(), std::this_thread::get_id());
}

TEST(MadeAhead, IsMadeAgainWhereThereWasNoMemoryBesideTheOneBefore) {
  MadeAhead<int> ahead;
  const auto now = [] { return Result(2); };
  ahead.start([]() -> Result<int> { throw std::bad_alloc(); });
  EXPECT_EQ(ahead.get(now).value(), 2);
  ahead.start([] { return Result<int>(Error{ErrorCode::kUnavailable, "out of memory"}); });
  EXPECT_EQ(ahead.get(now).value(), 2);
}

TEST(MadeAhead, FailsAsItsMakerDoes) {
  MadeAhead<int> ahead;
  int again = 0;
  const auto count = [&again] { return Result(++again); };
  ahead.start([] { return Result<int>(Error{"no such file"}); });
  EXPECT_EQ(ahead.get(count).error().message, "no such file");
  EXPECT_EQ(again, 0);
  const auto fails = [] { return Result<int>(Error{ErrorCode::kUnavailable, "out of memory"}); };
  ahead.start(fails);
  EXPECT_EQ(ahead.get(fails).error().message, "out of memory");
}

}  // namespace
}  // namespace plackett
