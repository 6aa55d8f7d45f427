// The page's part beside the paper.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "report/cikm2018.h"
#include "report/curve_shape.h"
#include "report/html_parts.h"
#include "report/numbers.h"
#include "report/plot.h"
#include "report/text.h"

namespace plackett::report {
namespace {

// The axis of both strips ends here; what lies beyond stands on the border.
constexpr double kReach = 5;

std::size_t series_of(const Arrangement& arrangement, const CellSummary& cell) {
  const std::string label = row_label(cell);
  std::size_t series = 0;
  while (series + 1 < arrangement.series.size() && arrangement.series[series].label != label) {
    ++series;
  }
  return series;
}

std::string class_of(const Arrangement& arrangement, const CellSummary& cell) {
  return colour_class(arrangement, series_of(arrangement, cell));
}

std::string setting(const ScoreLine& line) {
  return fmt::format("{} · {} · {}", line.cell->dataset, click_model_label(line.cell->click_model),
                     line.cell->protocol);
}

// Many dots on one line, pushed up and down until none covers another.
class Swarm {
 public:
  Swarm(double x_left, double x_right, double radius)
      : left_(x_left), right_(x_right), apart_(2 * radius + 1.5) {}

  [[nodiscard]] double x(double errors) const {
    const double clamped = std::clamp(errors, -kReach, kReach);
    return left_ + (right_ - left_) * (clamped + kReach) / (2 * kReach);
  }
  // Where the dot goes, relative to the line.
  Point place(double errors) {
    Point dot{x(errors), 0};
    for (int step = 0;; ++step) {
      const int away = (step + 1) / 2;
      dot.y = (step % 2 == 0 ? away : -away) * apart_ / 3;
      const bool free = std::none_of(dots_.begin(), dots_.end(), [&](const Point& other) {
        return std::hypot(other.x - dot.x, other.y - dot.y) < apart_;
      });
      if (free) break;
    }
    dots_.push_back(dot);
    lowest_ = std::max(lowest_, std::fabs(dot.y));
    return dot;
  }
  [[nodiscard]] double reach() const { return lowest_; }

