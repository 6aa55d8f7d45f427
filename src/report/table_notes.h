// What stands below a table, in plain words.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/significance.h"

namespace plackett::report {

// "MQ2007 · described protocol · 125 runs × 10,000 impressions"; not yet made safe.
std::string facts_line(const Comparison& comparison);

// "of its click model", or "of its dataset and click model".
const char* best_of_what(const Arrangement& arrangement);

// "1 DBGD (linear), 2 MGD (linear)": which mark is about which baseline; one name alone without a
// number. Not yet made safe.
std::string baseline_list(const Significance& significance);

}  // namespace plackett::report
