// The options of experiments and datasets.
#pragma once

#include <span>

#include "plackett/comparison_spec.h"
#include "plackett/export.h"
#include "plackett/option.h"
#include "plackett/simulation.h"

namespace plackett {

// What all runs of a simulation or comparison have in common, in the order of spec files.
PLACKETT_EXPORT std::span<const Option<SimulationSpec>> simulation_options();

// How a dataset is loaded.
PLACKETT_EXPORT std::span<const Option<ComparedDataset>> dataset_options();

// How a comparison is reported. No run depends on it.
PLACKETT_EXPORT std::span<const Option<ComparisonSpec>> report_options();

// How runs are done.
PLACKETT_EXPORT std::span<const Option<RunOptions>> run_options();

}  // namespace plackett
