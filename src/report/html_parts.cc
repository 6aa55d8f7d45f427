#include "report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

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
PanelSize panel_size(const Arrangement& arrangement) {
  if (arrangement.blocks.size() == 1) return {760, 340};
  if (arrangement.blocks.size() == 2) return {560, 310};
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

// [[impression, mean, std, x, y], ...] of the points that are drawn.
std::string json_points(const CellSummary& cell, const Axes& axes, Metric metric) {
  const int digits = metric == Metric::kOffline ? kOfflineDigits + 1 : kOnlineDigits;
  std::string out;
  for (const CurveSummary& point : cell.curve) {
    if (!drawable(point, metric)) continue;
    const Moments& value = moments(point, metric);
    fmt::format_to(std::back_inserter(out), "{}[{},{},{},{:.2f},{:.2f}]", out.empty() ? "" : ",",
                   point.impression, json_number(value.mean, digits),
                   json_number(value.std, digits), axes.x(static_cast<double>(point.impression)),
                   axes.y(value.mean));
  }
  return out;
}

// Mean and deviation of every row on one small common scale, so that the eye can compare what the
// numbers say.
class Whiskers {
 public:
  Whiskers(const Arrangement& arrangement, Moments CellSummary::*metric) : metric_(metric) {
    for (const Block& block : arrangement.blocks) {
      for (const Row& row : block.rows) {
        const Moments& value = row.cell->*metric;
        if (!std::isfinite(value.mean) || !std::isfinite(value.std)) continue;
        low_ = std::min(low_, value.mean - value.std);
        high_ = std::max(high_, value.mean + value.std);
      }
    }
  }

  [[nodiscard]] std::string draw(const Arrangement& arrangement, const Row& row) const {
    const Moments& value = row.cell->*metric_;
    std::string out = "<svg class=\"whisker\" viewBox=\"0 0 240 16\" aria-hidden=\"true\">";
    if (std::isfinite(value.mean) && std::isfinite(value.std)) {
      fmt::format_to(std::back_inserter(out),
                     "<path class=\"rail\" d=\"M2 8H238\"/><g class=\"{0}\">"
                     "<path class=\"reach\" d=\"M{1:.2f} 8H{2:.2f}\"/>"
                     "<circle cx=\"{3:.2f}\" cy=\"8\" r=\"4\"/></g>",
                     colour_class(arrangement, row.series), x(value.mean - value.std),
                     x(value.mean + value.std), x(value.mean));
    }
    return out + "</svg>";
  }

 private:
  [[nodiscard]] double x(double value) const {
    return high_ > low_ ? 6 + 228 * (value - low_) / (high_ - low_) : 120;
  }

  Moments CellSummary::*metric_;
  double low_ = HUGE_VAL;
  double high_ = -HUGE_VAL;
};

std::string moments_cell(const Moments& moments, int digits, bool best) {
  if (!std::isfinite(moments.mean)) return fmt::format("<td class=\"n\">{}</td>", kNoNumber);
  const std::string mean = fixed(moments.mean, digits);
  return fmt::format("<td class=\"n\">{} <span class=\"std\">({})</span></td>",
                     best ? fmt::format("<strong>{}</strong>", mean) : mean,
                     fixed(moments.std, digits));
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

std::string html_panels(const Comparison& comparison, const Arrangement& arrangement,
                        Metric metric) {
  const Axes axes(comparison, metric, panel_frame(arrangement));
  const PanelSize size = panel_size(arrangement);
  std::string out = fmt::format("<div class=\"panels of{}\" data-metric=\"{}\">\n",
                                std::min<std::size_t>(arrangement.blocks.size(), 3),
                                metric == Metric::kOffline ? "offline" : "online");
  for (const Block& block : arrangement.blocks) {
    fmt::format_to(std::back_inserter(out),
                   "<figure class=\"panel\"><figcaption>{}</figcaption>\n"
                   "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                   markup(block.title), size.width, size.height,
                   markup(panel_summary(arrangement, block, metric)));
    append_panel(out, arrangement, block, axes, metric, {.y = true, .x_offset = 20});
    out += "</svg></figure>\n";
  }
  return out + "</div>\n";
}

std::string html_data(const Comparison& comparison, const Arrangement& arrangement) {
  std::string out = "{\"series\":[";
  const auto put = std::back_inserter(out);
  for (std::size_t series = 0; series < arrangement.series.size(); ++series) {
    fmt::format_to(put, "{}{{\"name\":{},\"colour\":\"{}\"}}", series == 0 ? "" : ",",
                   json_string(arrangement.series[series].label),
                   colour_class(arrangement, series));
  }
  const Frame frame = panel_frame(arrangement);
  fmt::format_to(put, "],\"top\":{:.2f},\"bottom\":{:.2f}", frame.top, frame.top + frame.height);
  for (const Metric metric : {Metric::kOffline, Metric::kOnline}) {
    const Axes axes(comparison, metric, frame);
    fmt::format_to(put, ",\n\"{}\":{{\"digits\":{},\"panels\":[",
                   metric == Metric::kOffline ? "offline" : "online",
                   metric == Metric::kOffline ? kOfflineDigits : kOnlineDigits);
    for (const Block& block : arrangement.blocks) {
      out += &block == &arrangement.blocks.front() ? "\n[" : ",\n[";
      for (const Row& row : block.rows) {
        fmt::format_to(put, "{}{{\"series\":{},\"points\":[{}]}}",
                       &row == &block.rows.front() ? "" : ",", row.series,
                       json_points(*row.cell, axes, metric));
      }
      out += ']';
    }
    out += "]}";
  }
  return out + "}";
}

std::string html_table(const Arrangement& arrangement) {
  const Whiskers whiskers(arrangement, &CellSummary::offline);
  std::string out =
      "<div class=\"scroll\" role=\"region\" aria-label=\"Results\" tabindex=\"0\"><table>\n"
      "<caption>Mean and (standard deviation) over the runs, after the last impression. "
      "Bold: best of its click model.</caption>\n"
      "<thead><tr><th scope=\"col\">Method</th><th scope=\"col\" class=\"n\">Offline NDCG@10</th>"
      "<td class=\"spread\"></td><th scope=\"col\" class=\"n\">Online NDCG@10</th>"
      "<th scope=\"col\" class=\"n\">Impressions<wbr/>/s</th></tr></thead>\n";
  for (const Block& block : arrangement.blocks) {
    fmt::format_to(std::back_inserter(out),
                   "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n",
                   markup(block.title));
    for (const Row& row : block.rows) {
      fmt::format_to(std::back_inserter(out),
                     "<tr><th scope=\"row\">{}</th>{}<td class=\"spread\">{}</td>{}"
                     "<td class=\"n\">{}</td></tr>\n",
                     markup(arrangement.series[row.series].label),
                     moments_cell(row.cell->offline, kOfflineDigits, row.best_offline),
                     whiskers.draw(arrangement, row),
                     moments_cell(row.cell->online, kOnlineDigits, row.best_online),
                     rate(row.cell->impressions_per_second));
    }
    out += "</tbody>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace plackett::report
