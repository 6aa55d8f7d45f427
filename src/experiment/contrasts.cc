#include "experiment/contrasts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluation/holm.h"
#include "evaluation/t_test.h"

namespace plackett {
namespace {

TTest recorded(const TTestResult& result) {
  return {result.t, result.degrees, result.p, result.difference, result.half_width};
}

constexpr std::string_view kOffline = "offline";
constexpr std::string_view kOnline = "online";

// What tests need of one measure of a cell.
struct Sample {
  std::string_view measure;  // kOffline, kOnline or a metric's name
  Moments moments = {};
  std::vector<double> finals = {};  // as CellSummary::finals
};

// All measures of the cell, whose names it must outlive.
std::vector<Sample> samples_of(const CellSummary& cell) {
  std::vector<Sample> samples{{kOffline, cell.offline}, {kOnline, cell.online}};
  for (const MetricSummary& metric : cell.metrics) samples.push_back({metric.name, metric.final});
  for (const RunFinal& final : cell.finals) {
    samples[0].finals.push_back(final.offline);
    samples[1].finals.push_back(final.online);
    for (std::size_t at = 0; at < cell.metrics.size(); ++at) {
      samples[2 + at].finals.push_back(final.metrics[at]);
    }
  }
  return samples;
}

const Sample* find(const std::vector<Sample>& samples, std::string_view measure) {
  const auto found = std::find_if(samples.begin(), samples.end(),
                                  [&](const Sample& one) { return one.measure == measure; });
  return found == samples.end() ? nullptr : &*found;
}

// A cell and its samples.
struct Sampled {
  explicit Sampled(const CellSummary& of) : cell(of), samples(samples_of(of)) {}
  const CellSummary& cell;
  std::vector<Sample> samples;
};

// Of the runs that both have.
std::vector<double> differences(const Sampled& one, const Sample& mine, const Sampled& other,
                                const Sample& its) {
  std::vector<double> result;
  const std::vector<RunFinal>& beside = other.cell.finals;
  std::size_t to = 0;
  for (std::size_t at = 0; at < one.cell.finals.size(); ++at) {
    const std::uint32_t run = one.cell.finals[at].run;
    while (to < beside.size() && beside[to].run < run) ++to;
    if (to == beside.size()) break;
    if (beside[to].run == run) result.push_back(mine.finals[at] - its.finals[to]);
  }
  return result;
}

Contrast contrast_of(const std::vector<CellSummary>& cells, std::size_t cell, std::size_t other) {
  const Sampled one(cells[cell]);
  const Sampled two(cells[other]);
  Contrast contrast{.cell = cell, .baseline = other};
  for (const Sample& mine : one.samples) {
    const Sample* const its = find(two.samples, mine.measure);
    if (its == nullptr) continue;
    const SampleSummary first{mine.moments.mean, mine.moments.std, one.cell.runs};
    const SampleSummary second{its->moments.mean, its->moments.std, two.cell.runs};
    const MeasureTests tests{recorded(paired_t_test(differences(one, mine, two, *its))),
                             recorded(welch_t_test(first, second)),
                             recorded(student_t_test(first, second))};
    if (mine.measure == kOffline) {
      contrast.offline = tests;
    } else if (mine.measure == kOnline) {
      contrast.online = tests;
    } else {
      contrast.metrics.push_back({std::string(mine.measure), tests});
    }
  }
  return contrast;
}

bool comparable(const CellSummary& one, const CellSummary& other) {
  return one.dataset == other.dataset && one.protocol == other.protocol &&
         one.click_model == other.click_model && one.seed == other.seed &&
         one.impressions == other.impressions && one.split == other.split &&
         one.surroundings == other.surroundings;
}

void add_holm(Comparison& comparison, TTest MeasureTests::*kind) {
  std::vector<TTest*> family;
  for (Contrast& contrast : comparison.contrasts) {
    if (comparison.cells[contrast.cell].baseline) continue;
    family.push_back(&(contrast.offline.*kind));
    family.push_back(&(contrast.online.*kind));
    for (MetricTests& metric : contrast.metrics) family.push_back(&(metric.tests.*kind));
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
  std::vector<std::vector<Sample>> samples;
  std::vector<std::string_view> measures;
  for (const std::size_t cell : block) {
    for (const Sample& sample : samples.emplace_back(samples_of(cells[cell]))) {
      if (std::find(measures.begin(), measures.end(), sample.measure) != measures.end()) continue;
      measures.push_back(sample.measure);
    }
  }
  for (const std::string_view measure : measures) {
    std::vector<std::pair<double, std::size_t>> order;  // mean and cell
    for (std::size_t at = 0; at < block.size(); ++at) {
      const Sample* const found = find(samples[at], measure);
      if (found == nullptr || !std::isfinite(found->moments.mean)) continue;
      order.emplace_back(found->moments.mean, block[at]);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    if (order.size() < 2) continue;
    const std::size_t best = order[0].second;
    const std::size_t second = order[1].second;
    if (cells[best].baseline || cells[second].baseline) continue;
    const auto there = [&](const Contrast& leader) {
      return leader.cell == best && leader.baseline == second;
    };
    auto& leaders = comparison.leaders;
    if (std::any_of(leaders.begin(), leaders.end(), there)) continue;
    leaders.push_back(contrast_of(cells, best, second));
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
