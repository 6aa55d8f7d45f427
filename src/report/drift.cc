#include "report/drift.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

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

bool has_restarts(const CellSummary& cell) { return cell.drift->restarts.runs > 0; }

TableRow row_of(const std::string& title, const CellSummary& cell, std::size_t columns) {
  TableRow row{.title = title};
  const DriftSummary& drift = *cell.drift;
  for (const Estimate* estimate : {&drift.regret, &drift.regret_after, &drift.worst_window}) {
    row.cells.push_back({.mean = interval(*estimate, kDigits)});
  }
  for (const DriftMark& mark : drift.drifts) row.cells.push_back({.mean = regained(mark)});
  if (has_restarts(cell)) row.cells.push_back({.mean = interval(drift.restarts, 1)});
  row.cells.resize(columns);
  return row;
}

// Of blocks with the same drifts.
Table table_of(const Arrangement& arrangement, const std::vector<const Block*>& blocks,
               const Phases& phases) {
  Table table{.title = "Under drift", .columns = {"regret", "since drift", "worst window"}};
  std::vector<std::string> texts;
  for (const auto& [at, name, text] : phases.marks) {
    texts.push_back(text);
    table.columns.push_back(phases.marks.size() == 1 ? "regained" : name);
  }
  bool any_restarts = false;
  for (const Block* block : blocks) {
    for (const Row& row : block->rows) any_restarts = any_restarts || has_restarts(*row.cell);
  }
  if (any_restarts) table.columns.emplace_back("restarts");
  table.about = fmt::format(
      "{}: {}. Means over runs ± half of the 95 % confidence interval. Regret: how much NDCG@10 an "
      "impression lacks to the best linear ranker of its world, in the whole run and since the "
      "first drift. Worst window: the lowest mean online NDCG@10 of a hundredth of the run since "
      "then. {}: impressions from {} until 95 % of the level before it is regained, levels being "
      "shares of the best linear ranker's NDCG, and in how many runs; the others count with the "
      "impressions that they had. –: too near to the start, the next drift or the end.{}",
      texts.size() == 1 ? "Drift" : "Drifts", fmt::join(texts, "; "),
      texts.size() == 1 ? "Regained" : "The columns with the drifts' names",
      texts.size() == 1 ? "the drift" : "each drift",
      any_restarts ? " Restarts: how often a run's method started over." : "");
  for (const Block* block : blocks) {
    TableSection& section = table.sections.emplace_back(TableSection{block->title});
    for (const Row& row : block->rows) {
      section.rows.push_back(row_of(arrangement.label(row), *row.cell, table.columns.size()));
    }
  }
  return table;
}

}  // namespace

Phases phases_of(const Block& block) {
  Phases phases;
  const CellSummary& cell = *block.rows.front().cell;
  if (!cell.drift) return phases;
  const auto end = static_cast<double>(cell.impressions);
  for (const DriftMark& mark : cell.drift->drifts) {
    const auto at = static_cast<double>(mark.at);
    const std::string of = mark.text.substr(0, mark.text.find(' '));
    phases.marks.push_back({at, fmt::format("{} at {}", of, compact(at)), mark.text});
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
  std::vector<std::pair<Phases, std::vector<const Block*>>> groups;
  for (const Block& block : arrangement.blocks) {
    Phases phases = phases_of(block);
    if (phases.marks.empty()) continue;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first.marks == phases.marks;
    });
    if (found == groups.end()) {
      groups.push_back({std::move(phases), {&block}});
    } else {
      found->second.push_back(&block);
    }
  }
  std::vector<Table> tables;
  for (const auto& [phases, blocks] : groups) {
    tables.push_back(table_of(arrangement, blocks, phases));
  }
  return tables;
}

}  // namespace plackett::report
