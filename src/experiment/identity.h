// Whether two specs ask for the same runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plackett/comparison_spec.h"

namespace plackett {

// A hash over everything that decides which runs there are and what they give, but the data
// itself. Left out are title, labels and baselines, which only reports show, and where the
// datasets lie, which their fingerprints make up for.
std::uint64_t identity(const ComparisonSpec& spec);

// One line for each thing that differs: "runs: 125 there, 50 asked for". Empty where the
// identities are equal.
std::vector<std::string> differences(const ComparisonSpec& there, const ComparisonSpec& asked);

}  // namespace plackett
