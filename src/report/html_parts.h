// The parts of the page that are drawn from numbers.
#pragma once

#include <string>

#include "report/arrangement.h"
#include "report/axes.h"
#include "report/scorecard.h"
#include "report/significance.h"

namespace plackett::report {

// The legend: a button a series.
std::string html_legend(const Arrangement& arrangement);

// A <figure> for each block, with the curves of one metric; a group of them with a heading for
// each dataset where there are several.
std::string html_panels(const Arrangement& arrangement, Metric metric);

// What the script knows: names, and for each figure of html_panels every point's value and pixel,
// so that the page has one mapping only. JSON that can stand in a <script> element.
std::string html_data(const Arrangement& arrangement);

// The results as one <table>, or one for each measure where there are several datasets, with marks
// whose titles give each test's p, and a line that explains them.
std::string html_tables(const Arrangement& arrangement, const Significance& significance);

// The scorecard: for each measure a strip with a dot a cell, then every number beside the paper's.
// Requires: card.lines is not empty.
std::string html_scorecard(const Arrangement& arrangement, const Scorecard& card);

}  // namespace plackett::report
