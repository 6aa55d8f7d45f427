#include "report/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace plackett::report {
namespace {

std::optional<double> number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// The value of a setting of the cell, of its method or of its surroundings; empty if it has none.
std::string value_of(const CellSummary& cell, const std::string& setting) {
  const std::string own = setting_value(cell.swept, setting);
  return own.empty() ? setting_value(cell.surroundings, setting) : own;
}

// The numeric setting with most values, two at least; empty if there is none. The first of several.
// Not one of those of which only the best values are left.
std::string most_swept(const Comparison& comparison) {
  std::vector<std::string> names;
  std::map<std::string, std::set<double>> values;
  std::set<std::string> refused{"seed"};  // its values have no order that means something
  for (const CellSummary& cell : comparison.cells) {
    for (const auto kind : {&CellSummary::swept, &CellSummary::surroundings}) {
      if (cell.selected && kind == &CellSummary::swept) continue;
      for (const auto& [name, value] : cell.*kind) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        if (const auto read = number(value))
          values[name].insert(*read);
        else
          refused.insert(name);
      }
    }
  }
  std::string most;
  for (const std::string& name : names) {
    const std::size_t least = most.empty() ? 1 : values[most].size();
    if (!refused.contains(name) && values[name].size() > least) most = name;
  }
  return most;
}

// "PDGD (linear, hidden 64)": the method with the values of its other settings.
std::string line_label(const CellSummary& cell, const std::string& setting) {
  std::string label = cell.family.empty() ? row_label(cell) : cell.family;
  if (cell.selected) return label;
  std::vector<std::string> others;
  for (const auto& [name, value] : cell.swept) {
    if (name == setting) continue;
    others.push_back(name == "ranker" ? value : fmt::format("{} {}", name, value));
  }
  if (others.empty()) return label;
  const std::string list = fmt::format("{}", fmt::join(others, ", "));
  if (!label.ends_with(')')) return fmt::format("{} ({})", label, list);
  label.pop_back();
  return fmt::format("{}, {})", label, list);
}

template <typename List, typename Fits>
std::size_t find_or_add(List& list, Fits fits, typename List::value_type made) {
  const auto found = std::find_if(list.begin(), list.end(), fits);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  list.push_back(std::move(made));
  return list.size() - 1;
}

}  // namespace

SweepChart make_sweep_chart(const Arrangement& arrangement) {
  const Comparison& comparison = arrangement.comparison;
  SweepChart chart;
  chart.setting = most_swept(comparison);
  if (chart.setting.empty()) return chart;

  std::vector<std::string> rankers{"linear", "neural"};
  std::set<double> values;
  for (const Block& block : arrangement.blocks) {
    for (const Row& row : block.rows) {
      const CellSummary& cell = *row.cell;
      SweepPanel made{arrangement.title(cell, chart.setting),
                      arrangement.short_title(cell, chart.setting),
                      block.dataset,
                      {}};
      const std::size_t panel = find_or_add(
          chart.panels, [&](const SweepPanel& one) { return one.title == made.title; }, made);
      const std::size_t dash = find_or_add(
          rankers, [&](const std::string& one) { return one == cell.ranker; }, cell.ranker);
      const std::string label = line_label(cell, chart.setting);
      const std::size_t series =
          find_or_add(chart.series, [&](const Series& one) { return one.label == label; },
                      {label, 0, dash % kDashes});
      const auto x = number(value_of(cell, chart.setting));
      auto& lines = chart.panels[panel].lines;
      const std::size_t line = find_or_add(
          lines, [&](const SweepLine& one) { return one.series == series && one.is_level == !x; },
          {series, !x, {}});
      lines[line].points.push_back({x.value_or(0), &cell});
      if (x) values.insert(*x);
    }
  }
  chart.values.assign(values.begin(), values.end());
  chart.is_logarithmic =
      chart.values.front() > 0 && chart.values.back() > 10 * chart.values.front();
  set_colours(chart.series);
  for (SweepPanel& panel : chart.panels) {
    for (SweepLine& line : panel.lines) {
      if (line.is_level) {
        const SweepPoint only = line.points.front();
        line.points.clear();
        for (const double x : chart.values) line.points.push_back({x, only.cell});
      }
      std::sort(line.points.begin(), line.points.end(),
                [](const SweepPoint& one, const SweepPoint& other) { return one.x < other.x; });
    }
  }
  return chart;
}

}  // namespace plackett::report
