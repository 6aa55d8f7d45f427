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

std::string title_of(const ComparisonSpec& spec) {
  if (!spec.title.empty()) return spec.title;
  std::vector<std::string> names;
  for (const ComparedDataset& dataset : spec.datasets) names.push_back(dataset.name);
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

// Nothing if it has no finished run.
std::optional<CellSummary> summarise_cell(const StoredResults& stored, RunPlace place,
                                          bool with_times) {
  const ComparisonSpec& spec = stored.spec;
  const ComparedDataset& data = spec.datasets[place.dataset];
  SimulationSpec simulation =
      simulation_spec(spec, spec.methods[place.method], spec.click_models[place.click_model]);
  std::vector<RunRecord> records;
  std::vector<RunTiming> timings;
  for (place.run = 0; place.run < spec.common.runs; ++place.run) {
    const auto found = stored.runs.find(place);
    if (found == stored.runs.end()) continue;
    simulation.click_model = found->second.user;
    records.push_back(found->second.record);
    records.back().seconds = 0;
    records.back().evaluation_seconds = 0;
    const auto timing = stored.timings.find(place);
    if (timing != stored.timings.end()) timings.push_back(timing->second);
  }
  if (records.empty()) return std::nullopt;
  CellSummary cell = summarise(simulation, data.name, records);
  cell.as_in_paper = cell.as_in_paper && data.scaling == Scaling::kQueryMinMax &&
                     !data.keep_constant_features && !is_synthetic(data.path);
  if (with_times) add_times(timings, cell);
  return cell;
}

Comparison assemble(const StoredResults& stored, bool with_times) {
  const ComparisonSpec& spec = stored.spec;
  Comparison comparison;
  comparison.title = title_of(spec);
  comparison.version = stored.plackett;
  comparison.test = spec.test;
  for (std::size_t dataset = 0; dataset < spec.datasets.size(); ++dataset) {
    for (std::size_t click_model = 0; click_model < spec.click_models.size(); ++click_model) {
      for (std::size_t method = 0; method < spec.methods.size(); ++method) {
        auto cell = summarise_cell(stored, {dataset, 0, click_model, method}, with_times);
        if (cell) comparison.cells.push_back(std::move(*cell));
      }
    }
  }
  for (const auto& [place, timing] : stored.timings) {
    if (with_times) comparison.threads = std::max(comparison.threads, timing.threads);
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
  const auto method = find_method(spec.method);
  cell.baseline = spec.baseline.value_or(method && method.value()->baseline);
  cell.as_in_paper = canonical_settings(spec.method, spec.settings).empty() &&
                     spec.shown == SimulationSpec{}.shown &&
                     spec.ranker.hidden == RankerSpec{}.hidden &&
                     spec.ranker.activation == RankerSpec{}.activation &&
                     spec.no_relevant == SimulationSpec{}.no_relevant;
  cell.method = spec.method;
  cell.ranker = name_of(spec.ranker.kind);
  cell.click_model = spec.click_model;
  cell.dataset = dataset_name;
  cell.protocol = name_of(spec.protocol);
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
  for (const RunRecord& record : records) {
    cell.finals.push_back({record.run, record.curve.back().offline, record.curve.back().online});
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
  const ComparisonSpec& spec = stored.spec;
  const std::size_t cells = spec.click_models.size() * spec.methods.size();
  Compared result{.comparison = assemble_with_times(stored), .runs = {}};
  result.runs.resize(spec.datasets.size() * cells);
  for (const auto& [place, run] : stored.runs) {
    const std::size_t cell = place.click_model * spec.methods.size() + place.method;
    result.runs[place.dataset * cells + cell].push_back(run.record);
  }
  return result;
}

}  // namespace plackett
