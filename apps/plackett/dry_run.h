// What a comparison would do.
#pragma once

#include <string>

#include "load_compared.h"
#include "plackett/comparison_spec.h"

namespace plackett::command {

// Prints the plan, what of it is done already in `folder`, and how long the rest takes, measured
// on the data for a fraction of a second a cell. Loads the datasets that have runs left; writes
// nothing. Ends the command where the folder holds another experiment.
void print_plan(const ComparisonSpec& spec, const std::string& folder, const Loading& loading);

}  // namespace plackett::command
