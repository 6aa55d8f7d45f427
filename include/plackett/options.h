// The options of experiments and datasets, each declared once: the command, spec files, the
// identity of results, Python and the docs all read these declarations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "plackett/comparison_spec.h"
#include "plackett/export.h"
#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

// What the text of an option holds.
enum class OptionKind : std::uint8_t {
  kInteger,   // from least to most
  kNumber,    // finite, at least 0
  kName,      // one of the names that the help lists
  kIntegers,  // one or more with commas between, each from least to most
  kFlag,      // "true" or "false"
};

// One option of `Target`, a struct of plain data.
template <typename Target>
struct Option {
  std::string_view name = {};               // "no-relevant"; in Python no_relevant
  std::string help = {};                    // one line
  OptionKind kind = OptionKind::kInteger;   // what its text holds
  std::uint64_t least = 0;                  // integers only
  std::uint64_t most = 0;                   // integers only
  bool changes_results = true;              // whether results with another value are others
  std::string (*text)(const Target&) = {};  // the value; set() reads it back
  Result<void> (*parse)(const Option&, Target&, std::string_view) = {};  // set() calls it

  // Sets the value. Fails on a text that is not allowed, with text and rule; `target` stays as it
  // was.
  Result<void> set(Target& target, std::string_view value) const {
    return parse(*this, target, value);
  }
};

// What all runs of a simulation or comparison have in common, in the order of spec files. The
// defaults are those of SimulationSpec.
PLACKETT_EXPORT std::span<const Option<SimulationSpec>> simulation_options();

// How a dataset is loaded. The defaults are those of ComparedDataset.
PLACKETT_EXPORT std::span<const Option<ComparedDataset>> dataset_options();

// Fails on the first option whose value is not allowed: "runs: 0; expected ...".
template <typename Target>
Result<void> check_options(std::span<const Option<Target>> options, const Target& target) {
  Target copy = target;
  for (const Option<Target>& option : options) {
    if (auto valid = option.set(copy, option.text(target)); !valid) {
      return valid.error().in(option.name);
    }
  }
  return {};
}

}  // namespace plackett
