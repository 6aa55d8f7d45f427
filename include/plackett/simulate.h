// Whole experiments in one call.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "plackett/comparison_spec.h"
#include "plackett/dataset.h"
#include "plackett/export.h"
#include "plackett/learner.h"
#include "plackett/model_file.h"
#include "plackett/record.h"
#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

// How it runs; no result depends on it.
struct RunOptions {
  unsigned threads = 0;  // 0: as many as the machine has cores
  // In a folder: begin anew there, whatever runs it holds.
  bool fresh = false;
  Watch watch = {};  // watch.learned is not called
};

// What simulate gives.
struct Simulated {
  CellSummary summary = {};               // over the runs
  std::vector<RunRecord> runs = {};       // in order
  std::unique_ptr<Learner> learner = {};  // run 0's, as it ended
  // The same for save_model, so that others can rank and go on with it. No model of a ranker that
  // the method made itself: see Simulation::saved_model.
  SavedModel model = {};
};

// One method under one click model, all its runs. A function of (dataset, spec), the times apart.
// Fails on what can't run, naming what is allowed, and where learning leaves the range of numbers.
// Stopped by its watch it fails with kStopped.
PLACKETT_EXPORT Result<Simulated> simulate(const Dataset& dataset, const SimulationSpec& spec,
                                           const RunOptions& options = {});

// What compare gives.
struct Compared {
  Comparison comparison = {};                     // cells, tests: what write_report takes
  std::vector<std::vector<RunRecord>> runs = {};  // a cell of the comparison, in its order
};

// Methods x click models on datasets that are in memory; spec.datasets is not read. Stopped by its
// watch it fails with kStopped.
PLACKETT_EXPORT Result<Compared> compare(const ComparisonSpec& spec,
                                         std::span<const Dataset> datasets,
                                         const RunOptions& options = {});

// The same on spec.datasets, loaded one after another, with every finished run kept in `folder`:
// stopped or killed, the same call goes on where it was, and ends with the same bytes. Writes the
// report beside the runs. Stopped by its watch it fails with kStopped, and what is finished is
// kept. Fails where the spec has users of its own. The watch is told first of the impressions of
// the runs that the folder holds already, as one advance.
PLACKETT_EXPORT Result<Compared> compare(const ComparisonSpec& spec,
                                         const std::filesystem::path& folder,
                                         const RunOptions& options = {});

}  // namespace plackett
