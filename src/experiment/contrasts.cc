#include "experiment/contrasts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <vector>

#include "evaluation/holm.h"
#include "evaluation/t_test.h"

namespace plackett {
namespace {

TTest recorded(const TTestResult& result) {
  return {result.t, result.degrees, result.p, result.difference, result.half_width};
}

// What the tests of a measure need to know about it.
struct Measure {
  Moments CellSummary::*moments;
  double RunFinal::*final;
  MeasureTests Contrast::*tests;
};
constexpr Measure kMeasures[]{{&CellSummary::offline, &RunFinal::offline, &Contrast::offline},
                              {&CellSummary::online, &RunFinal::online, &Contrast::online}};

// Of the runs that both have.
std::vector<double> differences(const CellSummary& one, const CellSummary& other,
                                double RunFinal::*measure) {
  std::vector<double> result;
  auto beside = other.finals.begin();
  for (const RunFinal& final : one.finals) {
    while (beside != other.finals.end() && beside->run < final.run) ++beside;
    if (beside == other.finals.end()) break;
    if (beside->run == final.run) result.push_back(final.*measure - (*beside).*measure);
  }
  return result;
}

Contrast contrast_of(const std::vector<CellSummary>& cells, std::size_t cell, std::size_t other) {
  Contrast contrast{.cell = cell, .baseline = other};
  for (const auto& [moments, final, tests] : kMeasures) {
    const auto sample = [moments = moments](const CellSummary& of) {
      return SampleSummary{(of.*moments).mean, (of.*moments).std, of.runs};
    };
    contrast.*tests = {recorded(paired_t_test(differences(cells[cell], cells[other], final))),
                       recorded(welch_t_test(sample(cells[cell]), sample(cells[other]))),
                       recorded(student_t_test(sample(cells[cell]), sample(cells[other])))};
  }
  return contrast;
}

bool comparable(const CellSummary& one, const CellSummary& other) {
  return one.dataset == other.dataset && one.protocol == other.protocol &&
         one.click_model == other.click_model && one.seed == other.seed &&
         one.impressions == other.impressions && one.surroundings == other.surroundings;
}

void add_holm(Comparison& comparison, TTest MeasureTests::*kind) {
  std::vector<TTest*> family;
  for (Contrast& contrast : comparison.contrasts) {
    if (comparison.cells[contrast.cell].baseline) continue;
    for (const Measure& measure : kMeasures) {
      family.push_back(&((contrast.*measure.tests).*kind));
    }
  }
  std::vector<double> p(family.size());
  std::transform(family.begin(), family.end(), p.begin(),
                 [](const TTest* test) { return test->p; });
  const std::vector<double> corrected = holm(p);
  for (std::size_t at = 0; at < family.size(); ++at) family[at]->holm = corrected[at];
}

// Adds the best of these cells against the second best, unless a baseline is among them.
void add_leaders(const std::vector<std::size_t>& block, Comparison& comparison) {
  const std::vector<CellSummary>& cells = comparison.cells;
  for (const Measure& measure : kMeasures) {
    const auto mean = [&](std::size_t cell) { return (cells[cell].*measure.moments).mean; };
    std::vector<std::size_t> order;
    std::copy_if(block.begin(), block.end(), std::back_inserter(order),
                 [&](std::size_t cell) { return std::isfinite(mean(cell)); });
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return mean(one) > mean(other); });
    if (order.size() < 2 || cells[order[0]].baseline || cells[order[1]].baseline) continue;
    const auto there = [&](const Contrast& leader) {
      return leader.cell == order[0] && leader.baseline == order[1];
    };
    auto& leaders = comparison.leaders;
    if (std::any_of(leaders.begin(), leaders.end(), there)) continue;
    leaders.push_back(contrast_of(cells, order[0], order[1]));
  }
}

}  // namespace

void add_contrasts(Comparison& comparison) {
  comparison.contrasts.clear();
  comparison.leaders.clear();
  const auto& cells = comparison.cells;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    std::vector<std::size_t> block;
    for (std::size_t other = 0; other < cells.size(); ++other) {
      if (!comparable(cells[cell], cells[other])) continue;
      block.push_back(other);
      if (other == cell || !cells[other].baseline) continue;
      comparison.contrasts.push_back(contrast_of(cells, cell, other));
    }
    if (block.front() == cell) add_leaders(block, comparison);
  }
  for (const auto kind : {&MeasureTests::paired, &MeasureTests::welch, &MeasureTests::student}) {
    add_holm(comparison, kind);
  }
}

}  // namespace plackett
