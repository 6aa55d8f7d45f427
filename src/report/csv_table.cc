// Tables for programs.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/arrangement.h"
#include "report/table.h"
#include "report/text.h"

namespace plackett {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string numbers(const TTest& test) {
  return fmt::format("{},{},{}", number(test.t), number(test.degrees), number(test.p));
}

}  // namespace

std::string csv_table(const Comparison& comparison) {
  std::string out =
      "dataset,protocol,click_model,label,method,ranker,baseline,runs,impressions,seed,"
      "offline_mean,offline_std,online_mean,online_std\n";
  for (const CellSummary& cell : comparison.cells) {
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   report::csv_field(cell.dataset), report::csv_field(cell.protocol),
                   report::csv_field(cell.click_model), report::csv_field(report::row_label(cell)),
                   report::csv_field(cell.method), report::csv_field(cell.ranker),
                   cell.baseline ? 1 : 0, cell.runs, cell.impressions, cell.seed,
                   number(cell.offline.mean), number(cell.offline.std), number(cell.online.mean),
                   number(cell.online.std));
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
    for (const report::Measure* measure : report::kMeasures) {
      const MeasureTests& tests = contrast.*measure->tests;
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n",
                     report::csv_field(cell.dataset), report::csv_field(cell.protocol),
                     report::csv_field(cell.click_model),
                     report::csv_field(report::row_label(cell)),
                     report::csv_field(report::row_label(baseline)), measure->name,
                     number((cell.*measure->final).mean - (baseline.*measure->final).mean),
                     numbers(tests.student), numbers(tests.welch));
    }
  }
  return out;
}

}  // namespace plackett
