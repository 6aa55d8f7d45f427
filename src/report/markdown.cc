// Tables and the scorecard for GitHub's Markdown.
#include <fmt/format.h>

#include <iterator>

#include "report/numbers.h"
#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

std::string cell_text(const std::optional<Cell>& cell) {
  if (!cell) return "";
  std::string out = fmt::format("{0}{1}{0}{2}", cell->bold ? "**" : "", cell->mean, cell->sign);
  for (const std::string& part : {cell->deviation(), cell->marks()}) {
    if (!part.empty()) out += " " + part;
  }
  return out;
}

// `align` is the rule below each column's title.
void append_table(std::string& out, const Table& table, const char* align) {
  const auto put = std::back_inserter(out);
  if (!table.title.empty()) fmt::format_to(put, "\n## {}\n", table.title);
  for (const TableSection& section : table.sections) {
    std::string rule = "|:--|";
    fmt::format_to(put, "\n{} {}\n\n| method |", table.title.empty() ? "##" : "###",
                   markdown_cell(section.title));
    for (const TableColumn& column : table.columns) {
      fmt::format_to(put, " {} |", markdown_cell(column.title));
      rule += align;
    }
    fmt::format_to(put, "\n{}\n", rule);
    for (const TableRow& row : section.rows) {
      fmt::format_to(put, "| {} |", markdown_cell(row.title));
      for (const auto& cell : row.cells) fmt::format_to(put, " {} |", cell_text(cell));
      out += '\n';
    }
  }
}

}  // namespace

std::string markdown_table(const Comparison& comparison, SignificanceTest test) {
  const Arrangement arrangement(comparison, test);
  if (arrangement.blocks.empty()) return "No runs to show.\n";
  std::string out;
  const auto put = std::back_inserter(out);
  if (!comparison.title.empty()) fmt::format_to(put, "# {}\n\n", markdown_cell(comparison.title));
  fmt::format_to(put, "{}. Mean (standard deviation) over runs; bold: best {}.\n",
                 markdown_cell(arrangement.facts.line), arrangement.best_of_what());
  const std::string key = markdown_cell(replaced(arrangement.key(), "\u00A0", " "));
  if (!key.empty()) fmt::format_to(put, "\n{}.\n", replaced(key, "(p &lt;", "(p <"));
  for (const Table& table : results_tables(arrangement)) append_table(out, table, ":--|");
  return out;
}

std::string markdown_scorecard(const Comparison& comparison) {
  const Scorecard card = make_scorecard(comparison);
  if (card.lines.empty()) return "";
  std::string out = fmt::format(
      "# Beside the paper\n\n"
      "Each cell, mean (standard deviation), beside the number in Oosterhuis and de Rijke, "
      "\"Differentiable Unbiased Online Learning to Rank\", CIKM 2018, after {} impressions. "
      "Errors: the difference of the two means in standard errors of it, "
      "√(s₁²/n₁ + s₂²/{}).\n\n**{}** {}\n",
      grouped(kPublishedImpressions), kPublishedRuns, agreement(card),
      markdown_cell(protocol_remark(card)));
  append_table(out, scorecard_table(card), "--:|");
  if (card.coarse) fmt::format_to(std::back_inserter(out), "\n{}.\n", kCoarse);
  return out;
}

}  // namespace plackett::report
