// Tables, tests and the scorecard for programs.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett {
namespace {

using report::csv_field;
using report::Measure;

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string numbers(const TTest& test) {
  return fmt::format("{},{},{}", number(test.t), number(test.degrees), number(test.p));
}

// "MQ2007,described,perfect,PDGD (linear)".
std::string place(const CellSummary& cell) {
  return fmt::format("{},{},{},{}", csv_field(cell.dataset), csv_field(cell.protocol),
                     csv_field(cell.click_model), csv_field(report::row_label(cell)));
}

}  // namespace

std::string csv_table(const Comparison& comparison) {
  std::string out =
      "dataset,protocol,click_model,label,method,ranker,baseline,runs,impressions,seed,"
      "offline_mean,offline_std,online_mean,online_std\n";
  for (const CellSummary& cell : comparison.cells) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{:d},{},{},{}", place(cell),
                   csv_field(cell.method), csv_field(cell.ranker), cell.baseline, cell.runs,
                   cell.impressions, cell.seed);
    for (const Measure& measure : report::kMeasures) {
      const auto& [mean, std] = cell.*measure.final;
      out += ',' + number(mean) + ',' + number(std);
    }
    out += '\n';
  }
  return out;
}

std::string csv_tests(const Comparison& comparison) {
  std::string out =
      "dataset,protocol,click_model,label,baseline,measure,difference,"
      "student_t,student_df,student_p,welch_t,welch_df,welch_p\n";
  for (const Contrast& contrast : comparison.contrasts) {
    const CellSummary& cell = comparison.cells[contrast.cell];
    const CellSummary& baseline = comparison.cells[contrast.baseline];
    for (const Measure& measure : report::kMeasures) {
      const MeasureTests& tests = contrast.*measure.tests;
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{}\n", place(cell),
                     csv_field(report::row_label(baseline)), measure.name,
                     number((cell.*measure.final).mean - (baseline.*measure.final).mean),
                     numbers(tests.student), numbers(tests.welch));
    }
  }
  return out;
}

std::string csv_scorecard(const Comparison& comparison) {
  const report::Scorecard card = report::make_scorecard(comparison);
  if (card.lines.empty()) return "";
  std::string out =
      "dataset,protocol,click_model,label,measure,runs,mean,std,paper_mean,paper_std,"
      "standard_errors\n";
  for (const report::ScoreLine& line : card.lines) {
    for (const Measure& measure : report::kMeasures) {
      const report::Score& score = line.scores[measure];
      const auto& [mean, std] = line.cell->*measure.final;
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", place(*line.cell),
                     measure.name, line.cell->runs, number(mean), number(std),
                     number(score.paper.mean), number(score.paper.std), number(score.errors));
    }
  }
  return out;
}

}  // namespace plackett
