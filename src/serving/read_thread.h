// The thread on which requests read the store, so that no other request waits for a read that
// hangs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "plackett/result.h"

namespace plackett::serving {

// Calls may come from any thread.
class ReadThread {
 public:
  struct Options {
    std::size_t limit = 256;  // reads waiting for their turn; more are refused
    // Those that waited longer are refused when their turn comes.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
  };
  // Told once whether it may read: if so, on this thread, one at a time and in the order of the
  // calls. Must not throw.
  using Job = std::function<void(const Result<void>& turn)>;

  explicit ReadThread(Options options);
  ReadThread() : ReadThread(Options{}) {}
  ReadThread(const ReadThread&) = delete;
  ReadThread& operator=(const ReadThread&) = delete;
  ~ReadThread() { stop(); }

  // Refuses the job at once with ErrorCode::kUnavailable if too many wait, and after stop().
  void submit(Job job);
  // Refuses those that wait, and blocks until the one that reads has ended.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Job job;
    Clock::time_point since;
  };
  void run();

  const Options options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace plackett::serving
