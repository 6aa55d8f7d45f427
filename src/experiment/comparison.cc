// From finished runs to what reports show.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "dataset/known_grades.h"
#include "experiment/contrasts.h"
#include "experiment/spec_parts.h"
#include "plackett/results.h"

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

Comparison assemble(const StoredResults& stored) { return assemble(stored, false); }

Comparison assemble_with_times(const StoredResults& stored) { return assemble(stored, true); }

}  // namespace plackett
