// Where values lie on a chart: impressions on a logarithmic axis, a measure on a linear one. Pixels
// grow to the right and downwards.
#pragma once

#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett::report {

// The plot area, without the space for labels around it.
struct Frame {
  double left = 0, top = 0, width = 0, height = 0;
  [[nodiscard]] double right() const { return left + width; }
  [[nodiscard]] double bottom() const { return top + height; }
};

struct Tick {
  double value = 0;
  std::string label;
};

// Whether a chart can show the point: a logarithm has no place for impression 0.
bool drawable(const CurveSummary& point, const Measure& measure);

class Axes {
 public:
  // Fits every curve of these cells, mean and deviation, so that their panels share one scale. The
  // axis of impressions runs from the first to the last of any curve, the other a little past the
  // lowest and highest band. Has sensible bounds even if no point is drawable.
  Axes(const std::vector<const CellSummary*>& cells, const Measure& measure);

  // Where a value lies within the frame; values outside the bounds come out on the border.
  [[nodiscard]] double x(double impression, const Frame& frame) const;
  [[nodiscard]] double y(double value, const Frame& frame) const;

  [[nodiscard]] std::vector<Tick> x_ticks() const;  // powers of ten, or more if these are few
  [[nodiscard]] std::vector<Tick> y_ticks() const;  // about five round values

 private:
  double first_ = HUGE_VAL;
  double last_ = 0;
  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
};

}  // namespace plackett::report
