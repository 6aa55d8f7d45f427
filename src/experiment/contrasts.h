// Every cell of a comparison tested against the baselines it was run beside, and leaders against
// those who follow.
#pragma once

#include "plackett/record.h"

namespace plackett {

// Replaces comparison.contrasts: one for each cell and each baseline cell, but itself, of the same
// block (block_of); in the order of the cells, then of the baselines, with tests of every measure
// that both have. None where no cell is a baseline. Replaces comparison.leaders likewise; of equal
// means the earlier cell's is the better one. The tests and what they say of odd numbers:
// evaluation/t_test.h. Requires: RunFinal::metrics as long as the cell's metrics.
void add_contrasts(Comparison& comparison);

}  // namespace plackett
