// The report of a comparison: as data, as one page to look at, to show and to keep, and on disk.
#pragma once

#include <filesystem>
#include <string>

#include "plackett/report.h"
#include "report/arrangement.h"

namespace plackett::report {

struct PageOptions {
  std::string command = {};  // the command line that makes the comparison again; empty: not shown
};

// Everything that the page shows, as one JSON object (docs/formats/results.md). No run times: the
// same results give the same bytes.
std::string results_json(const Comparison& comparison, const PageOptions& options = {});

// web/report.html with its style sheets, its scripts and results_json() inside: one file without a
// network request. Nothing in the data can end its script element.
std::string html_report(const Comparison& comparison, const PageOptions& options = {});

// As plackett::write_report(), with a page as the options ask for.
Result<void> write_report(const Comparison& comparison, const std::filesystem::path& folder,
                          const PageOptions& options);

}  // namespace plackett::report
