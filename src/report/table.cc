#include "report/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/numbers.h"

namespace plackett::report {
namespace {

Cell cell_of(const Row& row, const Measure& measure) {
  const Value& value = row.values[measure];
  Cell cell = make_cell(value.moments, measure.digits);
  cell.bold = value.best;
  cell.against = value.against;
  return cell;
}

// The element with this name, added with `cells` empty cells if there is none.
TableRow& row_named(std::vector<TableRow>& rows, const std::string& name, std::size_t cells) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const TableRow& one) { return one.name == name; });
  if (found != rows.end()) return *found;
  return rows.emplace_back(TableRow{name, std::vector<std::optional<Cell>>(cells)});
}

TableSection& section_named(Table& table, const std::string& title) {
  const auto found = std::find_if(table.sections.begin(), table.sections.end(),
                                  [&](const TableSection& one) { return one.title == title; });
  return found != table.sections.end() ? *found
                                       : table.sections.emplace_back(TableSection{title, {}});
}

}  // namespace

Cell make_cell(const Moments& value, int digits) {
  return {fixed(value.mean, digits), std::isfinite(value.mean) ? fixed(value.std, digits) : ""};
}

std::vector<Table> results_tables(const Arrangement& arrangement) {
  if (arrangement.blocks.empty()) return {};
  const bool one_dataset = arrangement.datasets.size() == 1;
  std::vector<Table> tables(one_dataset ? 1 : kMeasures.size());
  for (std::size_t measure = 0; measure < kMeasures.size(); ++measure) {
    std::string title = kMeasures[measure].title;
    Table& table = tables[one_dataset ? 0 : measure];
    if (one_dataset) {
      title[0] = static_cast<char>(title[0] - 'A' + 'a');
      table.columns.push_back({std::move(title)});
    } else {
      table.title = std::move(title);
      for (const std::string& dataset : arrangement.datasets) table.columns.push_back({dataset});
    }
    for (const Block& block : arrangement.blocks) {
      TableSection& section = section_named(table, block.short_title);
      for (const Row& row : block.rows) {
        row_named(section.rows, arrangement.label(row),
                  one_dataset ? kMeasures.size() : arrangement.datasets.size())
            .cells[one_dataset ? measure : block.dataset] = cell_of(row, kMeasures[measure]);
      }
    }
  }
  return tables;
}

}  // namespace plackett::report
