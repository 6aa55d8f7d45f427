// The drawing of one panel: grid, ticks, a shaded deviation and a line for each row of a block.
// Only classes, no colours: the document around it styles them, so that the same drawing serves
// the light, the dark and the printed page. A series has the class "c<n>" for its colour (n below
// kColours) and "d<n>" for its dash (n below kDashes).
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "report/arrangement.h"
#include "report/axes.h"

namespace plackett::report {

inline constexpr std::size_t kColours = 8;
inline constexpr std::size_t kDashes = 3;

// Lengths of strokes and gaps; an empty one is a whole line.
inline constexpr std::array<const char*, kDashes> kDashPatterns{"", "7 5", "1 5"};

// After Okabe and Ito's colours, which stay apart for colour-blind readers, with the lightness
// moved so that each has a contrast of at least 3:1 with its background.
inline constexpr std::array<const char*, kColours> kOnLight{
    "#0068b5", "#d1540a", "#008a64", "#b5508f", "#a06c00", "#3d4652", "#2a8fbd", "#6a4fb3"};
inline constexpr std::array<const char*, kColours> kOnDark{
    "#58aef5", "#ff8f52", "#35c99d", "#f096c6", "#eebc48", "#c3ccd8", "#8fd6f5", "#b79cf2"};

// Which colour (below kColours) and which dash (below kDashes) a series is drawn with.
std::size_t colour_of(const Series& series);
std::size_t dash_of(const Series& series);
// "c0", and "c0 d1".
std::string colour_class(const Arrangement& arrangement, std::size_t series);
std::string series_classes(const Arrangement& arrangement, std::size_t series);

struct PanelLabels {
  bool y = true;         // numbers beside the left border
  double x_offset = 18;  // from the lower border down to the numbers' baseline
};

// Appends SVG elements: <path class="grid">, <text class="tick x|y">, then for each row
// <path class="band c0"> and <path class="line c0 d0">. A curve with a gap (a point that is not
// finite) is drawn in pieces, a lone point as a dot.
void append_panel(std::string& out, const Arrangement& arrangement, const Block& block,
                  const Axes& axes, Metric metric, const PanelLabels& labels);

// The legend's sample of a series: a short line with its left end at (x, y).
void append_sample(std::string& out, const Arrangement& arrangement, std::size_t series, double x,
                   double y);

}  // namespace plackett::report
