// The comparison as one page to look at, to show and to keep.
#pragma once

#include <string>

#include "experiment/record.h"

namespace plackett {

struct HtmlOptions {
  std::string command;  // the command line that makes the comparison again; not shown if empty
};

// A whole HTML document that needs nothing beside it: no network, no fonts, no other file.
// Readable without its script, which adds the values under the pointer, a legend that singles out
// lines and the switch between light and dark. All text of the comparison is escaped. The same
// bytes for the same comparison and options.
std::string html_report(const Comparison& comparison, const HtmlOptions& options = {});

}  // namespace plackett
