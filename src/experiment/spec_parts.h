// What the parts of this room need of a comparison.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/method_entry.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {

// The spec's own user of that name; null if there is none.
std::shared_ptr<const User> own_user(const ComparisonSpec& spec, std::string_view click_model);

// The spec's method, ranker and settings.
inline MethodEntry entry_of(const SimulationSpec& spec) {
  return {spec.method, spec.ranker.kind, spec.settings};
}

// Fails on options that are not allowed.
Result<void> check_simulation(const SimulationSpec& spec);

// What check() finds without looking for the datasets.
Result<void> check_apart_from_data(const ComparisonSpec& spec);

}  // namespace plackett
