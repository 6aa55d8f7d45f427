// A comparison as files for people.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "plackett/export.h"
#include "plackett/record.h"
#include "plackett/result.h"

namespace plackett {

// Writes report.html, results.json, curves and online as .svg and .pdf, if there are curves of more
// than one point, the same of curves_METRIC for each further metric and of sweep if a numeric
// setting was swept, tables as .md, .tex and .csv, tests.csv, and scorecard as .md and .csv if the
// comparison ran something that the paper did, into `folder`, which is created if it does not
// exist. What an earlier report has and this one has not is removed. Each file is replaced as a
// whole or not at all; if one fails, the ones before it stay written. The files are a function of
// the results: nothing in them depends on how long the runs took or on the number of threads.
PLACKETT_EXPORT Result<void> write_report(const Comparison& comparison,
                                          const std::filesystem::path& folder);

// The tables as text, in lines of at most `columns` columns if that is at least 72.
PLACKETT_EXPORT std::string text_table(const Comparison& comparison, std::size_t columns = 80);

// The same as HTML to put into a page: it brings no style but its alignment, so it has the colours
// of the page.
PLACKETT_EXPORT std::string html_table(const Comparison& comparison);

// The learning curves as an SVG document, on white; empty if none has more than one point.
PLACKETT_EXPORT Result<std::string> curves_svg(const Comparison& comparison);

}  // namespace plackett
