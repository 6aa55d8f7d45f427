// Every cell of a comparison tested against the baselines it was run beside.
#pragma once

#include "plackett/record.h"

namespace plackett {

// Replaces comparison.contrasts: one for each cell and each baseline cell, but itself, of the same
// dataset, protocol and click model; in the order of the cells, then of the baselines. None where
// no cell is a baseline. The tests and what they say of odd numbers: evaluation/t_test.h.
void add_contrasts(Comparison& comparison);

}  // namespace plackett
