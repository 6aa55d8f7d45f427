// The report of a comparison, on disk.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "experiment/record.h"
#include "report/html.h"

namespace plackett {

// Writes report.html, curves.svg, tables.md and tables.csv into `folder`, which is made if it is
// not there. Each file is replaced as a whole or not at all; where one fails, the ones before it
// stay written.
Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const HtmlOptions& options = {});

}  // namespace plackett
