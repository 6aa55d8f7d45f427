// Running simulations with a progress bar on the terminal.
#pragma once

#include <vector>

#include "base/result.h"
#include "experiment/simulation.h"

namespace plackett::command {

Result<std::vector<CellSummary>> run_watched(const std::vector<Simulation>& simulations,
                                             unsigned threads);

}  // namespace plackett::command
