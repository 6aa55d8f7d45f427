#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "experiment/comparison.h"
#include "experiment/results_folder.h"
#include "experiment/run_comparison.h"
#include "experiment/run_jobs.h"
#include "experiment/spec_parts.h"
#include "plackett/report.h"
#include "plackett/simulate.h"
#include "plackett/version.h"

namespace plackett {
namespace {

Compared compared(const StoredResults& stored) {
  const ComparisonSpec& spec = stored.spec;
  Compared result{.comparison = assemble_with_times(stored), .runs = {}};
  for (std::size_t dataset = 0; dataset < spec.datasets.size(); ++dataset) {
    for (std::size_t click_model = 0; click_model < spec.click_models.size(); ++click_model) {
      for (std::size_t method = 0; method < spec.methods.size(); ++method) {
        std::vector<RunRecord>& runs = result.runs.emplace_back();
        for (std::uint32_t run = 0; run < spec.common.runs; ++run) {
          const auto found = stored.runs.find({dataset, run, click_model, method});
          if (found != stored.runs.end()) runs.push_back(found->second.record);
        }
      }
    }
  }
  return result;
}

bool stopped(const RunOptions& options) { return options.watch.stop && options.watch.stop(); }

Watch without_learners(Watch watch) {
  watch.learned = nullptr;
  return watch;
}

}  // namespace

Result<Compared> compare(const ComparisonSpec& spec, std::span<const Dataset> datasets,
                         const RunOptions& options) {
  StoredResults stored;
  stored.spec = spec;
  stored.spec.datasets.clear();
  stored.plackett = version();
  for (const Dataset& dataset : datasets) {
    stored.spec.datasets.push_back({.name = dataset.name, .path = dataset.name});
  }
  if (auto sound = check_apart_from_data(stored.spec); !sound) return sound.error();
  const unsigned threads = thread_count(options.threads);
  const Watch watch = without_learners(options.watch);
  for (std::size_t number = 0; number < datasets.size(); ++number) {
    auto simulations = prepare_cells(stored.spec, datasets[number]);
    if (!simulations) return simulations.error();
    const auto keep = [&](const Job& job, RunRecord record) -> Result<void> {
      const RunPlace place = place_of_job(stored.spec, number, job);
      stored.timings[place] = {record.seconds, record.evaluation_seconds, threads};
      stored.runs[place] = {.dataset = datasets[number].name,
                            .method = {},
                            .click_model = {},
                            .user = (*simulations)[job.simulation].spec().click_model,
                            .record = std::move(record)};
      return {};
    };
    if (auto done = run_jobs(*simulations, run_major(*simulations), threads, watch, keep); !done) {
      return done.error();
    }
    if (stopped(options)) return Error{std::string(kStopped)};
  }
  Compared result = compared(stored);
  // How the data was made is not known here, so nothing is set beside the paper's numbers.
  for (CellSummary& cell : result.comparison.cells) cell.as_in_paper = false;
  return result;
}

Result<Compared> compare(const ComparisonSpec& spec, const std::filesystem::path& folder,
                         const RunOptions& options) {
  if (auto sound = check(spec); !sound) return sound.error();
  auto opened = ResultsFolder::open(folder, spec,
                                    {.version = std::string(version()), .fresh = options.fresh});
  if (!opened) return opened.error();
  ResultsFolder& results = opened.value();
  if (auto same = require_same_users(results.stored()); !same) return same.error();
  const unsigned threads = thread_count(options.threads);
  if (const std::uint64_t kept = results.stored().runs.size(); kept > 0 && options.watch.advanced) {
    options.watch.advanced(kept * spec.common.impressions);
  }
  for (std::size_t number = 0; number < spec.datasets.size() && !stopped(options); ++number) {
    if (finished_runs(results.stored(), number) == run_count(spec) / spec.datasets.size()) continue;
    LoadOptions load = load_options(spec.datasets[number]);
    load.threads = threads;
    auto dataset = load_dataset(spec.datasets[number].path, load);
    if (!dataset) return dataset.error();
    dataset->name = spec.datasets[number].name;
    ComparisonWatch watch;
    watch.runs = without_learners(options.watch);
    if (auto done = run_dataset(results, number, *dataset, threads, watch); !done) {
      return done.error();
    }
  }
  if (auto kept = results.finish(); !kept) return kept.error();
  if (results.stored().runs.size() < run_count(spec)) return Error{std::string(kStopped)};
  if (auto written = write_report(assemble(results.stored()), folder); !written) {
    return written.error();
  }
  return compared(results.stored());
}

}  // namespace plackett
