// What a ranker is, apart from its parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/activation.h"
#include "plackett/export.h"
#include "plackett/ranker.h"
#include "plackett/result.h"
#include "plackett/rng.h"

namespace plackett {

// The built-in rankers (docs/rankers.md). The values are written to model files.
enum class RankerKind : std::uint8_t {
  kLinear = 0,            // w . x
  kNeural = 1,            // network(x)
  kLinearPlusNeural = 2,  // w . x + network(x)
};

// How a network is initialised. Linear rankers and linear parts start at 0.
enum class Initialisation : std::uint8_t {
  kXavier = 0,     // weights uniform within sqrt(6 / (fan-in + fan-out)), biases 0
  kPublished = 1,  // every weight and bias normal with standard deviation 1 / fan-in
  kSilent = 2,     // Xavier, but the output's weights are 0: all scores are 0 until it learns
};

// A wider layer is refused as a mistake: 2^16 squared is 16 GiB of weights.
inline constexpr std::uint32_t kMaxUnits = 65'536;

// A larger network is refused as a mistake: this many floats are 1 GiB.
inline constexpr std::uint64_t kMaxParameters = std::uint64_t{1} << 28;

// Plain data; make_ranker checks it.
struct RankerSpec {
  RankerKind kind = RankerKind::kLinear;         // which function
  std::uint32_t feature_count = 0;               // per document
  std::vector<std::uint32_t> hidden = {64};      // networks: units of each hidden layer
  Activation activation = Activation::kSigmoid;  // networks: of every hidden unit
  // Neural only: linear+neural always starts from kSilent.
  Initialisation initialisation = Initialisation::kXavier;

  bool operator==(const RankerSpec&) const = default;
};

// Whether hidden, activation and initialisation apply.
inline bool has_network(RankerKind kind) { return kind != RankerKind::kLinear; }

// "linear", "neural" or "linear+neural"; the error lists them.
PLACKETT_EXPORT Result<RankerKind> parse_ranker_kind(std::string_view name);
// "sigmoid", "relu" or "tanh"; the error lists them.
PLACKETT_EXPORT Result<Activation> parse_activation(std::string_view name);
// The name that parse_ranker_kind reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(RankerKind kind);
// All kinds, for help: "linear, neural, ...".
PLACKETT_EXPORT std::string ranker_names();
// The name that parse_activation reads. Static storage.
PLACKETT_EXPORT std::string_view name_of(Activation activation);

// A ranker whose first parameters are drawn from `rng`. Fails if there are no features or too many,
// or if a layer is empty or too wide.
PLACKETT_EXPORT Result<std::unique_ptr<Ranker>> make_ranker(const RankerSpec& spec, Rng& rng);

}  // namespace plackett
