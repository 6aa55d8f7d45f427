// What a report shows of drift: where the world changes, and how methods take it (docs/drift.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/arrangement.h"
#include "report/table.h"

namespace plackett::report {

// Where a block's world changes, on the axis of impressions.
struct Phases {
  struct Mark {
    double at = 0;          // where the drift starts
    std::string name = {};  // "labels at 50k"
    std::string text = {};  // as DriftMark::text

    bool operator==(const Mark&) const = default;
  };
  std::vector<Mark> marks = {};
  // From, to: while a linear drift is on its way, and while a seasonal one's new world is the more
  // likely one.
  std::vector<std::pair<double, double>> bands = {};
};

// Without marks if there is no drift.
Phases phases_of(const Block& block);

// Whether any cell has drift.
bool has_drift(const Arrangement& arrangement);

// A table for each list of drifts, with a section per block: dynamic regret, the worst window, how
// long it took to regain the level before each drift, and, where methods restart, how often, with
// 95 % confidence intervals. None without drift.
std::vector<Table> drift_tables(const Arrangement& arrangement);

// What windows are measured in.
inline constexpr Measure kWindowMeasure{.name = "window", .metric = "NDCG@10"};
// The line beside the methods' in a chart of windows.
inline constexpr const char* kBestLinear = "Best linear ranker";

}  // namespace plackett::report
