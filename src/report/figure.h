// Learning curves, and what a setting does, each as one picture for a paper, a page or a slide.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "plackett/record.h"
#include "plackett/result.h"
#include "report/arrangement.h"

namespace plackett::report {

enum class FigureFormat { kSvg, kPdf };

// One panel per click model, those of a dataset on the same scales and on lines of their own, three
// at most: impressions on a logarithmic axis, or a linear one if there is drift, a mean as a line
// and its standard error as a band for each method. Drawn by Cairo on white, 960 pixels wide (720
// points in PDF), with fonts embedded (PDF) or as outlines (SVG). Drifts are upright lines, with
// their names above them as far as there is room, changing phases shaded. Valid for any comparison,
// also an empty one; empty if none of its cells has a curve of two points or more. The same bytes
// for the same comparison, measure and fonts: no date.
Result<std::string> draw_curves(const Comparison& comparison, const Measure& measure = kOffline,
                                FigureFormat format = FigureFormat::kSvg);

// As draw_curves: the last values of every measure against the setting that was swept
// (report/sweep.h), a line of panels per measure and dataset. Empty if there is none.
Result<std::string> draw_sweep(const Comparison& comparison,
                               FigureFormat format = FigureFormat::kSvg);

// As draw_curves, on an axis that is not logarithmic: mean online NDCG@10 per window under drift,
// beside that of the best linear ranker. Empty without drift.
Result<std::string> draw_windows(const Comparison& comparison,
                                 FigureFormat format = FigureFormat::kSvg);

// 0xRRGGBB for each Series::colour, as in web/theme.css: after Okabe and Ito's colours, which stay
// apart for colour-blind readers, each with a contrast of at least 3:1 with white.
inline constexpr std::array<std::uint32_t, kColours> kSeriesColours{
    0x0068b5, 0xd1540a, 0x008a64, 0xb5508f, 0xa06c00, 0x3d4652, 0x2a8fbd, 0x6a4fb3};

// One axis of a panel.
struct Scale {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  bool is_logarithmic = false;

  // Where a value lies, from 0 at the low end to 1; values outside come out at an end.
  [[nodiscard]] double part(double value) const;
  // About five round values, or powers of ten, with 2 and 5 times them if these are few.
  [[nodiscard]] std::vector<double> ticks() const;
};

// A point of a line: a mean and its standard error (0 for a single run).
struct LinePoint {
  double x = 0, mean = 0, error = 0;
};

// One method in a panel.
struct Line {
  std::size_t series = 0;  // that it has colour and dash of
  bool has_dots = false;   // at its points, a larger one at the best
  std::vector<LinePoint> points = {};
};

// The learning curve of a cell.
Line curve_of(const CellSummary& cell, const Measure& measure, std::size_t series = 0);

struct AxisRules {
  bool is_x_logarithmic = true;
  bool is_online_from_zero = true;  // y of the online measure starts at 0
  double x_air = 0;                 // before the first and after the last x, in parts of the range
};

struct Axes {
  // Fits every line, mean and error, so that their panels share one scale. x runs from the first
  // to the last point of any line, y a little past the lowest and highest band. Has sensible bounds
  // even if there is no point to draw.
  Axes(const std::vector<Line>& lines, const Measure& measure, const AxisRules& rules = {});

  // A logarithm has no place for 0, and no axis for what is not finite.
  [[nodiscard]] bool can_show(const LinePoint& point) const;

  Scale x, y;
};

}  // namespace plackett::report
