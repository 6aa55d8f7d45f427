#include "report/scorecard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace plackett::report {
namespace {

Score make_score(const CellSummary& cell, const Measure& measure, const Moments& paper) {
  Score made{&cell, &measure, measure.final(cell), paper, std::nan(""), false};
  if (cell.runs < 2) made.here.std = std::nan("");
  const double error =
      std::sqrt(made.here.std * made.here.std / cell.runs + paper.std * paper.std / kPublishedRuns);
  if (!(error > 0) || !std::isfinite(error + made.here.mean)) return made;
  made.errors = (made.here.mean - paper.mean) / error;
  made.coarse = 0.5 * std::pow(10, -measure.digits) > error;
  return made;
}

std::string agreement_of(const Scorecard& card) {
  double largest = 0;
  for (const Score& score : card.scores) largest = std::fmax(largest, std::fabs(score.errors));
  const std::size_t numbers = card.within(HUGE_VAL);
  if (numbers == 0) return "A single run has no standard error to judge by.";
  return fmt::format(
      "{} of {} numbers within 2 standard errors of the paper's, {} within 3; the farthest is {} "
      "away.",
      card.within(2), numbers, card.within(3), fixed(largest, 1));
}

}  // namespace

std::size_t Scorecard::within(double errors) const {
  return static_cast<std::size_t>(
      std::count_if(scores.begin(), scores.end(),
                    [&](const Score& score) { return std::fabs(score.errors) <= errors; }));
}

Scorecard make_scorecard(const Comparison& comparison) {
  Scorecard card;
  card.remark = "Run under the published protocol, which is how the paper's numbers were made.";
  for (const CellSummary& cell : comparison.cells) {
    if (published(cell, kOffline) == nullptr || cell.runs == 0) continue;
    for (const Measure& measure : kPaperMeasures) {
      const Score& score =
          card.scores.emplace_back(make_score(cell, measure, *published(cell, measure)));
      if (!score.coarse) continue;
      card.note =
          "† the rounding of the paper's mean alone may be worth more than one standard error";
    }
    if (cell.protocol == "published") continue;
    card.remark = fmt::format(
        "The paper's numbers were made under the published protocol; differences are expected "
        "under the {} one.",
        cell.protocol);
  }
  card.agreement = agreement_of(card);
  return card;
}

std::string setting_of(const CellSummary& cell) {
  std::string setting =
      fmt::format("{} · {} · {}", cell.dataset, click_model_label(cell.click_model), cell.protocol);
  for (const auto& [name, value] : cell.surroundings) {
    if (name != "protocol") setting += fmt::format(" · {} {}", name, value);
  }
  return setting;
}

Table scorecard_table(const Scorecard& card) {
  Table table{.columns = {"runs"}, .group = 3};
  for (const Measure& measure : kPaperMeasures) {
    table.columns.insert(table.columns.end(), {std::string(measure.name), "paper", "errors"});
  }
  for (const Score& score : card.scores) {
    const std::string setting = setting_of(*score.cell);
    if (table.sections.empty() || table.sections.back().title != setting) {
      table.sections.push_back({setting, {}});
    }
    std::vector<TableRow>& rows = table.sections.back().rows;
    if (score.measure == &kOffline) {
      rows.push_back({row_label(*score.cell), {Cell{std::to_string(score.cell->runs)}}});
    }
    for (const Moments& value : {score.here, score.paper}) {
      rows.back().cells.push_back(make_cell(value, score.measure->digits));
    }
    rows.back().cells.push_back(Cell{.mean = with_sign(score.errors, 1),
                                     .bold = std::fabs(score.errors) > 2,
                                     .sign = score.coarse ? "†" : ""});
  }
  return table;
}

}  // namespace plackett::report
