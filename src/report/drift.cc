#include "report/drift.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace plackett::report {
namespace {

constexpr int kDigits = 4;

// "0.0512 ± 0.0031".
std::string interval(const Estimate& estimate, int digits) {
  const std::string mean = fixed(estimate.mean, digits);
  if (!std::isfinite(estimate.half_width)) return mean;
  return fmt::format("{} ± {}", mean, fixed(estimate.half_width, digits));
}

// "4,200 ± 800 (9 of 10)": how many of the runs were back; "–" if that can't be measured.
std::string regained(const DriftMark& mark) {
  const auto& [mean, half_width, runs] = mark.regained_after;
  if (runs == 0) return "–";
  const auto whole = [](double value) {
    return grouped(static_cast<std::uint64_t>(std::llround(value)));
  };
  std::string text = mark.regained == 0 ? "never" : whole(mean);
  if (mark.regained > 0 && std::isfinite(half_width)) text += " ± " + whole(half_width);
  return text + fmt::format(" ({} of {})", mark.regained, runs);
}

TableRow row_of(const std::string& title, const CellSummary& cell, std::size_t columns) {
  TableRow row{.title = title};
  const DriftSummary& drift = *cell.drift;
  for (const Estimate* estimate : {&drift.regret, &drift.regret_after, &drift.worst_window}) {
    row.cells.push_back({.mean = interval(*estimate, kDigits)});
  }
  for (const DriftMark& mark : drift.drifts) {
    row.cells.push_back({.mean = regained(mark)});
  }
  row.cells.resize(columns);
  return row;
}

}  // namespace

Phases phases_of(const Block& block) {
  Phases phases;
  const CellSummary& cell = *block.rows.front().cell;
  if (!cell.drift) return phases;
  const auto end = static_cast<double>(cell.impressions);
  for (const DriftMark& mark : cell.drift->drifts) {
    const auto at = static_cast<double>(mark.at);
    phases.marks.push_back({at, mark.text.substr(0, mark.text.find(' ')), mark.text});
    if (mark.period == 0 && mark.settled > mark.at) {
      phases.bands.emplace_back(at, static_cast<double>(mark.settled));
    }
    const auto period = static_cast<double>(mark.period);
    for (double from = at + period / 4; period > 0 && from < end; from += period) {
      phases.bands.emplace_back(from, std::min(from + period / 2, end));
    }
  }
  return phases;
}

bool has_drift(const Arrangement& arrangement) {
  const auto& cells = arrangement.comparison.cells;
  return std::any_of(cells.begin(), cells.end(),
                     [](const CellSummary& cell) { return cell.drift.has_value(); });
}

std::vector<Table> drift_tables(const Arrangement& arrangement) {
  if (!has_drift(arrangement)) return {};
  Table table{
      .title = "Under drift",
      .about =
          "Means over runs ± half of the 95 % confidence interval. Regret: how much NDCG@10 "
          "an impression lacks to the best linear ranker of its world, in the whole run and "
          "since the first drift. Worst window: the lowest mean online NDCG@10 of a "
          "hundredth of the run since then. Regained: impressions from a drift until 95 % "
          "of the level before it, levels being shares of the best linear ranker's NDCG, "
          "and in how many runs; the others count with the impressions that they had. –: "
          "too near to the start, the next drift or the end.",
      .columns = {"regret", "since drift", "worst window"}};
  std::size_t most = 0;
  for (const CellSummary& cell : arrangement.comparison.cells) {
    if (cell.drift) most = std::max(most, cell.drift->drifts.size());
  }
  for (std::size_t at = 1; at <= most; ++at) {
    table.columns.push_back(most == 1 ? "regained" : fmt::format("regained {}", at));
  }
  for (const Block& block : arrangement.blocks) {
    const Phases phases = phases_of(block);
    if (phases.marks.empty()) continue;
    std::vector<std::string> texts;
    for (const Phases::Mark& mark : phases.marks) texts.push_back(mark.text);
    TableSection& section = table.sections.emplace_back(
        TableSection{fmt::format("{} · {}", block.title, fmt::join(texts, "; "))});
    for (const Row& row : block.rows) {
      section.rows.push_back(row_of(arrangement.label(row), *row.cell, table.columns.size()));
    }
  }
  return {table};
}

}  // namespace plackett::report
