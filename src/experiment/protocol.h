// Where the paper's text and its numbers part (docs/protocols.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "ranker/spec.h"
#include "users/cascade.h"

namespace plackett {

enum class Protocol : std::uint8_t {
  kDescribed,  // as the text says
  kPublished,  // as the published numbers were made
};

// Everything that a protocol decides.
struct ProtocolRules {
  StopRule stop_rule = StopRule::kAfterClick;
  double learning_rate_decay = 1;  // factor after each update
  Initialisation initialisation = Initialisation::kXavier;
  bool ties_by_chance = false;       // interleaving: an expectation of 0 wins half the time
  bool exploit_worst_first = false;  // the pairwise baseline's picks
};

ProtocolRules rules_of(Protocol protocol);

Result<Protocol> parse_protocol(std::string_view name);
std::string_view name_of(Protocol protocol);

}  // namespace plackett
