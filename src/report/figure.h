// Where everything of a standalone picture of learning curves goes, for SVG and PDF alike: a
// legend above, then a panel for each click model, a line of panels for each dataset. Pixels grow
// to the right and downwards.
#pragma once

#include <string>
#include <vector>

#include "report/arrangement.h"
#include "report/axes.h"
#include "report/curve_shape.h"

namespace plackett::report {

struct FigureText {
  Point at;  // left end of the baseline, or the right end where it says so
  std::string text;
};

struct FigureLegend {
  std::size_t series = 0;
  Point sample;  // left end of a line of kSampleWidth
  FigureText name;
};
inline constexpr double kSampleWidth = 22;

struct FigurePanel {
  const Block* block = nullptr;
  FigureText title;
  Axes axes;             // all panels of a dataset share their scales
  bool y_labels = true;  // the first of a line has them
};

struct Figure {
  double width = 0;
  double height = 0;
  std::vector<FigureLegend> legend;
  FigureText note;  // what the lines are
  FigureText foot;  // what the lower axis is; right end
  std::vector<FigurePanel> panels;
};

// Baseline of the numbers below a panel, from its lower border down.
inline constexpr double kTickDrop = 19;

// Panels are at least 280 pixels wide; those that don't fit go below. Names too long for their
// place are cut. Points into `arrangement`, which must outlive it.
Figure lay_out(const Arrangement& arrangement, Metric metric, double width);

}  // namespace plackett::report
