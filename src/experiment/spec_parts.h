// What the parts of this room need of a comparison.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/method_entry.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {

// A run as results name it.
struct RunName {
  std::string_view dataset;
  std::string_view method;  // to_text of its canonical entry
  std::string_view click_model;
  std::uint32_t run = 0;
};

// Nothing if the spec asks for no such run.
std::optional<RunPlace> place_of(const ComparisonSpec& spec, const RunName& name);

// The spec's own user of that name; null if there is none.
std::shared_ptr<const User> own_user(const ComparisonSpec& spec, std::string_view click_model);

// What Simulation::prepare takes for one cell.
SimulationSpec simulation_spec(const ComparisonSpec& spec, const ComparedMethod& method,
                               const std::string& click_model);

// What check() finds without looking for the datasets.
Result<void> check_apart_from_data(const ComparisonSpec& spec);

// What compare gives of these runs.
Compared compared(const StoredResults& stored);

// One line per difference: "runs: 125 there, 50 asked for". Empty if the identities are equal.
std::vector<std::string> differences(const ComparisonSpec& there, const ComparisonSpec& asked);

}  // namespace plackett
