#include "report/plot.h"

#include <fmt/format.h>

#include <iterator>

#include "report/curve_shape.h"
#include "report/text.h"

namespace plackett::report {
namespace {

void append_grid(std::string& out, const Axes& axes, const PanelLabels& labels) {
  const Frame& frame = axes.frame();
  const auto put = std::back_inserter(out);
  const double right = frame.left + frame.width;
  const double bottom = frame.top + frame.height;
  out += "<path class=\"grid\" d=\"";
  for (const Tick& tick : axes.y_ticks()) {
    fmt::format_to(put, "M{:.2f} {:.2f}H{:.2f}", frame.left, axes.y(tick.value), right);
  }
  out += "\"/>\n<path class=\"axis\" d=\"";
  fmt::format_to(put, "M{:.2f} {:.2f}H{:.2f}", frame.left, bottom, right);
  for (const Tick& tick : axes.x_ticks()) {
    fmt::format_to(put, "M{:.2f} {:.2f}v4", axes.x(tick.value), bottom);
  }
  out += "\"/>\n";
  for (const Tick& tick : axes.x_ticks()) {
    fmt::format_to(put, "<text class=\"tick x\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n",
                   axes.x(tick.value), bottom + labels.x_offset, tick.label);
  }
  if (!labels.y) return;
  for (const Tick& tick : axes.y_ticks()) {
    fmt::format_to(put, "<text class=\"tick y\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n",
                   frame.left - 8, axes.y(tick.value) + 4, tick.label);
  }
}

void append_path(std::string& out, const Polyline& shape, bool closed) {
  char command = 'M';
  for (const Point& point : shape) {
    fmt::format_to(std::back_inserter(out), "{}{:.2f} {:.2f}", command, point.x, point.y);
    command = 'L';
  }
  if (closed) out += 'Z';
  // A line of no length, which the round caps show as a dot.
  if (!closed && shape.size() == 1) out += "h0.01";
}

}  // namespace

std::size_t colour_of(const Series& series) { return series.colour % kColours; }

std::size_t dash_of(const Series& series) {
  // Past the last colour they start again, with the next dash.
  return (series.ranker + series.colour / kColours) % kDashes;
}

std::string colour_class(const Arrangement& arrangement, std::size_t series) {
  return fmt::format("c{}", colour_of(arrangement.series[series]));
}

std::string series_classes(const Arrangement& arrangement, std::size_t series) {
  return fmt::format("{} d{}", colour_class(arrangement, series),
                     dash_of(arrangement.series[series]));
}

void append_panel(std::string& out, const Arrangement& arrangement, const Block& block,
                  const Axes& axes, Metric metric, const PanelLabels& labels) {
  append_grid(out, axes, labels);
  const auto put = std::back_inserter(out);
  for (const Row& row : block.rows) {
    fmt::format_to(put, "<path class=\"band {}\" data-series=\"{}\" d=\"",
                   colour_class(arrangement, row.series), row.series);
    for (const Polyline& shape : band_shapes(*row.cell, axes, metric))
      append_path(out, shape, true);
    out += "\"/>\n";
  }
  for (const Row& row : block.rows) {
    fmt::format_to(put, "<path class=\"line {}\" data-series=\"{}\" d=\"",
                   series_classes(arrangement, row.series), row.series);
    for (const Polyline& shape : line_shapes(*row.cell, axes, metric))
      append_path(out, shape, false);
    out += "\"/>\n";
  }
}

void append_sample(std::string& out, const Arrangement& arrangement, std::size_t series, double x,
                   double y) {
  fmt::format_to(std::back_inserter(out), "<path class=\"line {}\" d=\"M{:.2f} {:.2f}h22\"/>",
                 series_classes(arrangement, series), x, y);
}

}  // namespace plackett::report
