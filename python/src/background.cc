#include "background.h"

#include <cxxabi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace plackett::python {
namespace {

using namespace std::chrono_literals;
constexpr auto kLookEvery = 50ms;  // for signals; progress is told as often

// The thread at work.
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

// Takes the GIL again. At the program's end the interpreter ends a daemon thread that asks for it,
// by unwinding; objects let go of on that way would be let go of without the GIL. So the thread
// stays here for the moment that the process still has.
void take_gil(PyThreadState* state, Worker& worker) {
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    worker.stop();
    while (true) pause();
  }
}

// Whatever waits for the worker does so without the GIL: the worker may want it, to let go of an
// array.
bool wait_without_gil(Worker& worker) {
  PyThreadState* state = PyEval_SaveThread();
  const bool ended = worker.wait(kLookEvery);
  take_gil(state, worker);
  return ended;
}

void stop_without_gil(Worker& worker) {
  PyThreadState* state = PyEval_SaveThread();
  worker.stop();
  take_gil(state, worker);
}

}  // namespace

void run_in_background(const std::function<void(const Watch&)>& work, const Waiting& waiting) {
  const bool tells = !waiting.progress.is_none();
  Worker worker(work);
  try {
    while (!wait_without_gil(worker)) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (tells) waiting.progress(worker.done(), waiting.total);
    }
  } catch (const std::exception&) {
    stop_without_gil(worker);
    throw;
  }
  stop_without_gil(worker);
  if (worker.failure()) std::rethrow_exception(worker.failure());
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (tells) waiting.progress(waiting.total, waiting.total);
}

}  // namespace plackett::python
