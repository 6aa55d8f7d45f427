// What a comparison would do.
#pragma once

#include <string>

#include "plackett/results.h"

namespace plackett::command {

// Prints the plan for a folder and how long the missing runs take.
void print_plan(const ComparisonSpec& spec, const std::string& folder, const RunOptions& options);

}  // namespace plackett::command
