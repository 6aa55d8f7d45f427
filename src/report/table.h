// The comparison as tables, in the paper's layout: means with their standard deviations, the best
// of each dataset and click model set off, and marks for significant differences from each
// baseline. With one dataset the columns are offline and online performance; with several there is
// a table for each of the two, and the columns are the datasets. All of them are a function of the
// results alone: no run time is in them.
#pragma once

#include <cstddef>
#include <string>

#include "plackett/record.h"
#include "report/significance.h"

namespace plackett {

struct TableStyle {
  bool ansi = false;       // bold, dim and coloured marks; otherwise a "*" follows the best
  std::size_t width = 80;  // columns; long names are cut to fit, numbers never
  bool ascii = false;      // for terminals without UTF-8: marks ^ A v V . and plain rules
  SignificanceTest test = SignificanceTest::kWelch;
};

// Ends in a line break. Every line is at most `style.width` columns wide where that is >= 72 and
// there are at most eight baselines; datasets that don't fit beside each other go below.
std::string terminal_table(const Comparison& comparison, const TableStyle& style = {});

// For GitHub's Markdown; the best in bold.
std::string markdown_table(const Comparison& comparison,
                           SignificanceTest test = SignificanceTest::kWelch);

// For a paper: \input it into a document that loads amssymb, or run pdflatex on it alone. Looks
// best with booktabs and compiles without. Characters that pdflatex may not know come out as "?".
std::string latex_table(const Comparison& comparison,
                        SignificanceTest test = SignificanceTest::kWelch);

// A header and a line a cell, names as the comparison has them and numbers that read back to the
// same double; empty where a number is not finite.
std::string csv_table(const Comparison& comparison);

// A header and a line for each contrast and measure, with both tests, as csv_table.
std::string csv_tests(const Comparison& comparison);

}  // namespace plackett
