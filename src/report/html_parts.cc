#include "report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "report/numbers.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett::report {
namespace {

// A page with few panels gives each more room; the style sheet keeps the type the same size.
struct PanelSize {
  double width;
  double height;
};
// The panels of the dataset that has most.
std::size_t most_beside(const Arrangement& arrangement) {
  std::vector<std::size_t> counts(arrangement.datasets.size() + 1, 0);
  for (const Block& block : arrangement.blocks) ++counts[block.dataset];
  return *std::max_element(counts.begin(), counts.end());
}

PanelSize panel_size(const Arrangement& arrangement) {
  const std::size_t most = most_beside(arrangement);
  if (most == 1) return {760, 340};
  if (most == 2) return {560, 310};
  return {390, 276};
}

Frame panel_frame(const Arrangement& arrangement) {
  const PanelSize size = panel_size(arrangement);
  return {.left = 46, .top = 10, .width = size.width - 46 - 14, .height = size.height - 10 - 28};
}

std::string panel_summary(const Arrangement& arrangement, const Block& block, Metric metric) {
  std::string text = fmt::format("{}, {} clicks. Final values: ",
                                 metric == Metric::kOffline ? "Offline NDCG@10 by impressions"
                                                            : "Online NDCG@10 by impressions",
                                 block.title);
  for (const Row& row : block.rows) {
    const bool offline = metric == Metric::kOffline;
    fmt::format_to(std::back_inserter(text), "{}{} {}", &row == &block.rows.front() ? "" : ", ",
                   arrangement.series[row.series].label,
                   offline ? fixed(row.cell->offline.mean, kOfflineDigits)
                           : fixed(row.cell->online.mean, kOnlineDigits));
  }
  return text + ".";
}

std::string json_number(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "null";
}

// [[impression, mean, std, x, y], ...] of the points that are drawn; no std for a single run.
std::string json_points(const CellSummary& cell, const Axes& axes, Metric metric) {
  const int digits = metric == Metric::kOffline ? kOfflineDigits + 1 : kOnlineDigits;
  std::string out;
  for (const CurveSummary& point : cell.curve) {
    if (!drawable(point, metric)) continue;
    const Moments& value = moments(point, metric);
    fmt::format_to(std::back_inserter(out), "{}[{},{},{},{:.2f},{:.2f}]", out.empty() ? "" : ",",
                   point.impression, json_number(value.mean, digits),
                   cell.runs < 2 ? "null" : json_number(value.std, digits),
                   axes.x(static_cast<double>(point.impression)), axes.y(value.mean));
  }
  return out;
}

}  // namespace

std::string html_legend(const Arrangement& arrangement) {
  std::string out = "<div class=\"legend\" role=\"group\" aria-label=\"Lines shown\">\n";
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    fmt::format_to(std::back_inserter(out),
                   "<button type=\"button\" aria-pressed=\"true\" data-series=\"{}\">"
                   "<svg viewBox=\"0 0 26 10\" width=\"26\" height=\"10\" aria-hidden=\"true\">",
                   series);
    append_sample(out, arrangement, series, 2, 5);
    fmt::format_to(std::back_inserter(out), "</svg>{}</button>\n",
                   markup(arrangement.series[series].label));
  }
  return out + "</div>\n";
}

std::string html_panels(const Arrangement& arrangement, Metric metric) {
  const PanelSize size = panel_size(arrangement);
  const Frame frame = panel_frame(arrangement);
  std::string out;
  const auto put = std::back_inserter(out);
  for (std::size_t at = 0; at < arrangement.blocks.size(); ++at) {
    const Block& block = arrangement.blocks[at];
    if (at == 0 || block.dataset != arrangement.blocks[at - 1].dataset) {
      if (at > 0) out += "</div>\n";
      if (arrangement.datasets.size() > 1) {
        fmt::format_to(put, "<h3>{}</h3>\n", markup(arrangement.datasets[block.dataset]));
      }
      fmt::format_to(put, "<div class=\"panels of{}\" data-metric=\"{}\" data-first=\"{}\">\n",
                     std::min<std::size_t>(most_beside(arrangement), 3),
                     metric == Metric::kOffline ? kOffline.name : kOnline.name, at);
    }
    fmt::format_to(put,
                   "<figure class=\"panel\"><figcaption>{}</figcaption>\n"
                   "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                   markup(block.short_title), size.width, size.height,
                   markup(panel_summary(arrangement, block, metric)));
    const Axes axes(cells_of(arrangement, block.dataset), metric, frame);
    append_panel(out, arrangement, block, axes, metric, {.y = true, .x_offset = 20});
    out += "</svg></figure>\n";
  }
  return arrangement.blocks.empty() ? out : out + "</div>\n";
}

std::string html_data(const Arrangement& arrangement) {
  std::string out = "{\"series\":[";
  const auto put = std::back_inserter(out);
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    fmt::format_to(put, "{}{{\"name\":{},\"colour\":\"{}\"}}", series == 0 ? "" : ",",
                   json_string(arrangement.series[series].label),
                   colour_class(arrangement, series));
  }
  const Frame frame = panel_frame(arrangement);
  fmt::format_to(put, "],\"top\":{:.2f},\"bottom\":{:.2f}", frame.top, frame.top + frame.height);
  for (const Measure* measure : kMeasures) {
    fmt::format_to(put, ",\n\"{}\":{{\"digits\":{},\"panels\":[", measure->name, measure->digits);
    for (const Block& block : arrangement.blocks) {
      out += &block == &arrangement.blocks.front() ? "\n[" : ",\n[";
      const Axes axes(cells_of(arrangement, block.dataset), measure->metric, frame);
      for (const Row& row : block.rows) {
        fmt::format_to(put, "{}{{\"series\":{},\"points\":[{}]}}",
                       &row == &block.rows.front() ? "" : ",", row.series,
                       json_points(*row.cell, axes, measure->metric));
      }
      out += ']';
    }
    out += "]}";
  }
  return out + "}";
}

}  // namespace plackett::report
