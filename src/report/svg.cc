#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "report/arrangement.h"
#include "report/axes.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::Axes;
using report::Block;
using report::Frame;
using report::Metric;

constexpr double kMargin = 12;
constexpr double kYLabels = 40;  // left of the first panel of a line
constexpr double kGap = 28;      // between panels
constexpr double kLegendLine = 22;
constexpr double kPanelTitle = 34;
constexpr double kPanelFoot = 26;  // the numbers below a panel
constexpr double kPlotHeight = 230;
constexpr double kAxisTitle = 22;

struct Palette {
  const char* ink;
  const char* muted;
  const char* grid;
  const std::array<const char*, report::kColours>* series;
};
constexpr Palette kLightPalette{"#1c222b", "#5b6472", "#e3e6ea", &report::kOnLight};
constexpr Palette kDarkPalette{"#eef1f5", "#a3adba", "#333a44", &report::kOnDark};

void append_colours(std::string& out, const Palette& palette) {
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "text{{fill:{}}}.tick,.note{{fill:{}}}.grid{{stroke:{}}}.axis{{stroke:{}}}",
                 palette.ink, palette.muted, palette.grid, palette.muted);
  for (std::size_t colour = 0; colour < report::kColours; ++colour) {
    fmt::format_to(put, ".c{}{{color:{}}}", colour, (*palette.series)[colour]);
  }
}

void append_style(std::string& out, SvgScheme scheme) {
  out += "<style>";
  out +=
      "text{font:13px Inter,ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,"
      "'Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums}"
      ".title{font-weight:600;font-size:15px}.tick,.note{font-size:12px}"
      ".x{text-anchor:middle}.y{text-anchor:end}"
      ".grid,.axis,.line{fill:none}.grid{stroke-width:1}.axis{stroke-width:1}"
      ".line{stroke:currentColor;stroke-width:2.25;stroke-linecap:round;stroke-linejoin:round}"
      ".band{fill:currentColor;fill-opacity:.13}"
      ".d1{stroke-dasharray:7 5}.d2{stroke-dasharray:1 5}";
  append_colours(out, scheme == SvgScheme::kDark ? kDarkPalette : kLightPalette);
  if (scheme == SvgScheme::kAdaptive) {
    // Asks a browser that shows the picture alone for a dark page behind it.
    out += ":root{color-scheme:light dark}@media (prefers-color-scheme:dark){";
    append_colours(out, kDarkPalette);
    out += '}';
  }
  out += "</style>\n";
}

struct LegendEntry {
  double x = 0;
  double y = 0;
};

// Entries from left to right, onto the next line where one would pass the right border. Widths
// are estimated: SVG can't measure text without a browser.
std::vector<LegendEntry> lay_out_legend(const Arrangement& arrangement, double width) {
  std::vector<LegendEntry> entries;
  LegendEntry next{kMargin, 22};
  for (const report::Series& series : arrangement.series) {
    const double taken = 58 + 6.9 * static_cast<double>(report::display_width(series.label));
    if (next.x > kMargin && next.x + taken > width) next = {kMargin, next.y + kLegendLine};
    entries.push_back(next);
    next.x += taken;
  }
  return entries;
}

}  // namespace

std::string curves_svg(const Comparison& comparison, const SvgStyle& style) {
  const Arrangement arrangement = report::arrange(comparison);
  const Metric metric = style.metric;
  const char* const y_title =
      metric == Metric::kOffline ? "NDCG@10 on the test queries" : "Online NDCG@10, discounted sum";

  const double width = std::max(style.width, 280.0);
  const std::size_t panels = std::max<std::size_t>(arrangement.blocks.size(), 1);
  const auto fitting = static_cast<std::size_t>(width / 280);
  const std::size_t columns = std::clamp<std::size_t>(fitting, 1, std::min<std::size_t>(panels, 4));
  const std::size_t lines = (panels + columns - 1) / columns;
  const double plot_width =
      (width - 2 * kMargin - kYLabels - kGap * static_cast<double>(columns - 1)) /
      static_cast<double>(columns);
  const double panel_height = kPanelTitle + kPlotHeight + kPanelFoot;
  const std::vector<LegendEntry> legend = lay_out_legend(arrangement, width);
  const double top = (legend.empty() ? 0 : legend.back().y + 14) + kAxisTitle;
  const double height = top + panel_height * static_cast<double>(lines) + kAxisTitle;

  std::string out;
  const auto put = std::back_inserter(out);
  const std::string title =
      report::markup(comparison.title.empty() ? std::string("Learning curves") : comparison.title);
  fmt::format_to(put,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
                 "<title>{2}</title>\n",
                 width, height, title);
  append_style(out, style.scheme);
  if (arrangement.blocks.empty()) {
    fmt::format_to(put,
                   "<text class=\"x\" x=\"{:.2f}\" y=\"{:.2f}\">No runs to show</text>\n</svg>\n",
                   width / 2, height / 2);
    return out;
  }
  for (std::size_t series = 0; series < legend.size(); ++series) {
    report::append_sample(out, arrangement, series, legend[series].x, legend[series].y - 4.5);
    fmt::format_to(put, "<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", legend[series].x + 30,
                   legend[series].y, report::markup(arrangement.series[series].label));
  }
  fmt::format_to(put,
                 "<text class=\"note\" x=\"{:.2f}\" y=\"{:.2f}\">{}; shaded: standard deviation "
                 "over runs</text>\n",
                 kMargin, top - 4, y_title);

  for (std::size_t panel = 0; panel < arrangement.blocks.size(); ++panel) {
    const Block& block = arrangement.blocks[panel];
    const std::size_t at_line = panel / columns;
    const auto column = static_cast<double>(panel % columns);
    const auto line = static_cast<double>(at_line);
    const Frame frame{.left = kMargin + kYLabels + column * (plot_width + kGap),
                      .top = top + line * panel_height + kPanelTitle,
                      .width = plot_width,
                      .height = kPlotHeight};
    const Axes axes(comparison, metric, frame);
    out += "<g>\n";
    fmt::format_to(put, "<text class=\"title\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", frame.left,
                   frame.top - 12, report::markup(block.title));
    report::append_panel(out, arrangement, block, axes, metric,
                         {.y = panel % columns == 0, .x_offset = 19});
    out += "</g>\n";
  }
  fmt::format_to(
      put,
      "<text class=\"note y\" x=\"{:.2f}\" y=\"{:.2f}\">impressions learned from</text>\n</svg>\n",
      width - kMargin, height - 6);
  return out;
}

}  // namespace plackett
