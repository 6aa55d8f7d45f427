// How long runs took: one JSON object a line, kept apart from the results.
#pragma once

#include <filesystem>
#include <string>

#include "experiment/results_folder.h"
#include "plackett/result.h"

namespace plackett {

// Ends in a line break.
std::string to_line(const FinishedRun& run, const RunTiming& timing);

// The times of the spec's runs, the last one given for each. Lines that say nothing of use are
// passed over, and so is a file that is not there.
Timings read_timings(const std::filesystem::path& path, const ComparisonSpec& spec);

// Makes the file where it is not there, and ends a last line that was cut.
Result<void> prepare_timings(const std::filesystem::path& path);

}  // namespace plackett
