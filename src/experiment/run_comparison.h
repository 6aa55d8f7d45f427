// Does the runs of a comparison, in a results folder or in memory.
#pragma once

#include <filesystem>
#include <span>

#include "experiment/backend.h"
#include "plackett/dataset.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {

// As run_in_folder, by a backend of the caller's; options.device is not read. Requires:
// check(spec).
Result<StoredResults> run_in_folder_by(Backend& backend, const ComparisonSpec& spec,
                                       const std::filesystem::path& folder,
                                       const RunOptions& options, const FolderWatch& watch);

// As compare, likewise. Requires: check_apart_from_data(spec); spec.datasets has the names of
// `datasets`.
Result<Compared> compare_by(Backend& backend, const ComparisonSpec& spec,
                            std::span<const Dataset> datasets, const Watch& watch);

}  // namespace plackett
