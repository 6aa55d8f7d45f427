// The thread on which requests read the store: none of them waits for ever.
#include "serving/read_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace plackett::serving {
namespace {

using std::chrono::milliseconds;

// A read that hangs until it is released, and what became of others.
class ReadsBehindOne : public ::testing::Test {
 protected:
  void hang(ReadThread& thread) {
    thread.submit([this](const Result<void>&) {
      started_.set_value();
      release_.get_future().wait();
    });
    started_.get_future().wait();
  }
  void release() { release_.set_value(); }

  // "read", or why it was refused.
  static std::future<std::string> submit(ReadThread& thread) {
    auto told = std::make_shared<std::promise<std::string>>();
    thread.submit([told](const Result<void>& turn) {
      told->set_value(turn ? "read" : turn.error().message);
    });
    return told->get_future();
  }

 private:
  std::promise<void> started_;
  std::promise<void> release_;
};

TEST_F(ReadsBehindOne, AreRefusedAtOnceIfTooManyWait) {
  ReadThread thread({.limit = 2});
  hang(thread);
  std::vector<std::future<std::string>> waiting;
  waiting.push_back(submit(thread));
  waiting.push_back(submit(thread));
  EXPECT_EQ(submit(thread).get(),
            "2 requests wait to read the store, the most that may; try again later");
  release();
  for (auto& one : waiting) EXPECT_EQ(one.get(), "read");
}

TEST_F(ReadsBehindOne, AreRefusedIfTheirTurnComesTooLate) {
  ReadThread thread({.patience = milliseconds(20)});
  hang(thread);
  auto late = submit(thread);
  std::this_thread::sleep_for(milliseconds(40));
  release();
  EXPECT_NE(late.get().find("the store answers too slowly"), std::string::npos);
  EXPECT_EQ(submit(thread).get(), "read");
}

TEST_F(ReadsBehindOne, AreRefusedWhenTheServiceStops) {
  ReadThread thread;
  hang(thread);
  auto waiting = submit(thread);
  auto stopped = std::async(std::launch::async, [&] { thread.stop(); });
  while (submit(thread).wait_for(milliseconds(1)) != std::future_status::ready) {
  }
  release();
  stopped.wait();
  EXPECT_EQ(waiting.get(), "the service is stopping");
  EXPECT_EQ(submit(thread).get(), "the service is stopping");
}

}  // namespace
}  // namespace plackett::serving
