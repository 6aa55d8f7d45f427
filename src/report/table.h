// The comparison as tables, in the paper's layout: a block for each click model, a row for each
// method and ranker, the offline and online means with their standard deviations.
#pragma once

#include <cstddef>
#include <string>

#include "experiment/record.h"

namespace plackett {

struct TableStyle {
  bool ansi = false;       // bold and dim; otherwise a "*" follows the best of a block
  std::size_t width = 80;  // columns; long names are cut to fit, numbers never
};

// Ends in a line break. Every line is at most `style.width` columns wide where that is >= 72.
std::string terminal_table(const Comparison& comparison, const TableStyle& style = {});

// One table a block, for GitHub's Markdown; the best of a block in bold.
std::string markdown_table(const Comparison& comparison);

// A header and a line a cell, names as the comparison has them and numbers that read back to the
// same double; empty where a number is not finite.
std::string csv_table(const Comparison& comparison);

}  // namespace plackett
