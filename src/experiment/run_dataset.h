// The runs of a comparison on one dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "experiment/backend.h"
#include "plackett/comparison_spec.h"
#include "plackett/result.h"
#include "plackett/results.h"
#include "plackett/simulation.h"

namespace plackett {

// The cells of one dataset, by click model and method, checked and ready to run.
Result<std::vector<Simulation>> prepare_cells(const ComparisonSpec& spec, const Dataset& dataset);

// Where the runs of one dataset happen and go.
struct DatasetRuns {
  std::size_t number = 0;       // of the dataset in the spec
  std::uint64_t fingerprint{};  // of its data; 0: unknown
  Backend& backend;
  const Watch& watch;
  // Takes a finished run. One call at a time.
  std::function<Result<void>(const RunPlace& place, FinishedRun run)> store;
};

// Does the runs on `dataset` that `stored` lacks. Fails, before anything runs, if the finished ones
// were made from other data or other click-model files. Stops as Backend::run does.
// Requires: dataset.name is the spec's name for it.
Result<void> run_dataset(const StoredResults& stored, const Dataset& dataset,
                         const DatasetRuns& runs);

}  // namespace plackett
