// Learning curves as one picture, for a paper, a page or a slide.
#pragma once

#include <array>
#include <cstdint>
#include <string>

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

}  // namespace report
}  // namespace plackett
