// From finished runs to what reports show.
#pragma once

#include "experiment/results_folder.h"
#include "plackett/record.h"

namespace plackett {

// The cells in the spec's order: by dataset, click model, method. Cells without a single finished
// run are left out. A function of spec and runs alone: times stand at 0, threads at 1.
Comparison assemble(const StoredResults& stored);

// The same with the times that are known, for a person at a terminal.
Comparison assemble_with_times(const StoredResults& stored);

}  // namespace plackett
