#include "background.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace plackett::python {
namespace {

using namespace std::chrono_literals;
constexpr auto kLookEvery = 50ms;  // for signals; progress is told as often

// The thread at work. Where the interpreter ends its waiting thread, it is stopped all the same.
class Worker {
 public:
  explicit Worker(const std::function<void(const Watch&)>& work) {
    watch_.stop = [this] { return stop_.load(std::memory_order_relaxed); };
    watch_.advanced = [this](std::uint64_t impressions) {
      done_.fetch_add(impressions, std::memory_order_relaxed);
    };
    thread_ = std::thread([this, &work] {
      try {
        work(watch_);
      } catch (...) {
        failure_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    });
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stop(); }

  // Whether it has ended within that time.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return ended_; });
  }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

 private:
  Watch watch_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

// Whatever waits for the worker does so without the GIL: the worker may want it, to let go of an
// array. Plain calls, as the interpreter may end the thread in the second one.
template <typename Wait>
auto without_gil(const Wait& wait) {
  PyThreadState* state = PyEval_SaveThread();
  if constexpr (std::is_void_v<decltype(wait())>) {
    wait();
    PyEval_RestoreThread(state);
  } else {
    const auto result = wait();
    PyEval_RestoreThread(state);
    return result;
  }
}

}  // namespace

void run_in_background(const std::function<void(const Watch&)>& work, const Waiting& waiting) {
  const bool tells = !waiting.progress.is_none();
  Worker worker(work);
  try {
    while (!without_gil([&] { return worker.wait(kLookEvery); })) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (tells) waiting.progress(worker.done(), waiting.total);
    }
  } catch (...) {
    without_gil([&] { worker.stop(); });
    throw;
  }
  without_gil([&] { worker.stop(); });
  if (worker.failure()) std::rethrow_exception(worker.failure());
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (tells) waiting.progress(waiting.total, waiting.total);
}

}  // namespace plackett::python
