// The report of a comparison, on disk.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "experiment/record.h"
#include "report/html.h"

namespace plackett {

// Writes report.html, curves and online as .svg and .pdf, tables as .md, .tex and .csv, tests.csv,
// and scorecard as .md and .csv where the comparison ran something the paper did, into `folder`,
// which is made if it is not there. A scorecard that an earlier report left is removed where this
// comparison has none. Each file is replaced as a whole or not at all; where one
// fails, the ones before it stay written. The files are a function of the results and the options:
// nothing in them depends on how long the runs took or on how many threads.
Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const HtmlOptions& options = {});

}  // namespace plackett
