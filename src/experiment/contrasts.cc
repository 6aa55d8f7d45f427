#include "experiment/contrasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluation/holm.h"
#include "evaluation/t_test.h"
#include "plackett/simulation.h"

namespace plackett {
namespace {

TTest recorded(const TTestResult& result) {
  return {result.t, result.degrees, result.p, result.difference, result.half_width};
}

constexpr std::string_view kOffline = "offline";
constexpr std::string_view kOnline = "online";

// What tests need of one measure of a cell.
struct Sample {
  std::string measure;  // kOffline, kOnline, a metric's name, or as in Contrast::drift
  Moments moments = {};
  std::vector<double> finals = {};  // as CellSummary::finals
};

// All measures of the cell but those of drift.
std::vector<Sample> samples_of(const CellSummary& cell) {
  std::vector<Sample> samples{{std::string(kOffline), cell.offline},
                              {std::string(kOnline), cell.online}};
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

// None without drift.
std::vector<Sample> drift_samples_of(const CellSummary& cell) {
  if (!cell.drift) return {};
  std::vector<Sample> samples{{"regret"}, {"regret_since_drift"}, {"worst_window"}};
  const std::size_t first = samples.size();
  for (std::size_t at = 1; at <= cell.drift->drifts.size(); ++at) {
    samples.push_back({fmt::format("regained_after_{}", at)});
  }
  for (const RunFinal& final : cell.finals) {
    samples[0].finals.push_back(final.drift->regret);
    samples[1].finals.push_back(final.drift->regret_after);
    samples[2].finals.push_back(final.drift->worst_window);
    for (std::size_t at = first; at < samples.size(); ++at) {
      samples[at].finals.push_back(final.drift->regained[at - first].after);
    }
  }
  for (Sample& sample : samples) sample.moments = moments(sample.finals);
  return samples;
}

const Sample* find(const std::vector<Sample>& samples, std::string_view measure) {
  const auto found = std::find_if(samples.begin(), samples.end(),
                                  [&](const Sample& one) { return one.measure == measure; });
  return found == samples.end() ? nullptr : &*found;
}

// Of the runs that both have.
std::vector<double> differences(const std::vector<RunFinal>& runs, const Sample& mine,
                                const std::vector<RunFinal>& beside, const Sample& its) {
  std::vector<double> result;
  std::size_t to = 0;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    while (to < beside.size() && beside[to].run < runs[at].run) ++to;
    if (to == beside.size()) break;
    if (beside[to].run == runs[at].run) result.push_back(mine.finals[at] - its.finals[to]);
  }
  return result;
}

// Of the measures that `samples` gives of both cells.
std::vector<MetricTests> tests_of(const CellSummary& one, const CellSummary& other,
                                  std::vector<Sample> (*samples)(const CellSummary&)) {
  std::vector<MetricTests> all;
  const std::vector<Sample> beside = samples(other);
  for (const Sample& mine : samples(one)) {
    const Sample* const its = find(beside, mine.measure);
    if (its == nullptr) continue;
    const SampleSummary first{mine.moments.mean, mine.moments.std, one.runs};
    const SampleSummary second{its->moments.mean, its->moments.std, other.runs};
    const auto pairs = differences(one.finals, mine, other.finals, *its);
    all.push_back({mine.measure,
                   {recorded(paired_t_test(pairs)), recorded(welch_t_test(first, second)),
                    recorded(student_t_test(first, second))}});
  }
  return all;
}

Contrast contrast_of(const std::vector<CellSummary>& cells, std::size_t cell, std::size_t other) {
  Contrast contrast{.cell = cell, .baseline = other};
  for (MetricTests& measure : tests_of(cells[cell], cells[other], samples_of)) {
    if (measure.name == kOffline) {
      contrast.offline = measure.tests;
    } else if (measure.name == kOnline) {
      contrast.online = measure.tests;
    } else {
      contrast.metrics.push_back(std::move(measure));
    }
  }
  return contrast;
}

// The tests of one kind that are corrected together.
class HolmFamily {
 public:
  explicit HolmFamily(TTest MeasureTests::*kind) : kind_(kind) {}

  // Each p counts `times`.
  void add(Contrast& contrast, double times) {
    add(contrast.offline, times);
    add(contrast.online, times);
    for (MetricTests& metric : contrast.metrics) add(metric.tests, times);
  }

  void add(std::vector<MetricTests>& measures) {
    for (MetricTests& measure : measures) add(measure.tests, 1);
  }

  void correct() {
    const std::vector<double> corrected = holm(p_);
    for (std::size_t at = 0; at < tests_.size(); ++at) tests_[at]->holm = corrected[at];
  }

 private:
  void add(MeasureTests& tests, double times) {
    TTest& test = tests.*kind_;
    tests_.push_back(&test);
    p_.push_back(std::isnan(test.p) ? test.p : std::min(1.0, times * test.p));
  }

  TTest MeasureTests::*kind_;
  std::vector<TTest*> tests_;
  std::vector<double> p_;
};

void add_holm(const std::vector<std::size_t>& block_sizes, Comparison& comparison,
              TTest MeasureTests::*kind) {
  HolmFamily against_baselines(kind);
  HolmFamily of_drift(kind);
  for (Contrast& contrast : comparison.contrasts) {
    if (comparison.cells[contrast.cell].baseline) continue;
    against_baselines.add(contrast, 1);
    of_drift.add(contrast.drift);
  }
  against_baselines.correct();
  of_drift.correct();
  // A leader and its second were picked from all pairs of their block, after the fact.
  HolmFamily of_leaders(kind);
  for (Contrast& leader : comparison.leaders) {
    const auto size = static_cast<double>(block_sizes[leader.cell]);
    of_leaders.add(leader, size * (size - 1) / 2);
  }
  of_leaders.correct();
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
  std::map<decltype(block_of(cells.front())), std::vector<std::size_t>> blocks;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    blocks[block_of(cells[cell])].push_back(cell);
  }
  std::vector<std::size_t> block_sizes;  // by cell
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::vector<std::size_t>& block = blocks.at(block_of(cells[cell]));
    block_sizes.push_back(block.size());
    for (const std::size_t other : block) {
      if (other == cell || !cells[other].baseline) continue;
      comparison.contrasts.push_back(contrast_of(cells, cell, other));
      comparison.contrasts.back().drift = tests_of(cells[cell], cells[other], drift_samples_of);
    }
    if (block.front() == cell) add_leaders(block, comparison);
  }
  for (const auto kind : {&MeasureTests::paired, &MeasureTests::welch, &MeasureTests::student}) {
    add_holm(block_sizes, comparison, kind);
  }
}

}  // namespace plackett
