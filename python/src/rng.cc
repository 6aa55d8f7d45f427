// Random streams by name, the engine's own.
#include "plackett/rng.h"

#include <array>
#include <string_view>
#include <utility>

#include "arguments.h"
#include "bindings.h"
#include "failure.h"
#include "made.h"
#include "streams.h"

namespace plackett::python {
namespace {

// As docs/formats/random_numbers.md names them.
constexpr std::array<std::pair<std::string_view, Purpose>, 7> kPurposes{{
    {"query", Purpose::kQuery},
    {"ranking", Purpose::kRanking},
    {"clicks", Purpose::kClicks},
    {"initialise", Purpose::kInitialise},
    {"tie-break", Purpose::kTieBreak},
    {"synthetic", Purpose::kSynthetic},
    {"test", Purpose::kTest},
}};

Purpose purpose_of(const std::string& wanted) {
  std::string known;
  for (const auto& [name, purpose] : kPurposes) {
    if (name == wanted) return purpose;
    known += known.empty() ? "" : ", ";
    known += name;
  }
  bad_value("purpose: \"{}\"; known are {}", wanted, known);
}

Rng stream(py::handle seed, py::handle run, py::handle impression, py::handle purpose) {
  return Rng({whole(seed, "seed", {}), whole32(run, "run", {}),
              whole(impression, "impression", {0, kMaxStreamImpression}),
              purpose_of(text(purpose, "purpose"))});
}

}  // namespace

Rng rng_of(py::handle given, Rng::Stream stream) {
  if (py::isinstance<Rng>(given)) {
    bad_type("seed: a plackett.Rng; give it as rng");
  }
  stream.seed = whole(given, "seed", {});
  return Rng(stream);
}

Draws::Draws(py::handle seed, py::handle rng, Rng::Stream stream) {
  if (seed.is_none() == rng.is_none()) {
    bad_type(
        "seed, rng: {}; give one of them: with a seed every call draws the same, an rng "
        "(plackett.stream(1)) goes on",
        seed.is_none() ? "neither" : "both");
  }
  if (rng.is_none()) {
    own_.emplace(rng_of(seed, stream));
    return;
  }
  if (!py::isinstance<Rng>(rng)) bad_type("rng: {}; it is a plackett.Rng", shown_value(rng));
  given_ = &py::cast<Rng&>(rng);
}

Draws Draws::or_from(Rng::Stream fallback, py::handle seed, py::handle rng) {
  if (seed.is_none() && rng.is_none()) return Draws(fallback);
  return {seed, rng, fallback};
}

void bind_rng(py::module_& module) {
  py::class_<Rng> rng_type(
      module, "Rng",
      R"(A stream of random numbers, named by (seed, run, impression, purpose): what plackett.stream gives.

The engine draws everything from such streams (docs/formats/random_numbers.md), so that any event
can be drawn again alone.

>>> import plackett
>>> plackett.stream(1, 0, 5, "query").below(100) == plackett.stream(1, 0, 5, "query").below(100)
True)");
  rng_type
      .def("uniform", &Rng::uniform, R"(uniform(self)
--

Uniform on [0, 1).

>>> import plackett
>>> 0 <= plackett.stream(1).uniform() < 1
True)")
      .def("normal", &Rng::normal, R"(normal(self)
--

Standard normal.

>>> import plackett
>>> plackett.stream(1).normal() == plackett.stream(1).normal()
True)")
      .def(
          "below",
          [](Rng& rng, const py::object& bound) {
            return rng.below(whole32(bound, "bound", {.least = 1}));
          },
          py::arg("bound"), R"(below(self, bound)
--

Uniform on 0 to bound - 1.

>>> import plackett
>>> plackett.stream(1).below(6) in range(6)
True)")
      .def("next_u32", &Rng::next_u32, R"(next_u32(self)
--

32 random bits.

>>> import plackett
>>> 0 <= plackett.stream(1).next_u32() < 2**32
True)")
      .def("next_u64", &Rng::next_u64, R"(next_u64(self)
--

64 random bits.

>>> import plackett
>>> 0 <= plackett.stream(1).next_u64() < 2**64
True)");
  from_the_engine_alone(rng_type);
  module.def("stream", stream, py::arg("seed"), py::arg("run") = 0, py::arg("impression") = 0,
             py::arg("purpose") = "test",
             R"(stream(seed, run=0, impression=0, purpose="test")
--

The stream of that name, from its beginning. Purposes are query, ranking, clicks, initialise,
tie-break, synthetic and test.

>>> import plackett
>>> plackett.stream(1).uniform() == plackett.stream(1).uniform()
True)");
}

}  // namespace plackett::python
