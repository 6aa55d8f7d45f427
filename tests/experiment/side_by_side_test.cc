#include "experiment/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.h"

namespace plackett {
namespace {

using ::testing::ElementsAre;
using testing::eventually;

const Error kNoMemory(ErrorCode::kUnavailable, "out of memory");

TEST(SideBySide, WorksOnPartsWhileTheNextAreLoaded) {
  std::atomic<int> under_way{0};
  const auto load = [&](std::size_t) -> Result<LoadedWork> {
    return LoadedWork([&]() -> Result<void> {
      ++under_way;
      EXPECT_TRUE(eventually([&] { return under_way == 3; }));
      return {};
    });
  };
  EXPECT_TRUE(do_in_parts({.count = 3, .load = load}).ok());
}

TEST(SideBySide, WorksOnOnePartAfterAnotherIfAskedTo) {
  std::vector<std::string> calls;
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    calls.push_back("load " + std::to_string(at));
    return LoadedWork([&calls, at]() -> Result<void> {
      calls.push_back("work " + std::to_string(at));
      return {};
    });
  };
  EXPECT_TRUE(do_in_parts({.count = 2, .load = load, .side_by_side = false}).ok());
  EXPECT_THAT(calls, ElementsAre("load 0", "work 0", "load 1", "work 1"));
}

TEST(SideBySide, FreesWhatWasLoadedWhenTheWorkOnItEnds) {
  std::vector<std::weak_ptr<int>> loaded(2);
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    const auto owned = std::make_shared<int>();
    loaded[at] = owned;
    return LoadedWork([&, at, owned]() -> Result<void> {
      if (at == 1) {
        EXPECT_TRUE(eventually([&] { return loaded[0].expired(); }));
      }
      return {};
    });
  };
  EXPECT_TRUE(do_in_parts({.count = 2, .load = load}).ok());
}

TEST(SideBySide, LoadsAPartAgainThatHadNoMemoryBesideOthers) {
  for (const bool throws : {false, true}) {
    std::weak_ptr<int> first;
    std::atomic<int> tries{0};
    bool is_done = false;
    const auto load = [&](std::size_t at) -> Result<LoadedWork> {
      const auto owned = std::make_shared<int>();
      if (at == 0) {
        first = owned;
        return LoadedWork([&, owned]() -> Result<void> {
          EXPECT_TRUE(eventually([&] { return tries > 0; }));
          return {};
        });
      }
      ++tries;
      if (first.expired()) {
        return LoadedWork([&] {
          is_done = true;
          return Result<void>();
        });
      }
      if (throws) throw std::bad_alloc();
      return kNoMemory;
    };
    const auto done = do_in_parts({.count = 2, .load = load});
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_EQ(tries, 2);
    EXPECT_TRUE(is_done);
  }
}

TEST(SideBySide, FailsIfOnePartHasNoMemoryAlone) {
  int tries = 0;
  const auto load = [&](std::size_t) -> Result<LoadedWork> {
    ++tries;
    return kNoMemory;
  };
  EXPECT_EQ(do_in_parts({.count = 2, .load = load}).error().message, "out of memory");
  EXPECT_EQ(tries, 1);
  const auto throwing = [&](std::size_t) -> Result<LoadedWork> { throw std::bad_alloc(); };
  EXPECT_THROW((void)do_in_parts({.count = 2, .load = throwing}), std::bad_alloc);
}

TEST(SideBySide, LoadsFourAtATimeAtMostAndTwoWhereMemoryIsShort) {
  for (const bool has_memory : {true, false}) {
    const int expected = has_memory ? 4 : 2;
    std::atomic<int> loaded{0};
    std::atomic<int> most{0};
    const auto load = [&](std::size_t) -> Result<LoadedWork> {
      most = std::max<int>(most, ++loaded);
      return LoadedWork([&]() -> Result<void> {
        EXPECT_TRUE(eventually([&] { return most == expected; }));
        --loaded;
        return {};
      });
    };
    EXPECT_TRUE(
        do_in_parts({.count = 20, .load = load, .has_memory = [&] { return has_memory; }}).ok());
    EXPECT_EQ(most, expected);
  }
}

