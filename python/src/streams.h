// Random streams from what Python gives.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

#include "plackett/rng.h"

namespace plackett::python {

namespace py = pybind11;

// Streams are numbered below 2^56.
inline constexpr std::uint64_t kMaxStreamImpression = (std::uint64_t{1} << 56) - 1;

// That stream, its seed the whole number `given`.
Rng rng_of(py::handle given, Rng::Stream stream);

}  // namespace plackett::python
