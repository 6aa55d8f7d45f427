#include "report/table_plan.h"

#include <algorithm>

namespace plackett::report {
namespace {

std::string in_a_line(std::string title) {
  if (!title.empty()) title[0] = static_cast<char>(title[0] - 'A' + 'a');
  return title;
}

TablePlan both_measures(const Arrangement& arrangement) {
  TablePlan plan;
  for (const Measure* measure : kMeasures) {
    plan.columns.push_back({in_a_line(measure->title), measure});
  }
  for (const Block& block : arrangement.blocks) {
    TableSection& section = plan.sections.emplace_back();
    section.title = block.title;
    for (const Row& row : block.rows) section.lines.push_back({row.series, {&row, &row}});
  }
  return plan;
}

// The one called `title`, made where there is none.
TableSection& section_of(TablePlan& plan, const std::string& title) {
  const auto found = std::find_if(plan.sections.begin(), plan.sections.end(),
                                  [&](const TableSection& one) { return one.title == title; });
  if (found != plan.sections.end()) return *found;
  plan.sections.push_back({title, {}});
  return plan.sections.back();
}

TableLine& line_of(TableSection& section, std::size_t series, std::size_t columns) {
  const auto found = std::find_if(section.lines.begin(), section.lines.end(),
                                  [&](const TableLine& one) { return one.series == series; });
  if (found != section.lines.end()) return *found;
  section.lines.push_back({series, std::vector<const Row*>(columns, nullptr)});
  return section.lines.back();
}

TablePlan one_measure(const Arrangement& arrangement, const Measure& measure) {
  TablePlan plan;
  plan.title = measure.title;
  for (const std::string& dataset : arrangement.datasets) {
    plan.columns.push_back({dataset, &measure});
  }
  for (const Block& block : arrangement.blocks) {
    TableSection& section = section_of(plan, block.short_title);
    for (const Row& row : block.rows) {
      line_of(section, row.series, plan.columns.size()).cells[block.dataset] = &row;
    }
  }
  return plan;
}

}  // namespace

std::vector<TablePlan> plan_tables(const Arrangement& arrangement) {
  if (arrangement.blocks.empty()) return {};
  if (arrangement.datasets.size() == 1) return {both_measures(arrangement)};
  return {one_measure(arrangement, kOffline), one_measure(arrangement, kOnline)};
}

}  // namespace plackett::report
