// Curves as points to draw through, for every kind of picture.
#pragma once

#include <vector>

#include "report/axes.h"

namespace plackett::report {

struct Point {
  double x = 0;
  double y = 0;
};
using Polyline = std::vector<Point>;

// The means of a cell's curve: one line for each stretch without a gap (a point that can't be
// drawn), a single point where a stretch has one.
std::vector<Polyline> line_shapes(const CellSummary& cell, const Axes& axes, Metric metric);

// One standard deviation either side of them: a closed outline for each of the same stretches.
std::vector<Polyline> band_shapes(const CellSummary& cell, const Axes& axes, Metric metric);

}  // namespace plackett::report
