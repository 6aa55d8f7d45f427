#include "background.h"

#include <atomic>
#include <chrono>
#include <future>

namespace plackett::python {

void run_in_background(const std::function<void(const Watch&)>& work, const Waiting& waiting) {
  using namespace std::chrono_literals;
  constexpr auto kPollEvery = 50ms;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  Watch watch;
  watch.stop = [&] { return stop.load(std::memory_order_relaxed); };
  watch.advanced = [&](std::uint64_t impressions) {
    done.fetch_add(impressions, std::memory_order_relaxed);
  };
  auto finished = std::async(std::launch::async, [&] { work(watch); });
  // Without the GIL: the worker may need it, to release an array.
  const auto ended = [&] {
    PyThreadState* state = PyEval_SaveThread();
    const bool ready = finished.wait_for(kPollEvery) == std::future_status::ready;
    unless_the_program_ends([&] { PyEval_RestoreThread(state); },
                            [&] {
                              stop = true;
                              finished.wait();
                            });
    return ready;
  };
  const bool tells = !waiting.progress.is_none();
  try {
    while (!ended()) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (tells) waiting.progress(done.load(std::memory_order_relaxed), waiting.total);
    }
  } catch (const std::exception&) {
    stop = true;
    while (!ended()) continue;
    throw;
  }
  finished.get();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (tells) waiting.progress(waiting.total, waiting.total);
}

}  // namespace plackett::python
