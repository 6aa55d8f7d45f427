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

// What simulate gives.
struct Simulated {
  CellSummary summary = {};               // over the runs
  std::vector<RunRecord> runs = {};       // in order
  std::unique_ptr<Learner> learner = {};  // run 0's, as it ended
  // The same for save_model; see Simulation::saved_model.
  SavedModel model = {};
};

// One method under one click model, all its runs. A function of (dataset, spec), except the times.
// Fails on what can't run, naming what is allowed, and if a score is no longer finite. If its watch
// stops it, it fails with ErrorCode::kStopped.
PLACKETT_EXPORT Result<Simulated> simulate(const Dataset& dataset, const SimulationSpec& spec,
                                           const RunOptions& options = {});

// What compare gives.
struct Compared {
  Comparison comparison = {};                     // cells, tests: what write_report takes
  std::vector<std::vector<RunRecord>> runs = {};  // one vector per cell, in their order
};

// Methods x click models on datasets in memory; spec.datasets is not read. If its watch stops it,
// it fails with ErrorCode::kStopped.
PLACKETT_EXPORT Result<Compared> compare(const ComparisonSpec& spec,
                                         std::span<const Dataset> datasets,
                                         const RunOptions& options = {});

// The same on spec.datasets, loaded one after another, with every finished run stored in `folder`
// (run_in_folder): after a stop or a kill the same call continues, and ends with the same bytes.
// Writes the report beside the runs. If its watch stops it, it fails with ErrorCode::kStopped.
// watch.advanced is first called with the impressions of the runs that the folder already holds.
PLACKETT_EXPORT Result<Compared> compare(const ComparisonSpec& spec,
                                         const std::filesystem::path& folder,
                                         const RunOptions& options = {});

}  // namespace plackett
