#include "report/plot.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "report/text.h"

namespace plackett::report {
namespace {

// The stretches of a curve that can be drawn without a gap.
std::vector<std::span<const CurveSummary>> pieces(const std::vector<CurveSummary>& curve,
                                                  Metric metric) {
  std::vector<std::span<const CurveSummary>> found;
  for (std::size_t start = 0; start < curve.size();) {
    if (!drawable(curve[start], metric)) {
      ++start;
      continue;
    }
    std::size_t end = start;
    while (end < curve.size() && drawable(curve[end], metric)) ++end;
    found.emplace_back(curve.data() + start, end - start);
    start = end;
  }
  return found;
}

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

void append_band(std::string& out, std::span<const CurveSummary> piece, const Axes& axes,
                 Metric metric) {
  const auto put = std::back_inserter(out);
  const auto edge = [&](const CurveSummary& point, double side, char command) {
    const Moments& value = moments(point, metric);
    const double deviation = std::isfinite(value.std) ? value.std : 0;
    fmt::format_to(put, "{}{:.2f} {:.2f}", command, axes.x(static_cast<double>(point.impression)),
                   axes.y(value.mean + side * deviation));
  };
  char command = 'M';
  for (const CurveSummary& point : piece) {
    edge(point, 1, command);
    command = 'L';
  }
  for (std::size_t at = piece.size(); at-- > 0;) edge(piece[at], -1, 'L');
  out += 'Z';
}

void append_line(std::string& out, std::span<const CurveSummary> piece, const Axes& axes,
                 Metric metric) {
  const auto put = std::back_inserter(out);
  char command = 'M';
  for (const CurveSummary& point : piece) {
    fmt::format_to(put, "{}{:.2f} {:.2f}", command, axes.x(static_cast<double>(point.impression)),
                   axes.y(moments(point, metric).mean));
    command = 'L';
  }
  // A line of no length, which the round caps show as a dot.
  if (piece.size() == 1) out += "h0.01";
}

}  // namespace

std::string colour_class(const Arrangement& arrangement, std::size_t series) {
  return fmt::format("c{}", arrangement.series[series].colour % kColours);
}

std::string series_classes(const Arrangement& arrangement, std::size_t series) {
  // Past the last colour they start again, with the next dash.
  const Series& shown = arrangement.series[series];
  return fmt::format("{} d{}", colour_class(arrangement, series),
                     (shown.ranker + shown.colour / kColours) % kDashes);
}

void append_panel(std::string& out, const Arrangement& arrangement, const Block& block,
                  const Axes& axes, Metric metric, const PanelLabels& labels) {
  append_grid(out, axes, labels);
  const auto put = std::back_inserter(out);
  for (const Row& row : block.rows) {
    fmt::format_to(put, "<path class=\"band {}\" data-series=\"{}\" d=\"",
                   colour_class(arrangement, row.series), row.series);
    for (const auto piece : pieces(row.cell->curve, metric)) append_band(out, piece, axes, metric);
    out += "\"/>\n";
  }
  for (const Row& row : block.rows) {
    fmt::format_to(put, "<path class=\"line {}\" data-series=\"{}\" d=\"",
                   series_classes(arrangement, row.series), row.series);
    for (const auto piece : pieces(row.cell->curve, metric)) append_line(out, piece, axes, metric);
    out += "\"/>\n";
  }
}

void append_sample(std::string& out, const Arrangement& arrangement, std::size_t series, double x,
                   double y) {
  fmt::format_to(std::back_inserter(out), "<path class=\"line {}\" d=\"M{:.2f} {:.2f}h22\"/>",
                 series_classes(arrangement, series), x, y);
}

}  // namespace plackett::report
