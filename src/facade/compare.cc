#include <string>
#include <utility>
#include <vector>

#include "experiment/run_dataset.h"
#include "experiment/spec_parts.h"
#include "plackett/report.h"
#include "plackett/results.h"
#include "plackett/simulate.h"
#include "plackett/version.h"

namespace plackett {
namespace {

const Error kStopped(ErrorCode::kStopped, "stopped");

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

}  // namespace

Result<Compared> compare(const ComparisonSpec& spec, std::span<const Dataset> datasets,
                         const RunOptions& options) {
  StoredResults stored{.spec = spec, .plackett = std::string(version())};
  stored.spec.datasets.clear();
  for (const Dataset& dataset : datasets) {
    stored.spec.datasets.push_back({.name = dataset.name, .path = dataset.name});
  }
  if (auto valid = check_apart_from_data(stored.spec); !valid) return valid.error();
  ThreadBackend backend(options.threads);
  Watch watch = options.watch;
  watch.learned = nullptr;
  const auto store = [&](const RunPlace& place, FinishedRun run) -> Result<void> {
    stored.timings[place] = {run.record.seconds, run.record.evaluation_seconds, backend.width()};
    stored.runs[place] = std::move(run);
    return {};
  };
  for (std::size_t number = 0; number < datasets.size(); ++number) {
    const DatasetRuns runs{number, 0, backend, watch, store};
    if (auto done = run_dataset(stored, datasets[number], runs); !done) return done.error();
    if (watch.stop && watch.stop()) return kStopped;
  }
  Compared result = compared(stored);
  // How the data was made is not known here, so nothing is compared with the paper's numbers.
  for (CellSummary& cell : result.comparison.cells) cell.as_in_paper = false;
  return result;
}

Result<Compared> compare(const ComparisonSpec& spec, const std::filesystem::path& folder,
                         const RunOptions& options) {
  FolderWatch watch;
  watch.opened = [&](const StoredResults& found) {
    if (found.runs.empty() || !options.watch.advanced) return;
    options.watch.advanced(found.runs.size() * spec.common.impressions);
  };
  const auto stored = run_in_folder(spec, folder, options, watch);
  if (!stored) return stored.error();
  if (stored->runs.size() < run_count(spec)) return kStopped;
  if (auto written = write_report(assemble(*stored), folder); !written) return written.error();
  return compared(*stored);
}

}  // namespace plackett
