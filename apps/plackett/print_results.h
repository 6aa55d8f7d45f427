// What a person is shown of a results folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "experiment/results_folder.h"

namespace plackett::command {

// Writes the report into `folder` and prints the tables. Requires: there is at least one run.
void report_results(const StoredResults& stored, const std::filesystem::path& folder);

// "37 of 225 runs are in results/mq2008".
std::string runs_kept(const StoredResults& stored, const std::filesystem::path& folder);

// Warns on standard error of records that were damaged.
void warn_of_damage(const StoredResults& stored, const std::filesystem::path& folder,
                    const std::string& consequence);

}  // namespace plackett::command
