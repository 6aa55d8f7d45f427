// Prints what a results folder holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "plackett/results.h"
#include "report/arrangement.h"

namespace plackett::command {

// Prints tables and, if the paper ran the same, the scorecard; then writes the report into
// `folder`, so that a full disk hides no result. Ends the command if that fails, and says that the
// runs are safe. Requires: at least one run.
void report_results(const StoredResults& stored, const std::filesystem::path& folder,
                    SignificanceTest test = SignificanceTest::kWelch);

// How fast each method was, over all threads and with evaluation, if that is known.
void print_speeds(const StoredResults& stored);

// "37 of 225 runs are in results/mq2008".
std::string runs_kept(const StoredResults& stored, const std::filesystem::path& folder);

// Warns on standard error of records that were damaged.
void warn_of_damage(const StoredResults& stored, const std::filesystem::path& folder,
                    const std::string& consequence);

}  // namespace plackett::command