// Work that is under way may lose much if it is stopped.
TEST(SideBySide, AfterAFailureLoadsNoMoreLetsOthersEndAndReturnsTheEarliest) {
  std::atomic<int> under_way{0};
  std::atomic<int> ended{0};
  std::size_t loaded = 0;
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    ++loaded;
    return LoadedWork([&, at]() -> Result<void> {
      ++under_way;
      EXPECT_TRUE(eventually([&] { return under_way == 4; }));
      if (at != 1) {
        EXPECT_TRUE(eventually([&] { return ended > 0; }));
      }
      ++ended;
      if (at > 1) return {};
      return Error{"part " + std::to_string(at)};
    });
  };
  EXPECT_EQ(do_in_parts({.count = 6, .load = load}).error().message, "part 0");
  EXPECT_EQ(ended, 4);
  EXPECT_EQ(loaded, 4U);
}

TEST(SideBySide, OneThatCannotBeLoadedLetsOthersEnd) {
  std::atomic<bool> has_failed{false};
  std::atomic<bool> has_ended{false};
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    if (at == 1) {
      has_failed = true;
      return Error{"no such file"};
    }
    return LoadedWork([&]() -> Result<void> {
      has_ended = eventually([&] { return has_failed.load(); });
      return {};
    });
  };
  EXPECT_EQ(do_in_parts({.count = 3, .load = load}).error().message, "no such file");
  EXPECT_TRUE(has_ended);
}

TEST(SideBySide, BeginsNoWorkOnWhatWasBeingLoadedWhenItWasStopped) {
  std::atomic<bool> is_stopped{false};
  bool has_begun = false;
  const auto load = [&](std::size_t) -> Result<LoadedWork> {
    is_stopped = true;
    return LoadedWork([&] {
      has_begun = true;
      return Result<void>();
    });
  };
  EXPECT_TRUE(
      do_in_parts({.count = 2, .load = load, .stop = [&] { return is_stopped.load(); }}).ok());
  EXPECT_FALSE(has_begun);
}

TEST(SideBySide, StoppedItLoadsNoMoreAndSucceeds) {
  std::atomic<bool> is_stopped{false};
  std::size_t loaded = 0;
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    ++loaded;
    if (at == 1) is_stopped = true;
    return LoadedWork([&]() -> Result<void> {
      EXPECT_TRUE(eventually([&] { return is_stopped.load(); }));
      return {};
    });
  };
  EXPECT_TRUE(
      do_in_parts({.count = 3, .load = load, .stop = [&] { return is_stopped.load(); }}).ok());
  EXPECT_EQ(loaded, 2U);
}

TEST(SideBySide, StopsWhileAPartWaitsForMemory) {
  std::atomic<bool> is_stopped{false};
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    if (at == 1) {
      is_stopped = true;
      return kNoMemory;
    }
    return LoadedWork([&]() -> Result<void> {
      EXPECT_TRUE(eventually([&] { return is_stopped.load(); }));
      return {};
    });
  };
  EXPECT_TRUE(
      do_in_parts({.count = 2, .load = load, .stop = [&] { return is_stopped.load(); }}).ok());
}

TEST(SideBySide, WhatWorkThrowsIsThrownWhenAllHasEnded) {
  std::atomic<bool> throws{false};
  std::atomic<bool> has_ended{false};
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    return LoadedWork([&, at]() -> Result<void> {
      if (at == 1) {
        throws = true;
        throw std::runtime_error("thrown");
      }
      has_ended = eventually([&] { return throws.load(); });
      return {};
    });
  };
  EXPECT_THROW((void)do_in_parts({.count = 2, .load = load}), std::runtime_error);
  EXPECT_TRUE(has_ended);
}

TEST(SideBySide, WorksOnTheCallingThreadWhereNoOtherCanBeHad) {
  pthread_attr_t usual;
  pthread_attr_t too_large;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_getattr_default_np(&too_large), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&too_large, std::size_t{1} << 60), 0);
  ASSERT_EQ(pthread_setattr_default_np(&too_large), 0);
  std::vector<std::thread::id> threads;
  const auto load = [&](std::size_t) -> Result<LoadedWork> {
    return LoadedWork([&]() -> Result<void> {
      threads.push_back(std::this_thread::get_id());
      return {};
    });
  };
  const auto done = do_in_parts({.count = 2, .load = load});
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
  pthread_attr_destroy(&usual);
  pthread_attr_destroy(&too_large);
  EXPECT_TRUE(done.ok());
  EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id(), std::this_thread::get_id()));
}

}  // namespace
}  // namespace plackett
