// How much of a device's time each of several groups of runs has had, which share it.
#pragma once

#include <chrono>
#include <mutex>

namespace plackett::gpu {

// While `n` groups run, a second counts 1 / n for each, so that all together have had no more time
// than has passed. Groups are threads.
class ShareClock {
 public:
  // While it lives a group runs.
  class Entry {
   public:
    explicit Entry(ShareClock& clock) : clock_(clock) { clock_.change(1); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { clock_.change(-1); }

   private:
    ShareClock& clock_;
  };

  // Seconds that a group has had that runs since the clock was made.
  double now() {
    const std::lock_guard lock(mutex_);
    advance();
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void change(int by) {
    const std::lock_guard lock(mutex_);
    advance();
    groups_ += by;
  }
  void advance() {
    const auto now = Clock::now();
    if (groups_ > 0) seconds_ += std::chrono::duration<double>(now - last_).count() / groups_;
    last_ = now;
  }

  std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
  double seconds_ = 0;
  int groups_ = 0;
};

}  // namespace plackett::gpu
