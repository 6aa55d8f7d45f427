// The runs of a comparison that its results folder lacks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "experiment/results_folder.h"
#include "experiment/run_jobs.h"
#include "experiment/spec_parts.h"
#include "plackett/comparison_spec.h"
#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

// How many runs of a dataset are finished.
std::uint64_t finished_runs(const StoredResults& stored, std::size_t dataset);

// The cells of one dataset, by click model and method, checked and ready to run.
Result<std::vector<Simulation>> prepare_cells(const ComparisonSpec& spec, const Dataset& dataset);

// Fails where a click-model file is not what finished runs were made from. Reads no data.
Result<void> require_same_users(const StoredResults& stored);

// The place in the spec of a job among its dataset's cells, as prepare_cells orders them.
RunPlace place_of_job(const ComparisonSpec& spec, std::size_t dataset, const Job& job);

struct ComparisonWatch {
  Watch runs;
  // A run is kept; one call at a time.
  std::function<void(const RunPlace& place, const RunRecord& record)> kept;
};

// Does the runs of the spec's dataset number `number` that `folder` lacks, and keeps each there.
// Fails where the finished ones were made from other data or other click-model files, before
// anything runs. Where watch.runs.stop says so, returns early without a failure.
// Requires: dataset.name is the spec's name for it.
Result<void> run_dataset(ResultsFolder& folder, std::size_t number, const Dataset& dataset,
                         unsigned threads, const ComparisonWatch& watch);

}  // namespace plackett
