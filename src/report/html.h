// The comparison as one page to look at, to show and to keep.
#pragma once

#include <string>

#include "plackett/record.h"
#include "report/significance.h"

namespace plackett {

struct HtmlOptions {
  std::string command;  // the command line that makes the comparison again; not shown if empty
  SignificanceTest test = SignificanceTest::kWelch;  // which one the marks and texts go by
};

// A whole HTML document that needs nothing beside it, no network, no fonts, no other file, and
// forbids the browser to ask for any.
// Readable without its script, which adds the values under the pointer, a legend that singles out
// lines and the switch between light and dark. All text of the comparison is escaped. A
// function of the results and the options alone: no run time is in it.
std::string html_report(const Comparison& comparison, const HtmlOptions& options = {});

}  // namespace plackett
