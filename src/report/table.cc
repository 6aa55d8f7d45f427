#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/arrangement.h"
#include "report/numbers.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::Arrangement;
using report::Block;
using report::Row;

constexpr std::string_view kSpeedTitle = "impressions/s";
constexpr const char* kEmpty = "No runs to show.\n";

std::string left(std::string_view text, std::size_t columns) {
  const std::size_t width = report::display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string right(std::string_view text, std::size_t columns) {
  const std::size_t width = report::display_width(text);
  return std::string(columns > width ? columns - width : 0, ' ') + std::string(text);
}

// A mean and its deviation, each right-aligned in a column of its own, so that the decimal points
// of both stand under each other however many digits the deviations have.
struct MomentsColumn {
  const char* title;
  int digits;
  Moments CellSummary::*moments;
  bool Row::*best;
  std::size_t mean_width = 0;
  std::size_t std_width = 0;

  [[nodiscard]] std::string mean(const Row& row) const {
    return report::fixed((row.cell->*moments).mean, digits);
  }
  [[nodiscard]] std::string deviation(const Row& row) const {
    if (!std::isfinite((row.cell->*moments).mean)) return "";
    return fmt::format("({})", report::fixed((row.cell->*moments).std, digits));
  }
  void fit(const Arrangement& arrangement) {
    for (const Block& block : arrangement.blocks) {
      for (const Row& row : block.rows) {
        mean_width = std::max(mean_width, report::display_width(mean(row)));
        std_width = std::max(std_width, report::display_width(deviation(row)));
      }
    }
    const std::size_t title_width = report::display_width(title);
    if (width() < title_width) mean_width += title_width - width();
  }
  // Mean, its mark, a space, deviation.
  [[nodiscard]] std::size_t width() const { return mean_width + 1 + 1 + std_width; }

  [[nodiscard]] std::string cell(const Row& row, bool ansi) const {
    const bool marked = row.*best;
    const std::string number = mean(row);
    const std::string padding = right("", mean_width - report::display_width(number));
    return fmt::format(
        "{}{}{}{} {}", padding, marked && ansi ? "\x1b[1m" + number + "\x1b[0m" : number,
        marked && !ansi ? "*" : "", marked && !ansi ? "" : " ", right(deviation(row), std_width));
  }
};

std::string facts_line(const Comparison& comparison) {
  const report::Facts facts = report::facts(comparison);
  return report::printable(fmt::format("{} · {} protocol · {} runs × {} impressions",
                                       facts.datasets, facts.protocols, facts.runs,
                                       facts.impressions));
}

}  // namespace

