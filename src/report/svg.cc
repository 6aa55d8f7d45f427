#include "report/svg.h"

#include <fmt/format.h>

#include <iterator>

#include "report/arrangement.h"
#include "report/figure.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;

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

}  // namespace

std::string curves_svg(const Comparison& comparison, const SvgStyle& style) {
  const Arrangement arrangement = report::arrange(comparison);
  const report::Figure figure = report::lay_out(arrangement, style.metric, style.width);
  std::string out;
  const auto put = std::back_inserter(out);
  const std::string title =
      report::markup(comparison.title.empty() ? std::string("Learning curves") : comparison.title);
  fmt::format_to(put,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">\n"
                 "<title>{2}</title>\n",
                 figure.width, figure.height, title);
  append_style(out, style.scheme);
  if (figure.panels.empty()) {
    fmt::format_to(put,
                   "<text class=\"x\" x=\"{:.2f}\" y=\"{:.2f}\">No runs to show</text>\n</svg>\n",
                   figure.width / 2, figure.height / 2);
    return out;
  }
  const auto text = [&](const char* attributes, const report::FigureText& what) {
    fmt::format_to(put, "<text{} x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", attributes, what.at.x,
                   what.at.y, report::markup(what.text));
  };
  for (const report::FigureLegend& entry : figure.legend) {
    report::append_sample(out, arrangement, entry.series, entry.sample.x, entry.sample.y);
    text("", entry.name);
  }
  text(" class=\"note\"", figure.note);
  for (const report::FigurePanel& panel : figure.panels) {
    out += "<g>\n";
    text(" class=\"title\"", panel.title);
    report::append_panel(out, arrangement, *panel.block, panel.axes, style.metric,
                         {.y = panel.y_labels, .x_offset = report::kTickDrop});
    out += "</g>\n";
  }
  text(" class=\"note y\"", figure.foot);
  return out + "</svg>\n";
}

}  // namespace plackett