 private:
  double left_;
  double right_;
  double apart_;
  double lowest_ = 0;
  std::vector<Point> dots_;
};

std::string dot_title(const ScoreLine& line, const Measure& measure) {
  const Score& score = line.score(measure);
  return fmt::format("{}&#10;{}&#10;here {}, {} run{}&#10;paper {}&#10;{} standard errors",
                     markup(row_label(*line.cell)), markup(setting(line)),
                     mean_and_std(score.here, measure.digits), line.cell->runs,
                     line.cell->runs == 1 ? "" : "s", mean_and_std(score.paper, measure.digits),
                     signed_errors(score.errors));
}

std::string strip(const Arrangement& arrangement, const Scorecard& card, const Measure& measure) {
  const double width = 560;
  const double radius = card.lines.size() > 40 ? 4.5 : 6;
  Swarm swarm(24, width - 24, radius);
  // From left to right, which packs them best.
  std::vector<const ScoreLine*> lines;
  for (const ScoreLine& line : card.lines) {
    if (std::isfinite(line.score(measure).errors)) lines.push_back(&line);
  }
  std::stable_sort(lines.begin(), lines.end(), [&](const ScoreLine* one, const ScoreLine* other) {
    return one->score(measure).errors < other->score(measure).errors;
  });
  std::string dots;
  std::size_t within = 0;
  for (const ScoreLine* line : lines) {
    if (std::fabs(line->score(measure).errors) <= 2) ++within;
    const Point dot = swarm.place(line->score(measure).errors);
    const std::size_t series = series_of(arrangement, *line->cell);
    fmt::format_to(std::back_inserter(dots),
                   "<circle class=\"score tipped {}\" data-series=\"{}\" tabindex=\"0\" "
                   "cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\"><title>{}</title></circle>\n",
                   colour_class(arrangement, series), series, dot.x, dot.y, radius,
                   dot_title(*line, measure));
  }
  const double half = std::max(swarm.reach() + radius + 10, 34.0);
  const double height = 2 * half + 42;
  std::string out = fmt::format(
      "<figure class=\"strip\"><figcaption>{0} <small>{1} of {2} within 2 standard errors</small>"
      "</figcaption>\n<svg viewBox=\"0 {3:.2f} {4:.0f} {5:.2f}\" role=\"img\" aria-label=\"{0}: "
      "difference to the paper in standard errors, a dot a cell; {1} of {2} within 2.\">\n"
      "<rect class=\"agree\" x=\"{6:.2f}\" y=\"{7:.2f}\" width=\"{8:.2f}\" height=\"{9:.2f}\" "
      "rx=\"6\"/>\n<path class=\"grid\" d=\"M{10:.2f} {7:.2f}V{11:.2f}\"/>\n",
      measure.title, within, lines.size(), -half, width, height, swarm.x(-2), -half,
      swarm.x(2) - swarm.x(-2), 2 * half, swarm.x(0), half);
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "<path class=\"axis\" d=\"M{:.2f} {:.2f}H{:.2f}\"/>\n", swarm.x(-kReach),
                 half, swarm.x(kReach));
  for (int tick = -4; tick <= 4; ++tick) {
    fmt::format_to(put, "<text class=\"x\" x=\"{:.2f}\" y=\"{:.2f}\">{}{}</text>\n", swarm.x(tick),
                   half + 19,
                   tick > 0   ? "+"
                   : tick < 0 ? "−"
                              : "",
                   std::abs(tick));
  }
  fmt::format_to(put,
                 "<text x=\"{:.2f}\" y=\"{:.2f}\">lower here</text>\n<text class=\"y\" "
                 "x=\"{:.2f}\" y=\"{:.2f}\">higher here</text>\n",
                 swarm.x(-kReach), half + 37, swarm.x(kReach), half + 37);
  return out + dots + "</svg></figure>\n";
}

// A small strip of one number, with the number.
std::string errors_cell(const Arrangement& arrangement, const ScoreLine& line,
                        const Measure& measure) {
  const Score& score = line.score(measure);
  std::string out = fmt::format("<td class=\"n{}\">{}{}</td><td class=\"z\">",
                                std::fabs(score.errors) > 2 ? " far" : "",
                                signed_errors(score.errors), score.coarse ? "†" : "");
  if (std::isfinite(score.errors)) {
    const auto x = [](double errors) {
      return 4 + 92 * (std::clamp(errors, -kReach, kReach) + kReach) / (2 * kReach);
    };
    fmt::format_to(std::back_inserter(out),
                   "<svg viewBox=\"0 0 100 14\" aria-hidden=\"true\"><rect class=\"agree\" "
                   "x=\"{:.1f}\" y=\"1\" width=\"{:.1f}\" height=\"12\" rx=\"3\"/>"
                   "<path class=\"rail\" d=\"M{:.1f} 1V13\"/><circle class=\"score {}\" "
                   "cx=\"{:.1f}\" cy=\"7\" r=\"4\"/></svg>",
                   x(-2), x(2) - x(-2), x(0), class_of(arrangement, *line.cell), x(score.errors));
  }
  return out + "</td>";
}

std::string numbers_table(const Arrangement& arrangement, const Scorecard& card) {
  std::string out = "<table class=\"beside\"><thead><tr><th scope=\"col\">Method</th>";
  const auto put = std::back_inserter(out);
  for (const Measure* measure : kMeasures) {
    fmt::format_to(put,
                   "<th scope=\"col\" class=\"n\">{}</th><th scope=\"col\" class=\"n\">Paper</th>"
                   "<th scope=\"col\" class=\"n\">Errors</th><td class=\"z\"></td>",
                   measure->title);
  }
  out += "</tr></thead>\n";
  for (std::size_t at = 0; at < card.lines.size(); ++at) {
    const ScoreLine& line = card.lines[at];
    if (at == 0 || setting(line) != setting(card.lines[at - 1])) {
      fmt::format_to(put,
                     "{}<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"9\"><span>{}"
                     "</span></th></tr>\n",
                     at == 0 ? "" : "</tbody>\n", markup(setting(line)));
    }
    fmt::format_to(put, "<tr><th scope=\"row\">{}</th>", markup(row_label(*line.cell)));
    for (const Measure* measure : kMeasures) {
      const Score& score = line.score(*measure);
      fmt::format_to(
          put,
          "<td class=\"n\">{} <span class=\"std\">({})</span></td>"
          "<td class=\"n paper\">{} <span class=\"std\">({})</span></td>{}",
          fixed(score.here.mean, measure->digits), fixed(score.here.std, measure->digits),
          fixed(score.paper.mean, measure->digits), fixed(score.paper.std, measure->digits),
          errors_cell(arrangement, line, *measure));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

}  // namespace

std::string html_scorecard(const Arrangement& arrangement, const Scorecard& card) {
  std::string out = html_legend(arrangement) + "<div class=\"strips\">\n";
  for (const Measure* measure : kMeasures) out += strip(arrangement, card, *measure);
  const bool few = card.lines.size() <= 36;
  fmt::format_to(std::back_inserter(out),
                 "</div>\n<details{}><summary>Every number beside the paper's</summary>\n"
                 "<div class=\"scroll\" role=\"region\" aria-label=\"Numbers beside the paper's\" "
                 "tabindex=\"0\">\n{}</div></details>\n<p class=\"note\">Errors: the difference of "
                 "the two means in standard errors of it, √(s₁²/n₁ + s₂²/{}).{}</p>\n",
                 few ? " open=\"\"" : "", numbers_table(arrangement, card), kPublishedRuns,
                 card.coarse ? " † The rounding of the paper’s mean alone may be worth more than "
                               "one standard error."
                             : "");
  return out;
}

}  // namespace plackett::report
