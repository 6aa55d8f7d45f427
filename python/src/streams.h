// Random streams from what Python gives.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>

#include "plackett/rng.h"

namespace plackett::python {

namespace py = pybind11;

// Streams are numbered below 2^56.
inline constexpr std::uint64_t kMaxStreamImpression = (std::uint64_t{1} << 56) - 1;

// That stream, its seed the whole number `given`.
Rng rng_of(py::handle given, Rng::Stream stream);

// Where one call draws from: the arguments `seed` and `rng`, None where they were not given.
class Draws {
 public:
  // Exactly one of them was given: that stream with that seed, or the Rng itself, which goes on.
  // Fails otherwise: a seed of our own would draw the same in every call.
  Draws(py::handle seed, py::handle rng, Rng::Stream stream);

  // At most one of them was given; where none was, `fallback`.
  static Draws or_from(Rng::Stream fallback, py::handle seed, py::handle rng);

  // Requires: the Rng that was given is alive.
  [[nodiscard]] Rng& rng() { return own_ ? *own_ : *given_; }

 private:
  explicit Draws(Rng::Stream stream) : own_(stream) {}

  std::optional<Rng> own_;
  Rng* given_ = nullptr;
};

}  // namespace plackett::python
