// Where values lie on a chart: impressions on a logarithmic axis, performance on a linear one.
// Pixels grow to the right and downwards, as in SVG.
#pragma once

#include <string>
#include <vector>

#include "plackett/record.h"
#include "report/arrangement.h"
#include "report/measure.h"

namespace plackett::report {

const Moments& moments(const CurveSummary& point, Metric metric);

// The plot area, without the room for labels around it.
struct Frame {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
};

struct Tick {
  double value = 0;
  std::string label;
};

class Axes {
 public:
  // Fits every curve of these cells, mean and deviation, so that their panels share one scale.
  // The axis of impressions runs from the first to the last one of any curve, that of performance
  // a little past the lowest and highest band. Points at impression 0, which a logarithm can't
  // show, and points that are not finite are left out. Has sensible bounds even where nothing is
  // left.
  Axes(const std::vector<const CellSummary*>& cells, Metric metric, const Frame& frame);
  Axes(const Comparison& comparison, Metric metric, const Frame& frame);

  // Values outside the bounds come out on the border.
  [[nodiscard]] double x(double impression) const;
  [[nodiscard]] double y(double value) const;

  [[nodiscard]] const Frame& frame() const { return frame_; }
  [[nodiscard]] const std::vector<Tick>& x_ticks() const { return x_ticks_; }
  [[nodiscard]] const std::vector<Tick>& y_ticks() const { return y_ticks_; }

 private:
  Frame frame_;
  double first_ = 1;
  double last_ = 10;
  double low_ = 0;
  double high_ = 1;
  std::vector<Tick> x_ticks_;
  std::vector<Tick> y_ticks_;
};

// The cells that share one scale with a dataset's panels: all of that dataset.
std::vector<const CellSummary*> cells_of(const Arrangement& arrangement, std::size_t dataset);

// Whether a chart can show the point.
bool drawable(const CurveSummary& point, Metric metric);

}  // namespace plackett::report
