// Comparisons to report on, made up but shaped like real ones, and the same at every call.
#pragma once

#include <string>
#include <vector>

#include "plackett/record.h"

namespace plackett::testing {

// Linear and neural PDGD under three click models, near the paper's MQ2007.
Comparison small_comparison();

// Six methods under three click models, near the paper's MSLR-WEB10K but a million impressions.
Comparison large_comparison();

// What the paper published for these of its datasets, with made-up runs and curves, tested as the
// paper did (Welch). `noise` moves each mean at random: with 1 as much as a repetition of the 125
// runs would, with 0 not at all.
Comparison paper_comparison(const std::vector<std::string>& datasets, double noise);

// Linear and neural PDGD with five learning rates, and MGD, under three click models, with MAP.
Comparison sweep_comparison();

// The same where the learning rates were chosen on validation queries: another one for each method
// and click model.
Comparison selected_comparison();

// Sets the runs' final values so that they have the cell's moments. Runs of the same number have
// most of their deviation in common, as those of a dataset with folds.
// Requires: at least two runs.
void set_finals(CellSummary& cell);

// The same with the last point of each curve alone.
Comparison final_curves(Comparison comparison);

// The same with one run per cell, and so without deviations.
Comparison single_runs(Comparison comparison);

// Names, numbers and curves that are hard to show.
Comparison weird_comparison();

}  // namespace plackett::testing
