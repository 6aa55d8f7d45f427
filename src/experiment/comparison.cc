#include "experiment/comparison.h"
#include "experiment/spec_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiment/contrasts.h"

namespace plackett {
namespace {

struct Cell {
  std::size_t dataset = 0;
  std::size_t click_model = 0;
  std::size_t method = 0;
};

std::string title_of(const ComparisonSpec& spec) {
  if (!spec.title.empty()) return spec.title;
  std::vector<std::string> names;
  for (const ComparedDataset& dataset : spec.datasets) names.push_back(dataset.name);
  return fmt::format("Learning to rank from clicks on {}", fmt::join(names, ", "));
}

void add_times(const StoredResults& stored, const Cell& at, CellSummary& cell) {
  double thread_seconds = 0;
  double evaluation_seconds = 0;
  std::uint64_t timed = 0;
  for (std::uint32_t run = 0; run < stored.spec.common.runs; ++run) {
    const auto timing = stored.timings.find({at.dataset, run, at.click_model, at.method});
    if (timing == stored.timings.end()) continue;
    ++timed;
    thread_seconds += timing->second.seconds;
    evaluation_seconds += timing->second.evaluation_seconds;
    cell.seconds += timing->second.seconds / timing->second.threads;
  }
  if (thread_seconds <= 0 || cell.seconds <= 0) return;
  cell.evaluation_share = evaluation_seconds / thread_seconds;
  cell.impressions_per_second =
      static_cast<double>(timed) * static_cast<double>(cell.impressions) / cell.seconds;
}

Comparison assemble(const StoredResults& stored, bool with_times) {
  const ComparisonSpec& spec = stored.spec;
  Comparison comparison;
  comparison.title = title_of(spec);
  comparison.version = stored.plackett;
  for (std::size_t dataset = 0; dataset < spec.datasets.size(); ++dataset) {
    for (std::size_t click_model = 0; click_model < spec.click_models.size(); ++click_model) {
      for (std::size_t method = 0; method < spec.methods.size(); ++method) {
        std::vector<RunRecord> records;
        SimulationSpec simulation =
            simulation_spec(spec, spec.methods[method], spec.click_models[click_model]);
        for (std::uint32_t run = 0; run < spec.common.runs; ++run) {
          const auto found = stored.runs.find({dataset, run, click_model, method});
          if (found == stored.runs.end()) continue;
          simulation.click_model = found->second.user;
          records.push_back(found->second.record);
          records.back().seconds = 0;
          records.back().evaluation_seconds = 0;
        }
        if (records.empty()) continue;
        CellSummary cell = summarise(simulation, spec.datasets[dataset].name, records);
        const ComparedDataset& data = spec.datasets[dataset];
        cell.as_in_paper = cell.as_in_paper && data.scaling == Scaling::kQueryMinMax &&
                           !data.keep_constant_features && !is_synthetic(data.path);
        if (with_times) add_times(stored, {dataset, click_model, method}, cell);
        comparison.cells.push_back(std::move(cell));
      }
    }
  }
  if (with_times) {
    for (const auto& [place, timing] : stored.timings) {
      comparison.threads = std::max(comparison.threads, timing.threads);
    }
  }
  add_contrasts(comparison);
  return comparison;
}

}  // namespace

Comparison assemble(const StoredResults& stored) { return assemble(stored, false); }

Comparison assemble_with_times(const StoredResults& stored) { return assemble(stored, true); }

}  // namespace plackett
