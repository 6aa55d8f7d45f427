#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

// The element with this title, added if there is none.
template <typename T>
T& titled(std::vector<T>& list, const std::string& title) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& one) { return one.title == title; });
  return found != list.end() ? *found : list.emplace_back(T{title, {}});
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
  const bool one_dataset = arrangement.datasets.size() == 1;
  std::vector<Table> tables;
  for (const Measure& measure : kMeasures) {
    if (arrangement.blocks.empty()) break;
    if (tables.empty() || !one_dataset) tables.push_back({one_dataset ? "" : measure.title});
    Table& table = tables.back();
    const std::size_t column = table.columns.size();
    if (one_dataset)
      table.columns.push_back(fmt::format("{} NDCG@10", measure.name));
    else
      table.columns = arrangement.datasets;
    for (const Block& block : arrangement.blocks) {
      TableSection& section = titled(table.sections, block.short_title);
      for (const Row& row : block.rows) {
        TableRow& line = titled(section.rows, arrangement.label(row));
        line.cells.resize(table.columns.size());
        const auto& [moments, best, tests] = row.values[measure.index];
        line.cells[column + block.dataset] = make_cell(moments, measure.digits, best, tests);
      }
    }
  }
  return tables;
}

}  // namespace plackett::report
