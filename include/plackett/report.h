// A comparison as files for people.
#pragma once

#include <filesystem>

#include "plackett/export.h"
#include "plackett/record.h"
#include "plackett/result.h"

namespace plackett {

// Writes report.html, curves and online as .svg and .pdf, tables as .md, .tex and .csv, tests.csv,
// and scorecard as .md and .csv where the comparison ran something the paper did, into `folder`,
// which is made if it is not there. A scorecard that an earlier report left is removed where this
// comparison has none. Each file is replaced as a whole or not at all; where one fails, the ones
// before it stay written. The files are a function of the results: nothing in them depends on how
// long the runs took or on how many threads.
PLACKETT_EXPORT Result<void> write_report(const Comparison& comparison,
                                          const std::filesystem::path& folder);

}  // namespace plackett
