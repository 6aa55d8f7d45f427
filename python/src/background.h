// Long work on a thread of its own, so that Python goes on: the GIL is free, Ctrl-C stops it.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "plackett/simulation.h"

namespace plackett::python {

namespace py = pybind11;

// How the calling thread waits: it looks for signals and calls progress(done, total), both with
// the GIL, every so often, and `progress` once more at a good end.
struct Waiting {
  py::object progress =
      py::none();           // None, or a function of how many impressions are done and of all
  std::uint64_t total = 0;  // impressions
};

// Runs work(watch) on another thread and returns when it has ended. The watch stops the work once
// a signal's handler or `progress` has raised, and that exception is then thrown from here, with
// nothing left running; otherwise what `work` threw.
// Requires: the GIL is held. `work` runs without it.
void run_in_background(const std::function<void(const Watch&)>& work, const Waiting& waiting);

template <typename T>
T in_background(const std::function<T(const Watch&)>& work, const Waiting& waiting) {
  std::optional<T> result;
  run_in_background([&](const Watch& watch) { result.emplace(work(watch)); }, waiting);
  return std::move(*result);
}

}  // namespace plackett::python
