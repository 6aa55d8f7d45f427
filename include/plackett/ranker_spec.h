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

// The rankers that there are (docs/rankers.md). The values stand in model files.
enum class RankerKind : std::uint8_t {
  kLinear = 0,            // w . x
  kNeural = 1,            // network(x)
  kLinearPlusNeural = 2,  // w . x + network(x)
};

// How a network starts. Linear rankers and linear parts always start at 0.
enum class Initialisation : std::uint8_t {
  kXavier = 0,     // weights uniform within sqrt(6 / (fan-in + fan-out)), biases 0
  kPublished = 1,  // every weight and bias normal with standard deviation 1 / fan-in
  kSilent = 2,     // Xavier, but the output's weights are 0: all scores are 0 until it learns
};

// A wider layer is taken for a slip: 2^16 squared is already 16 GiB of weights.
inline constexpr std::uint32_t kMaxUnits = 65'536;

// A larger network is taken for a slip too: this many floats are 1 GiB.
inline constexpr std::uint64_t kMaxParameters = std::uint64_t{1} << 28;

// Plain data; make_ranker checks it.
struct RankerSpec {
  RankerKind kind = RankerKind::kLinear;         // which function
  std::uint32_t feature_count = 0;               // of a document
  std::vector<std::uint32_t> hidden = {64};      // networks: units of each hidden layer
  Activation activation = Activation::kSigmoid;  // networks: of every hidden unit
  // Neural only: linear+neural always starts from kSilent.
  Initialisation initialisation = Initialisation::kXavier;
};

// Whether hidden, activation and initialisation mean something to it.
inline bool has_network(RankerKind kind) { return kind != RankerKind::kLinear; }

// "linear", "neural" or "linear+neural"; the error lists them.
PLACKETT_EXPORT Result<RankerKind> parse_ranker_kind(std::string_view name);
// "sigmoid", "relu" or "tanh"; the error lists them.
PLACKETT_EXPORT Result<Activation> parse_activation(std::string_view name);
// What parse_ranker_kind takes. Lasts for ever.
PLACKETT_EXPORT std::string_view name_of(RankerKind kind);
// All kinds, for help: "linear, neural, ...".
PLACKETT_EXPORT std::string ranker_names();
// What parse_activation takes. Lasts for ever.
PLACKETT_EXPORT std::string_view name_of(Activation activation);

// A ranker with its first parameters drawn from `rng`. Fails where a layer is empty or too
// wide.
PLACKETT_EXPORT Result<std::unique_ptr<Ranker>> make_ranker(const RankerSpec& spec, Rng& rng);

}  // namespace plackett
