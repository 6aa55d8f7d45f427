// Long work on a thread of its own, while the GIL is free and Ctrl-C stops it.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "plackett/simulation.h"

namespace plackett::python {

namespace py = pybind11;

// Runs `work`, which takes the GIL or lets it go for a while. If the program ends meanwhile, the
// interpreter unwinds this thread, which would release Python objects without the GIL, or leave a
// destructor by an exception: it calls `at_end` instead and waits here until the process is gone.
// Requires: `work` owns no Python object while it is without the GIL.
template <typename Work>
auto unless_the_program_ends(
    const Work& work, const std::function<void()>& at_end = [] {}) {
  try {
    return work();
  } catch (abi::__forced_unwind&) {
    at_end();
    while (true) pause();
  }
}

// While it waits, the calling thread handles signals and calls progress(done, total), both with the
// GIL, several times a second, and `progress` once more after success.
struct Waiting {
  py::object progress = py::none();  // None, or a function of impressions done and in total
  std::uint64_t total = 0;           // impressions
};

// Runs work(watch) on another thread and returns when it has ended. The watch stops the work when
// a signal handler or `progress` has raised; that exception is then thrown from here, with nothing
// left running; otherwise what `work` threw.
// Requires: the GIL is held. `work` runs without it.
void run_in_background(const std::function<void(const Watch&)>& work, const Waiting& waiting);

// The same, with the value that `work` returns.
template <typename Work>
auto in_background(const Work& work, const Waiting& waiting = {}) {
  std::optional<std::invoke_result_t<Work, const Watch&>> result;
  run_in_background([&](const Watch& watch) { result.emplace(work(watch)); }, waiting);
  return std::move(*result);
}

}  // namespace plackett::python
