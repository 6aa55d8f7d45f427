// From finished runs to what reports show.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "dataset/known_grades.h"
#include "experiment/contrasts.h"
#include "experiment/spec_parts.h"
#include "plackett/method.h"
#include "plackett/results.h"
#include "plackett/simulate.h"

namespace plackett {
namespace {

std::string title_of(const StoredResults& stored) {
  if (!stored.spec.title.empty()) return stored.spec.title;
  std::vector<std::string> names;
  for (const StoredCell& cell : stored.cells) {
    const std::string& name = cell.dataset.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return fmt::format("Learning to rank from clicks on {}", fmt::join(names, ", "));
}

void add_times(const std::vector<RunTiming>& timings, CellSummary& cell) {
  double thread_seconds = 0;
  double evaluation_seconds = 0;
  for (const RunTiming& timing : timings) {
    thread_seconds += timing.seconds;
    evaluation_seconds += timing.evaluation_seconds;
    cell.seconds += timing.seconds / timing.threads;
  }
  if (thread_seconds <= 0 || cell.seconds <= 0) return;
  cell.evaluation_share = evaluation_seconds / thread_seconds;
  cell.impressions_per_second =
      static_cast<double>(timings.size()) * static_cast<double>(cell.impressions) / cell.seconds;
}

// Requires: at least one finished run.
CellSummary summarise_cell(const StoredCell& stored, bool with_times) {
  SimulationSpec simulation = stored.simulation;
  std::vector<RunRecord> records;
  std::vector<RunTiming> timings;
  for (const auto& [number, run] : stored.runs) {
    simulation.click_model = run.user;
    records.push_back(run.record);
    records.back().seconds = 0;
    records.back().evaluation_seconds = 0;
    const auto timing = stored.timings.find(number);
    if (timing != stored.timings.end()) timings.push_back(timing->second);
  }
  const ComparedDataset& data = stored.dataset;
  CellSummary cell = summarise(simulation, data.name, records);
  cell.published_data = stored.runs.begin()->second.published;
  cell.family = stored.family;
  cell.swept = stored.swept;
  cell.surroundings = stored.surroundings;
  cell.as_in_paper = cell.as_in_paper && data.scaling == Scaling::kQueryMinMax &&
                     !data.keep_constant_features && !is_synthetic(data.path);
  if (with_times) add_times(timings, cell);
  return cell;
}

// The mean over runs; nothing if a run was not validated.
std::optional<double> mean_validation(const StoredCell& cell) {
  double sum = 0;
  for (const auto& [number, run] : cell.runs) {
    if (!std::isfinite(run.record.validation)) return std::nullopt;
    sum += run.record.validation;
  }
  if (cell.runs.empty()) return std::nullopt;
  return sum / static_cast<double>(cell.runs.size());
}

// Whether another cell of the same method, which differs in swept values alone, did better on the
// validation queries; of equal ones the first counts.
bool is_outdone(const StoredResults& stored, const StoredCell& cell) {
  const auto own = mean_validation(cell);
  if (!own || cell.swept.empty()) return false;
  bool before = true;
  for (const StoredCell& other : stored.cells) {
    if (&other == &cell) {
      before = false;
      continue;
    }
    if (other.family != cell.family || other.dataset.name != cell.dataset.name ||
        other.simulation.click_model != cell.simulation.click_model ||
        other.surroundings != cell.surroundings) {
      continue;
    }
    const auto value = mean_validation(other);
    if (value && (*value > *own || (before && *value == *own))) return true;
  }
  return false;
}

const MetricCurve* find_metric(const RunRecord& record, const std::string& name) {
  const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                  [&](const MetricCurve& metric) { return metric.name == name; });
  return found == record.metrics.end() ? nullptr : &*found;
}

// Unless some run lacks it.
void add_metric(const std::string& name, const std::vector<RunRecord>& records, CellSummary& cell) {
  MetricSummary made{.name = name};
  for (std::size_t point = 0; point < cell.curve.size(); ++point) {
    std::vector<double> values;
    for (const RunRecord& record : records) {
      const MetricCurve* const found = find_metric(record, name);
      if (found == nullptr) return;
      values.push_back(found->values[point]);
    }
    made.curve.push_back(moments(values));
  }
  made.final = made.curve.back();
  cell.metrics.push_back(std::move(made));
}

Comparison assemble(const StoredResults& stored, bool with_times) {
  Comparison comparison;
  comparison.title = title_of(stored);
  comparison.version = stored.plackett;
  comparison.test = stored.spec.test;
  for (const StoredCell& cell : stored.cells) {
    if (cell.runs.empty() || (stored.spec.select && is_outdone(stored, cell))) continue;
    comparison.cells.push_back(summarise_cell(cell, with_times));
    if (stored.spec.select && !cell.swept.empty()) {
      comparison.cells.back().label = cell.family;
      comparison.selected = true;
    }
    for (const auto& [number, timing] : cell.timings) {
      if (with_times) comparison.threads = std::max(comparison.threads, timing.threads);
    }
  }
  add_contrasts(comparison);
  return comparison;
}

}  // namespace

Moments moments(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Moments result;
  result.mean = sum / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) {
    squares += (value - result.mean) * (value - result.mean);
  }
  result.std = std::sqrt(squares / (count - 1));
  return result;
}

