// Long work on a thread of its own, while the GIL is free and Ctrl-C stops it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "plackett/simulation.h"

namespace plackett::python {

namespace py = pybind11;

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
