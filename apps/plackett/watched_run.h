// Running simulations with a progress bar on the terminal.
#pragma once

#include <vector>

#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett::command {

// Adds the bar to whatever else watches.
Result<std::vector<CellSummary>> run_watched(const std::vector<Simulation>& simulations,
                                             unsigned threads, Watch watch = {});

}  // namespace plackett::command
