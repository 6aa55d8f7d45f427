// Random streams by name, the engine's own.
#include "plackett/rng.h"

#include <array>
#include <ranges>
#include <string_view>
#include <utility>

#include "classes.h"

namespace plackett::python {
namespace {

// As docs/formats/random_numbers.md names them.
constexpr std::array<std::pair<std::string_view, Purpose>, 11> kPurposes{{
    {"query", Purpose::kQuery},
    {"ranking", Purpose::kRanking},
    {"clicks", Purpose::kClicks},
    {"initialise", Purpose::kInitialise},
    {"tie-break", Purpose::kTieBreak},
    {"synthetic", Purpose::kSynthetic},
    {"world", Purpose::kWorld},
    {"drift", Purpose::kDrift},
    {"best-linear", Purpose::kBestLinear},
    {"held-out", Purpose::kHeldOut},
    {"test", Purpose::kTest},
}};

Purpose purpose_of(const std::string& wanted) {
  for (const auto& [name, purpose] : kPurposes) {
    if (name == wanted) return purpose;
  }
  bad_value("purpose: \"{}\"; known are {}", wanted, fmt::join(std::views::keys(kPurposes), ", "));
}

Rng stream(py::handle seed, py::handle run, py::handle impression, py::handle purpose) {
  return Rng({integer(seed, "seed"), integer32(run, "run"),
              integer(impression, "impression", {0, kMaxStreamImpression}),
              purpose_of(text(purpose, "purpose"))});
}

}  // namespace

void bind_rng(py::module_& module) {
  py::class_<Rng> rng(module, "Rng", R"(A stream of random numbers, as plackett.stream returns it.

It is named by (seed, run, impression, purpose). The engine draws everything from such streams
(docs/formats/random_numbers.md), so that any event can be drawn again alone.

>>> plackett.stream(1, 0, 5, "query").below(100) == plackett.stream(1, 0, 5, "query").below(100)
True)");
  add(rng, "uniform", &Rng::uniform, with(), R"(Uniform on [0, 1).

>>> 0 <= plackett.stream(1).uniform() < 1
True)");
  add(rng, "normal", &Rng::normal, with(), R"(Standard normal.

>>> plackett.stream(1).normal() == plackett.stream(1).normal()
True)");
  add(
      rng, "below",
      [](Rng& one, Given bound) { return one.below(integer32(bound, "bound", {.least = 1})); },
      with("bound"_a), R"(Uniform on 0 to bound - 1.

>>> plackett.stream(1).below(6) in range(6)
True)");
  add(rng, "next_u32", &Rng::next_u32, with(), R"(32 random bits.

>>> 0 <= plackett.stream(1).next_u32() < 2**32
True)");
  add(rng, "next_u64", &Rng::next_u64, with(), R"(64 random bits.

>>> 0 <= plackett.stream(1).next_u64() < 2**64
True)");
  no_constructor(rng);
  add(module, "stream", stream,
      with("seed"_a, "run"_a = 0, "impression"_a = 0, "purpose"_a = "test"),
      R"(The stream of that name, from its start.

Purposes are query, ranking, clicks, initialise, tie-break, synthetic,
world, drift, best-linear and test.

>>> plackett.stream(1).uniform() == plackett.stream(1).uniform()
True)");
}

}  // namespace plackett::python
