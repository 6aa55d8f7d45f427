// The tables of the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html_parts.h"
#include "report/numbers.h"
#include "report/plot.h"
#include "report/table_notes.h"
#include "report/table_plan.h"
#include "report/text.h"

namespace plackett::report {
namespace {

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

const char* mark_class(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
    case Verdict::kMuchBetter:
      return "up";
    case Verdict::kWorse:
    case Verdict::kMuchWorse:
      return "down";
    default:
      return "same";
  }
}

const char* words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
    case Verdict::kMuchBetter:
      return "better";
    case Verdict::kWorse:
    case Verdict::kMuchWorse:
      return "worse";
    default:
      return "no significant difference";
  }
}

// The marks with all that they stand for in the title, a line a baseline.
std::string marks_cell(const Row& row, const Significance& significance, const Measure& measure) {
  const std::vector<Against> against = significance.of(*row.cell, measure);
  const bool any = std::any_of(against.begin(), against.end(), [](const Against& one) {
    return one.verdict != Verdict::kUntested;
  });
  if (!any) return "<td class=\"m\"></td>";
  std::string title;
  std::string shown;
  for (std::size_t at = 0; at < against.size(); ++at) {
    const auto& [verdict, test] = against[at];
    fmt::format_to(std::back_inserter(shown), "<i class=\"{}\">{}</i>", mark_class(verdict),
                   verdict == Verdict::kUntested ? "\u2007" : mark(verdict));
    if (verdict == Verdict::kUntested) continue;
    fmt::format_to(std::back_inserter(title), "{}{} {}: {}, {} (t = {}, {} degrees)",
                   title.empty() ? "" : "&#10;", mark(verdict),
                   markup(significance.baselines()[at]), words(verdict), p_text(test.p),
                   fixed(test.t, 2), fixed(test.degrees, 0));
  }
  return fmt::format(
      "<td class=\"m\"><span class=\"marks tipped\" tabindex=\"0\" title=\"{}\">{}</span></td>",
      title, shown);
}

std::string moments_cell(const Row& row, const Measure& measure) {
  const Moments value = shown(*row.cell, measure);
  if (!std::isfinite(value.mean)) return fmt::format("<td class=\"n\">{}</td>", kNoNumber);
  const std::string mean = fixed(value.mean, measure.digits);
  return fmt::format("<td class=\"n\">{} <span class=\"std\">({})</span></td>",
                     row.best(measure) ? fmt::format("<strong>{}</strong>", mean) : mean,
                     fixed(value.std, measure.digits));
}

// What each mark means and which is about which baseline.
std::string marks_legend(const Significance& significance) {
  std::string out =
      "<div class=\"key\"><span><i class=\"up\">▲</i> better, <i class=\"down\">▼</i> worse: "
      "p &lt; 0.01</span><span><i class=\"up\">△</i> <i class=\"down\">▽</i> p &lt; 0.05</span>"
      "<span><i class=\"same\">·</i> no significant difference</span>";
  fmt::format_to(std::back_inserter(out), "<span>{}, two-tailed, against</span><ol>",
                 markup(significance.test_name()));
  for (const std::string& baseline : significance.baselines()) {
    fmt::format_to(std::back_inserter(out), "<li>{}</li>", markup(baseline));
  }
  return out + "</ol></div>\n";
}

}  // namespace

std::string html_tables(const Arrangement& arrangement, const Significance& significance) {
  const Whiskers whiskers(arrangement, &CellSummary::offline);
  const bool marked = !significance.baselines().empty();
  const bool one_dataset = arrangement.datasets.size() == 1;
  std::string out;
  const auto put = std::back_inserter(out);
  for (const TablePlan& plan : plan_tables(arrangement)) {
    const std::string name = plan.title.empty() ? "Results" : plan.title;
    if (!plan.title.empty()) fmt::format_to(put, "<h3>{}</h3>\n", plan.title);
    fmt::format_to(
        put,
        "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">"
        "<table class=\"results\">\n<caption><span>Mean and (standard deviation) over the "
        "runs, after the last impression. Bold: best {}.</span></caption>\n"
        "<thead><tr><th scope=\"col\">Method</th>",
        name, best_of_what(arrangement));
    for (const TableColumn& column : plan.columns) {
      fmt::format_to(put, "<th scope=\"col\" class=\"n\">{}</th>",
                     markup(one_dataset ? column.measure->title : column.title));
      if (marked) out += "<td class=\"m\"></td>";
      if (one_dataset && column.measure == &kOffline) out += "<td class=\"spread\"></td>";
    }
    out += "</tr></thead>\n";
    const std::size_t width = 1 + plan.columns.size() * (marked ? 2 : 1) + (one_dataset ? 1 : 0);
    for (const TableSection& section : plan.sections) {
      fmt::format_to(put,
                     "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{}"
                     "</span></th></tr>\n",
                     width, markup(section.title));
      for (const TableLine& line : section.lines) {
        fmt::format_to(put, "<tr><th scope=\"row\">{}</th>",
                       markup(arrangement.series[line.series].label));
        for (std::size_t at = 0; at < plan.columns.size(); ++at) {
          const Measure& measure = *plan.columns[at].measure;
          const Row* const row = line.cells[at];
          out += row == nullptr ? "<td class=\"n\"></td>" : moments_cell(*row, measure);
          if (marked) {
            out +=
                row == nullptr ? "<td class=\"m\"></td>" : marks_cell(*row, significance, measure);
          }
          if (one_dataset && &measure == &kOffline) {
            fmt::format_to(put, "<td class=\"spread\">{}</td>", whiskers.draw(arrangement, *row));
          }
        }
        out += "</tr>\n";
      }
      out += "</tbody>\n";
    }
    out += "</table></div>\n";
  }
  if (marked) out += marks_legend(significance);
  return out;
}

}  // namespace plackett::report
