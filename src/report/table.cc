#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

// The element with this title, added if there is none.
template <typename T>
T& titled(std::vector<T>& list, const std::string& title) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& one) { return one.title == title; });
  return found != list.end() ? *found : list.emplace_back(T{.title = title});
}

// The values of the settings of one series in all blocks of that title: one value, or one per
// dataset if they differ.
std::vector<std::string> settings_of(const Arrangement& arrangement, std::size_t series,
                                     const std::string& block_title) {
  std::vector<std::string> settings;
  for (const std::string& name : arrangement.settings) {
    std::vector<std::string> values;
    for (const Block& block : arrangement.blocks) {
      if (block.short_title != block_title) continue;
      for (const Row& row : block.rows) {
        if (row.series == series) values.push_back(setting_value(row.cell->swept, name));
      }
    }
    const bool same =
        std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
    settings.push_back(same ? values.front() : fmt::format("{}", fmt::join(values, " / ")));
  }
  return settings;
}

// Tables in the paper's layout. fill(row, measure, cell_of) is called for each row of each block;
// cell_of(title) gives its cell in the table's row of that title.
template <typename Fill>
std::vector<Table> laid_out(const Arrangement& arrangement, Fill fill) {
  const bool one_dataset = arrangement.datasets.size() == 1;
  std::vector<Table> tables;
  for (const Measure& measure : arrangement.measures) {
    if (arrangement.blocks.empty()) break;
    if (tables.empty() || !one_dataset) {
      tables.push_back({.title = one_dataset ? "" : measure.title()});
      tables.back().settings = arrangement.settings;
    }
    Table& table = tables.back();
    const std::size_t column = table.columns.size();
    if (one_dataset)
      table.columns.push_back(measure.column());
    else
      table.columns = arrangement.datasets;
    for (const Block& block : arrangement.blocks) {
      TableSection& section = titled(table.sections, block.short_title);
      for (const Row& row : block.rows) {
        fill(row, measure, [&](const std::string& title) -> Cell& {
          TableRow& line = titled(section.rows, title);
          if (line.cells.empty()) {
            line.settings = settings_of(arrangement, row.series, block.short_title);
          }
          line.cells.resize(table.columns.size());
          return line.cells[column + block.dataset];
        });
      }
    }
  }
  return tables;
}

}  // namespace

std::string Cell::marks() const {
  std::string out;
  for (const TTest& test : tests) out += mark(test);
  return out;
}

std::vector<const TableRow*> Table::rows() const {
  std::vector<const TableRow*> out;
  for (const TableSection& section : sections) {
    for (const TableRow& row : section.rows) out.push_back(&row);
  }
  return out;
}

Cell make_cell(const Moments& value, int digits, bool bold, std::vector<TTest> tests) {
  return {fixed(value.mean, digits), std::isfinite(value.mean) ? fixed(value.std, digits) : "",
          bold, std::move(tests)};
}

std::vector<Table> results_tables(const Arrangement& arrangement) {
  return laid_out(arrangement, [&](const Row& row, const Measure& measure, auto cell_of) {
    const auto& [moments, best, tests] = row.values[measure.index];
    cell_of(arrangement.label(row)) = make_cell(moments, measure.digits, best, tests);
  });
}

std::vector<Table> difference_tables(const Arrangement& arrangement) {
  std::size_t count = 0;
  auto tables = laid_out(arrangement, [&](const Row& row, const Measure& measure, auto cell_of) {
    const std::vector<TTest>& tests = row.values[measure.index].tests;
    for (std::size_t at = 0; at < tests.size(); ++at) {
      const TTest& test = tests[at];
      if (!is_tested(test)) continue;
      ++count;
      cell_of(arrangement.label(row) + " against " + arrangement.baselines[at]) = {
          .mean = fmt::format("{} ± {}", with_sign(test.difference, measure.digits + 1),
                              fixed(test.half_width, measure.digits + 1)),
          .std = p_value("p", test.p) + ", " + p_value("Holm", test.holm),
          .tests = {test}};
    }
  });
  if (count == 0) return {};
  for (Table& table : tables) {
    table.title += table.title.empty() ? "Differences" : ": differences";
    std::erase_if(table.sections, [](const TableSection& section) { return section.rows.empty(); });
  }
  tables.front().about = fmt::format(
      "Mean difference ± half of its 95 % confidence interval; {}: p, and p after Holm's "
      "correction "
      "over all {} tests.",
      arrangement.test_name, count);
  return tables;
}

}  // namespace plackett::report
