// Tables, tests and the scorecard for programs.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "report/scorecard.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett::report {
namespace {

std::string field(const std::string& text) { return csv_field(text); }
std::string field(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string field(std::uint64_t count) { return fmt::format("{}", count); }
std::string field(const TTest& test) {
  return fmt::format("{},{},{}", field(test.t), field(test.degrees), field(test.p));
}
std::string field(const Moments& moments) {
  return fmt::format("{},{}", field(moments.mean), field(moments.std));
}

// A line that starts with the cell's place: "MQ2007,described,perfect,PDGD (linear),...".
template <typename... Fields>
std::string line(const CellSummary& cell, const Fields&... more) {
  const std::vector<std::string> fields{field(cell.dataset), field(cell.protocol),
                                        field(cell.click_model), field(row_label(cell)),
                                        field(more)...};
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

std::string csv_table(const Comparison& comparison) {
  std::string out =
      "dataset,protocol,click_model,label,method,ranker,baseline,runs,impressions,seed,"
      "offline_mean,offline_std,online_mean,online_std\n";
  for (const CellSummary& cell : comparison.cells) {
    out += line(cell, cell.method, cell.ranker, std::uint64_t{cell.baseline},
                std::uint64_t{cell.runs}, cell.impressions, cell.seed, cell.offline, cell.online);
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
    for (const Measure& measure : kMeasures) {
      const auto& [student, welch] = contrast.*measure.tests;
      out += line(cell, row_label(baseline), std::string(measure.name),
                  (cell.*measure.final).mean - (baseline.*measure.final).mean, student, welch);
    }
  }
  return out;
}

std::string csv_scorecard(const Comparison& comparison) {
  const Scorecard card = make_scorecard(comparison);
  if (card.lines.empty()) return "";
  std::string out =
      "dataset,protocol,click_model,label,measure,runs,mean,std,paper_mean,paper_std,"
      "standard_errors\n";
  for (const auto& [cell, setting, scores] : card.lines) {
    for (const Measure& measure : kMeasures) {
      const Score& score = scores[measure.index];
      out += line(*cell, std::string(measure.name), std::uint64_t{cell->runs}, cell->*measure.final,
                  score.paper, score.errors);
    }
  }
  return out;
}

}  // namespace plackett::report
