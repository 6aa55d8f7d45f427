// Learning curves as one picture, for a paper, a page or a slide.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "plackett/result.h"
#include "report/arrangement.h"

namespace plackett {

enum class FigureFormat { kSvg, kPdf };

struct FigureStyle {
  const report::Measure* measure = &report::kOffline;
  FigureFormat format = FigureFormat::kSvg;
  double width = 960;  // pixels (0.75 points in PDF); panels are at least 280 wide
};

// One panel per click model, those of a dataset on the same scales and on a line of their own:
// impressions on a logarithmic axis, a mean as a line and its standard deviation as a band for each
// method. Drawn by Cairo on white, with fonts embedded (PDF) or as outlines (SVG). Valid for any
// comparison, also an empty one. The same bytes for the same comparison, style and fonts: no date.
Result<std::string> draw_curves(const Comparison& comparison, const FigureStyle& style = {});

namespace report {

// 0xRRGGBB for each Series::colour, as in web/theme.css: after Okabe and Ito's colours, which stay
// apart for colour-blind readers, each with a contrast of at least 3:1 with white.
inline constexpr std::array<std::uint32_t, kColours> kSeriesColours{
    0x0068b5, 0xd1540a, 0x008a64, 0xb5508f, 0xa06c00, 0x3d4652, 0x2a8fbd, 0x6a4fb3};

// Where values lie on a chart: impressions on a logarithmic axis, a measure on a linear one. Pixels
// grow to the right and downwards.

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

}  // namespace report
}  // namespace plackett
