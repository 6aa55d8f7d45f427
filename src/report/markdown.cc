// Tables and the scorecard for GitHub's Markdown.
#include <fmt/format.h>

#include <iterator>

#include "report/cikm2018.h"
#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::markdown_cell;

std::string cell_text(const std::optional<report::Cell>& cell) {
  if (!cell) return "";
  std::string out = fmt::format("{0}{1}{0}{2}", cell->bold ? "**" : "", cell->mean, cell->sign);
  if (!cell->std.empty()) out += " (" + cell->std + ")";
  if (!cell->against.empty()) out += ' ';
  for (const report::Against& one : cell->against) out += report::mark(one.verdict);
  return out;
}

// `align` is the rule below each column's title.
void append_table(std::string& out, const report::Table& table, const char* align) {
  const auto put = std::back_inserter(out);
  if (!table.title.empty()) fmt::format_to(put, "\n## {}\n", table.title);
  for (const report::TableSection& section : table.sections) {
    std::string rule = "|:--|";
    fmt::format_to(put, "\n{} {}\n\n| method |", table.title.empty() ? "##" : "###",
                   markdown_cell(section.title));
    for (const report::TableColumn& column : table.columns) {
      fmt::format_to(put, " {} |", markdown_cell(column.title));
      rule += align;
    }
    fmt::format_to(put, "\n{}\n", rule);
    for (const report::TableRow& row : section.rows) {
      fmt::format_to(put, "| {} |", markdown_cell(row.name));
      for (const auto& cell : row.cells) fmt::format_to(put, " {} |", cell_text(cell));
      out += '\n';
    }
  }
}

}  // namespace

std::string markdown_table(const Comparison& comparison, SignificanceTest test) {
  const report::Arrangement arrangement(comparison, test);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) fmt::format_to(put, "# {}\n\n", markdown_cell(comparison.title));
  fmt::format_to(put, "{}. Mean (standard deviation) over runs; bold: best {}.\n",
                 markdown_cell(arrangement.facts.line), arrangement.best_of_what());
  if (!arrangement.baselines.empty()) {
    fmt::format_to(put,
                   "\n▲ better and ▼ worse (p < 0.01), △ and ▽ (p < 0.05), · neither: {}, "
                   "two-tailed, against {}.\n",
                   arrangement.test_name, markdown_cell(arrangement.baseline_list()));
  }
  for (const report::Table& table : results_tables(arrangement)) append_table(out, table, ":--|");
  return out;
}

std::string markdown_scorecard(const Comparison& comparison) {
  const report::Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  std::string out = fmt::format(
      "# Beside the paper\n\n"
      "Each cell, mean (standard deviation), beside the number in Oosterhuis and de Rijke, "
      "\"Differentiable Unbiased Online Learning to Rank\", CIKM 2018, after {} impressions. "
      "Errors: the difference of the two means in standard errors of it, "
      "√(s₁²/n₁ + s₂²/{}).\n\n**{}** {}\n",
      report::grouped(report::kPublishedImpressions), report::kPublishedRuns, agreement(card),
      markdown_cell(protocol_remark(card)));
  append_table(out, scorecard_table(card), "--:|");
  if (card.coarse) fmt::format_to(std::back_inserter(out), "\n{}.\n", report::kCoarse);
  return out;
}

}  // namespace plackett
