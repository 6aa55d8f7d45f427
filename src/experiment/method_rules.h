// What a simulation decides for its method.
#pragma once

#include "plackett/method.h"
#include "plackett/protocol.h"
#include "plackett/simulation.h"

namespace plackett {

// Of the protocol, and what the spec says itself.
inline MethodRules method_rules(const SimulationSpec& spec, std::uint32_t run) {
  MethodRules rules = rules_of(spec.protocol).methods;
  rules.shown = spec.shown;
  if (spec.learning_rate_decay > 0) {
    rules.learning_rate_decay = spec.learning_rate_decay;
    rules.published_decay = false;
  }
  rules.initial = {spec.seed, run, 0, Purpose::kInitialise};
  return rules;
}

}  // namespace plackett
