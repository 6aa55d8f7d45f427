// Tables for GitHub's Markdown.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/numbers.h"
#include "report/table.h"
#include "report/table_notes.h"
#include "report/table_plan.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::markdown_cell;
using report::Row;

std::string cell(const Row* row, const report::Measure& measure,
                 const report::Significance& significance) {
  if (row == nullptr) return "";
  const Moments value = report::shown(*row->cell, measure);
  std::string mean = report::fixed(value.mean, measure.digits);
  if (!std::isfinite(value.mean)) return mean;
  std::string out = fmt::format("{0}{1}{0} ({2})", row->best(measure) ? "**" : "", mean,
                                report::fixed(value.std, measure.digits));
  const std::string marks = report::marks(significance.of(*row->cell, measure));
  return marks.empty() ? out : out + " " + marks;
}

}  // namespace

std::string markdown_table(const Comparison& comparison, SignificanceTest test) {
  const report::Arrangement arrangement = report::arrange(comparison);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  const report::Significance significance(comparison, test);

  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) fmt::format_to(put, "# {}\n\n", markdown_cell(comparison.title));
  fmt::format_to(put, "{}. Mean (standard deviation) over runs; bold: best {}.\n",
                 markdown_cell(report::facts_line(comparison)), report::best_of_what(arrangement));
  if (!significance.baselines().empty()) {
    fmt::format_to(put,
                   "\n▲ better and ▼ worse (p < 0.01), △ and ▽ (p < 0.05), · neither: {}, "
                   "two-tailed, against {}.\n",
                   significance.test_name(), markdown_cell(report::baseline_list(significance)));
  }
  for (const report::TablePlan& plan : report::plan_tables(arrangement)) {
    const bool several = !plan.title.empty();
    if (several) fmt::format_to(put, "\n## {}\n", plan.title);
    for (const report::TableSection& section : plan.sections) {
      fmt::format_to(put, "\n{} {}\n\n| method |", several ? "###" : "##",
                     markdown_cell(section.title));
      for (const auto& column : plan.columns) {
        fmt::format_to(put, " {} |", markdown_cell(column.title));
      }
      out += "\n|:--|";
      for (std::size_t at = 0; at < plan.columns.size(); ++at) out += ":--|";
      out += '\n';
      for (const report::TableLine& line : section.lines) {
        fmt::format_to(put, "| {} |", markdown_cell(arrangement.series[line.series].label));
        for (std::size_t at = 0; at < plan.columns.size(); ++at) {
          fmt::format_to(put, " {} |",
                         cell(line.cells[at], *plan.columns[at].measure, significance));
        }
        out += '\n';
      }
    }
  }
  return out;
}

}  // namespace plackett
