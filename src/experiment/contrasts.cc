#include "experiment/contrasts.h"

#include "evaluation/t_test.h"

namespace plackett {
namespace {

TTest recorded(const TTestResult& result) { return {result.t, result.degrees, result.p}; }

MeasureTests test(const CellSummary& cell, const CellSummary& baseline,
                  Moments CellSummary::*measure) {
  const SampleSummary one{(cell.*measure).mean, (cell.*measure).std, cell.runs};
  const SampleSummary other{(baseline.*measure).mean, (baseline.*measure).std, baseline.runs};
  return {recorded(student_t_test(one, other)), recorded(welch_t_test(one, other))};
}

bool comparable(const CellSummary& one, const CellSummary& other) {
  return one.dataset == other.dataset && one.protocol == other.protocol &&
         one.click_model == other.click_model;
}

}  // namespace

void add_contrasts(Comparison& comparison) {
  comparison.contrasts.clear();
  const auto& cells = comparison.cells;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::size_t baseline = 0; baseline < cells.size(); ++baseline) {
      if (baseline == cell || !cells[baseline].baseline) continue;
      if (!comparable(cells[cell], cells[baseline])) continue;
      comparison.contrasts.push_back({cell, baseline,
                                      test(cells[cell], cells[baseline], &CellSummary::offline),
                                      test(cells[cell], cells[baseline], &CellSummary::online)});
    }
  }
}

}  // namespace plackett
