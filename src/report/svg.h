// Learning curves as one standalone picture, for a README, a paper or a slide.
#pragma once

#include <string>

#include "plackett/record.h"
#include "report/axes.h"

namespace plackett {

// Which background the picture is for; it has none of its own. kAdaptive follows the reader's
// system setting, where the viewer passes it on (browsers do, also for a picture in a page).
enum class SvgScheme { kAdaptive, kLight, kDark };

struct SvgStyle {
  report::Metric metric = report::Metric::kOffline;
  SvgScheme scheme = SvgScheme::kAdaptive;
  double width = 960;  // pixels; at least 280 a panel, the rest go below
};

// A panel a click model, those of a dataset on the same scales and on a line of their own:
// impressions on a logarithmic axis, mean performance as a line and its standard deviation as a
// band for each method.
// Well-formed XML for any comparison, also an empty one. The same bytes for the same comparison
// and style.
std::string curves_svg(const Comparison& comparison, const SvgStyle& style = {});

}  // namespace plackett