std::string label_of(const SimulationSpec& spec) {
  const auto method = find_method(spec.method);
  std::string label =
      fmt::format("{} ({}", method ? method.value()->title : std::string_view(spec.method),
                  name_of(spec.ranker.kind));
  for (const GivenSetting& setting : spec.settings) {
    label += fmt::format(", {} {}", setting.name, setting.value);
  }
  return label + ")";
}

CellSummary Simulation::summarise(const std::vector<RunRecord>& records) const {
  CellSummary cell = plackett::summarise(spec_, dataset_name_, records);
  cell.as_in_paper = false;  // that needs to know how the data was made
  return cell;
}

CellSummary summarise(const SimulationSpec& spec, const std::string& dataset_name,
                      const std::vector<RunRecord>& records) {
  CellSummary cell;
  cell.label = spec.label.empty() ? label_of(spec) : spec.label;
  cell.family = cell.label;
  const auto method = find_method(spec.method);
  cell.baseline = spec.baseline.value_or(method && method.value()->baseline);
  cell.as_in_paper =
      canonical_settings(spec.method, spec.settings).empty() &&
      spec.shown == SimulationSpec{}.shown && spec.ranker.hidden == RankerSpec{}.hidden &&
      spec.ranker.activation == RankerSpec{}.activation &&
      spec.learning_rate_decay == SimulationSpec{}.learning_rate_decay &&
      spec.no_relevant == SimulationSpec{}.no_relevant && spec.split == SimulationSpec{}.split;
  cell.method = spec.method;
  cell.ranker = name_of(spec.ranker.kind);
  cell.click_model = spec.click_model;
  cell.dataset = dataset_name;
  cell.protocol = name_of(spec.protocol);
  cell.split = name_of(spec.split);
  cell.runs = static_cast<std::uint32_t>(records.size());
  cell.impressions = spec.impressions;
  cell.seed = spec.seed;
  if (records.empty()) return cell;

  std::vector<double> offline(records.size());
  std::vector<double> online(records.size());
  for (std::size_t point = 0; point < records.front().curve.size(); ++point) {
    for (std::size_t run = 0; run < records.size(); ++run) {
      offline[run] = records[run].curve[point].offline;
      online[run] = records[run].curve[point].online;
    }
    cell.curve.push_back(
        {records.front().curve[point].impression, moments(offline), moments(online)});
  }
  cell.offline = cell.curve.back().offline;
  cell.online = cell.curve.back().online;
  for (const MetricCurve& metric : records.front().metrics) add_metric(metric.name, records, cell);
  for (const RunRecord& record : records) {
    RunFinal& final = cell.finals.emplace_back(
        RunFinal{record.run, record.curve.back().offline, record.curve.back().online, record.fold});
    final.validation = record.validation;
    for (const MetricSummary& metric : cell.metrics) {
      final.metrics.push_back(find_metric(record, metric.name)->values.back());
    }
  }
  std::sort(cell.finals.begin(), cell.finals.end(),
            [](const RunFinal& one, const RunFinal& other) { return one.run < other.run; });

  double evaluation_seconds = 0;
  for (const RunRecord& record : records) {
    cell.seconds += record.seconds;
    evaluation_seconds += record.evaluation_seconds;
  }
  if (cell.seconds > 0) cell.evaluation_share = evaluation_seconds / cell.seconds;
  return cell;
}

Comparison assemble(const StoredResults& stored) { return assemble(stored, false); }

Comparison assemble_with_times(const StoredResults& stored) { return assemble(stored, true); }

Compared compared(const StoredResults& stored) {
  Compared result{.comparison = assemble_with_times(stored), .runs = {}};
  for (const StoredCell& cell : stored.cells) {
    if (cell.runs.empty() || (stored.spec.select && is_outdone(stored, cell))) continue;
    auto& records = result.runs.emplace_back();
    for (const auto& [number, run] : cell.runs) records.push_back(run.record);
  }
  return result;
}

}  // namespace plackett
