#include "report/scorecard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace plackett::report {
namespace {

Score score(const CellSummary& cell, const Measure& measure, const Moments& paper) {
  Score made{cell.*measure.final, paper, std::nan(""), false};
  if (cell.runs < 2) made.here.std = std::nan("");
  const double error =
      std::sqrt(made.here.std * made.here.std / cell.runs + paper.std * paper.std / kPublishedRuns);
  if (!(error > 0) || std::isinf(error)) return made;
  made.errors = (made.here.mean - paper.mean) / error;
  made.coarse = 0.5 * std::pow(10, -measure.digits) > error;
  return made;
}

}  // namespace

Scorecard make_scorecard(const Comparison& comparison) {
  Scorecard card;
  std::vector<std::string> protocols;
  for (const CellSummary& cell : comparison.cells) {
    if (published(cell, kOffline) == nullptr || cell.runs == 0) continue;
    ScoreLine& line = card.lines.emplace_back(ScoreLine{&cell, {}, {}});
    line.setting = fmt::format("{} · {} · {}", cell.dataset, click_model_label(cell.click_model),
                               cell.protocol);
    for (const Measure& measure : kMeasures) {
      const Score& made = line.scores[measure.index] =
          score(cell, measure, *published(cell, measure));
      card.coarse = card.coarse || made.coarse;
      if (!std::isfinite(made.errors)) continue;
      const double distance = std::fabs(made.errors);
      ++card.numbers;
      card.within_two += distance <= 2 ? 1 : 0;
      card.within_three += distance <= 3 ? 1 : 0;
      card.largest = std::max(card.largest, distance);
    }
    if (std::find(protocols.begin(), protocols.end(), cell.protocol) == protocols.end()) {
      protocols.push_back(cell.protocol);
    }
  }
  card.protocols = fmt::format("{}", fmt::join(protocols, ", "));
  return card;
}

Table scorecard_table(const Scorecard& card) {
  Table table{.columns = {{"runs"}}};
  for (const Measure& measure : kMeasures) {
    table.columns.insert(table.columns.end(), {{measure.name}, {"paper", true}, {"errors", true}});
  }
  for (const ScoreLine& line : card.lines) {
    if (table.sections.empty() || table.sections.back().title != line.setting) {
      table.sections.push_back({line.setting, {}});
    }
    TableRow& row = table.sections.back().rows.emplace_back(TableRow{row_label(*line.cell), {}});
    row.cells.emplace_back(Cell{std::to_string(line.cell->runs)});
    for (const Measure& measure : kMeasures) {
      const Score& score = line.scores[measure.index];
      const std::string errors = fixed(score.errors, 1);
      row.cells.emplace_back(make_cell(score.here, measure.digits));
      row.cells.emplace_back(make_cell(score.paper, measure.digits));
      Cell& cell = row.cells.emplace_back(Cell{errors}).value();
      if (score.errors > 0 && errors != "0.0") cell.mean = "+" + errors;
      cell.bold = std::fabs(score.errors) > 2;
      cell.sign = score.coarse ? "†" : "";
    }
  }
  return table;
}

std::string agreement(const Scorecard& card) {
  if (card.numbers == 0) return "A single run has no standard error to judge by.";
  return fmt::format(
      "{} of {} numbers within 2 standard errors of the paper's, {} within 3; the farthest is {} "
      "away.",
      card.within_two, card.numbers, card.within_three, fixed(card.largest, 1));
}

std::string protocol_remark(const Scorecard& card) {
  if (card.protocols == "published") {
    return "Run under the published protocol, which is how the paper's numbers were made.";
  }
  if (card.protocols == "described") {
    return "Run under the described protocol, the paper's text; its numbers were made under the "
           "published one, so differences are expected.";
  }
  return fmt::format(
      "Run under these protocols: {}. The paper's numbers were made under the published one.",
      card.protocols);
}

}  // namespace plackett::report
