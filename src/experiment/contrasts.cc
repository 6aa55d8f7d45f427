#include "experiment/contrasts.h"

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
  for (Contrast& contrast : comparison.contrasts) {
    if (!comparison.cells[contrast.cell].baseline) against_baselines.add(contrast, 1);
  }
  against_baselines.correct();
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
    }
    if (block.front() == cell) add_leaders(block, comparison);
  }
  for (const auto kind : {&MeasureTests::paired, &MeasureTests::welch, &MeasureTests::student}) {
    add_holm(block_sizes, comparison, kind);
  }
}

}  // namespace plackett
