// The parts of the page that are drawn from numbers.
#pragma once

#include <string>

#include "report/arrangement.h"
#include "report/axes.h"

namespace plackett::report {

// The legend: a button a series.
std::string html_legend(const Arrangement& arrangement);

// A <figure> for each block, with the curves of one metric.
std::string html_panels(const Comparison& comparison, const Arrangement& arrangement,
                        Metric metric);

// What the script knows: names, and for each figure of html_panels every point's value and pixel,
// so that the page has one mapping only. JSON that can stand in a <script> element.
std::string html_data(const Comparison& comparison, const Arrangement& arrangement);

// The results as one <table>, a row group a block.
std::string html_table(const Arrangement& arrangement);

}  // namespace plackett::report
