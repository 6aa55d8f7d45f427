// A comparison as files for people.
#pragma once

#include <filesystem>

#include "plackett/export.h"
#include "plackett/record.h"
#include "plackett/result.h"

namespace plackett {

// Writes report.html, results.json, curves and online as .svg and .pdf, tables as .md, .tex and
// .csv, tests.csv, and scorecard as .md and .csv if the comparison ran something that the paper
// did, into `folder`, which is created if it does not exist. A scorecard of an earlier report is
// removed if this comparison has none. Each file is replaced as a whole or not at all; if one
// fails, the ones before it stay written. The files are a function of the results: nothing in them
// depends on how long the runs took or on the number of threads.
PLACKETT_EXPORT Result<void> write_report(const Comparison& comparison,
                                          const std::filesystem::path& folder);

}  // namespace plackett
