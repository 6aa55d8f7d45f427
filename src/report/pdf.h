// Learning curves as a one-page vector PDF, for papers.
#pragma once

#include <string>

#include "plackett/record.h"
#include "report/measure.h"

namespace plackett {

struct PdfStyle {
  report::Metric metric = report::Metric::kOffline;
  double width = 960;  // pixels of the layout; the page is 0.75 points a pixel wide
};

// The same picture as curves_svg on a light page. PDF 1.4, text in Helvetica, which every reader
// has and no file embeds; characters outside WinAnsiEncoding come out as "?". Valid for any
// comparison, also an empty one. The same bytes for the same comparison and style: no date, no
// random identifier.
std::string curves_pdf(const Comparison& comparison, const PdfStyle& style = {});

}  // namespace plackett