std::string terminal_table(const Comparison& comparison, const TableStyle& style) {
  const Arrangement arrangement = report::arrange(comparison);
  if (arrangement.blocks.empty()) return kEmpty;

  MomentsColumn offline{"offline NDCG@10", report::kOfflineDigits, &CellSummary::offline,
                        &Row::best_offline};
  MomentsColumn online{"online NDCG@10", report::kOnlineDigits, &CellSummary::online,
                       &Row::best_online};
  offline.fit(arrangement);
  online.fit(arrangement);
  const std::size_t gap = 3;
  const std::size_t numbers = offline.width() + online.width() + kSpeedTitle.size() + 3 * gap;

  std::size_t names = 18;
  for (const Block& block : arrangement.blocks) {
    names = std::max(names, report::display_width(block.title));
    for (const Row& row : block.rows) {
      names = std::max(names, 2 + report::display_width(arrangement.series[row.series].label));
    }
  }
  names = std::min(names, style.width > numbers + 18 ? style.width - numbers : 18);
  const std::size_t width = names + numbers;
  const std::size_t line_width = std::max(width, style.width);

  std::string rule;
  for (std::size_t column = 0; column < width; ++column) rule += "─";
  const std::string space(gap, ' ');
  const auto dim = [&](const std::string& text) {
    return style.ansi ? fmt::format("\x1b[2m{}\x1b[0m", text) : text;
  };
  const auto bold = [&](const std::string& text) {
    return style.ansi ? fmt::format("\x1b[1m{}\x1b[0m", text) : text;
  };

  std::string out;
  const auto line = [&out](const std::string& text) { out += text + '\n'; };
  if (!comparison.title.empty()) line(bold(report::shorten(comparison.title, line_width)));
  line(dim(report::shorten(facts_line(comparison), line_width)));
  line("");
  line(dim(left("", names) + space + right(offline.title, offline.width()) + space +
           right(online.title, online.width()) + space + std::string(kSpeedTitle)));
  bool any_mark = false;
  for (const Block& block : arrangement.blocks) {
    line(dim(rule));
    line(bold(report::shorten(block.title, width)));
    for (const Row& row : block.rows) {
      const std::string& label = arrangement.series[row.series].label;
      const std::string name = fmt::format("  {}", report::shorten(label, names - 2));
      line(fmt::format("{1}{0}{2}{0}{3}{0}{4}", space, left(name, names),
                       offline.cell(row, style.ansi), online.cell(row, style.ansi),
                       right(report::rate(row.cell->impressions_per_second), kSpeedTitle.size())));
      any_mark = any_mark || row.best_offline || row.best_online;
    }
  }
  line(dim(rule));
  line(dim(report::shorten(
      any_mark ? fmt::format("mean (standard deviation) over runs; {} best of its click model",
                             style.ansi ? "bold:" : "*")
               : "mean (standard deviation) over runs",
      width)));
  return out;
}

std::string markdown_table(const Comparison& comparison) {
  const Arrangement arrangement = report::arrange(comparison);
  if (arrangement.blocks.empty()) return kEmpty;
  const auto cell = [](const Moments& moments, int digits, bool best) {
    std::string mean = report::fixed(moments.mean, digits);
    if (!std::isfinite(moments.mean)) return mean;
    return fmt::format("{0}{1}{0} ({2})", best ? "**" : "", mean,
                       report::fixed(moments.std, digits));
  };

  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) {
    fmt::format_to(put, "# {}\n\n", report::markdown_cell(comparison.title));
  }
  fmt::format_to(put, "{}. Mean (standard deviation) over runs.\n",
                 report::markdown_cell(facts_line(comparison)));
  for (const Block& block : arrangement.blocks) {
    fmt::format_to(put,
                   "\n## {}\n\n"
                   "| method | offline NDCG@10 | online NDCG@10 | impressions/s |\n"
                   "|:--|--:|--:|--:|\n",
                   report::markdown_cell(block.title));
    for (const Row& row : block.rows) {
      fmt::format_to(put, "| {} | {} | {} | {} |\n",
                     report::markdown_cell(arrangement.series[row.series].label),
                     cell(row.cell->offline, report::kOfflineDigits, row.best_offline),
                     cell(row.cell->online, report::kOnlineDigits, row.best_online),
                     report::rate(row.cell->impressions_per_second));
    }
  }
  return out;
}

std::string csv_table(const Comparison& comparison) {
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  std::string out =
      "click_model,method,ranker,dataset,protocol,runs,impressions,seed,offline_mean,offline_std,"
      "online_mean,online_std,seconds,impressions_per_second,evaluation_share\n";
  for (const CellSummary& cell : comparison.cells) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   report::csv_field(cell.click_model), report::csv_field(cell.method),
                   report::csv_field(cell.ranker), report::csv_field(cell.dataset),
                   report::csv_field(cell.protocol), cell.runs, cell.impressions, cell.seed,
                   number(cell.offline.mean), number(cell.offline.std), number(cell.online.mean),
                   number(cell.online.std), number(cell.seconds),
                   number(cell.impressions_per_second), number(cell.evaluation_share));
  }
  return out;
}

}  // namespace plackett
