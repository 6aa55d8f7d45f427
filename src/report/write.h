// The report of a comparison, on disk.
#pragma once

#include <filesystem>

#include "plackett/report.h"
#include "report/html.h"

namespace plackett {

// As the one without options, with a page as these ask.
Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const HtmlOptions& options);

}  // namespace plackett
