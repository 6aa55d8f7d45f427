// Does the runs of a comparison, in a results folder or in memory.
#include <fmt/format.h>

#include <cassert>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/hash.h"
#include "experiment/backend.h"
#include "experiment/curve.h"
#include "experiment/results_folder.h"
#include "experiment/spec_parts.h"
#include "plackett/results.h"
#include "plackett/simulate.h"
#include "plackett/version.h"

namespace plackett {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMeasuredSeconds = 0.1;  // per cell of a plan

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Result<std::uint64_t> user_file_checksum(const std::string& click_model) {
  if (!click_model.ends_with(".toml")) return std::uint64_t{0};
  const auto text = read_file(click_model);
  if (!text) return text.error();
  return checksum(std::string_view(*text));
}

void add_parts(const Split& split, std::vector<std::uint64_t>& parts) {
  const Split::Storage& storage = split.storage();
  assert(storage.foreign_stride == 0);
  const std::uint64_t docs = split.doc_count();
  const std::size_t width = padded_width(storage.feature_count);
  parts.push_back(storage.feature_count);
  parts.push_back(storage.query_count);
  parts.push_back(checksum(std::as_bytes(std::span(storage.rows, docs * width))));
  parts.push_back(checksum(std::as_bytes(std::span(storage.labels, docs))));
  parts.push_back(checksum(
      std::as_bytes(std::span(storage.query_begin, storage.query_count + std::size_t{1}))));
}

// A hash of all that runs read of a dataset: features, labels and queries of the training and test
// splits, as loaded, and the number of grades. Reads all of it.
std::uint64_t fingerprint(const Dataset& dataset) {
  std::vector<std::uint64_t> parts{dataset.grade_count(), dataset.folds.size()};
  for (const Fold& fold : dataset.folds) {
    add_parts(fold.train, parts);
    add_parts(fold.test, parts);
  }
  return checksum(std::as_bytes(std::span(parts)));
}

Error changed_inputs(const std::string& what) {
  return {ErrorCode::kConflict, fmt::format("{}; {}", what, kStartOver), Hint::kOtherFolderOrFresh};
}

Result<void> require_same_user(const FinishedRun& finished, std::uint64_t user_file) {
  if (finished.user_file == user_file) return {};
  return changed_inputs(fmt::format("{}: has changed since the finished runs were made from it",
                                    finished.click_model));
}

Result<void> require_same_inputs(const FinishedRun& finished, const FinishedRun& now) {
  if (finished.data == now.data) return require_same_user(finished, now.user_file);
  return changed_inputs(fmt::format(
      "dataset {}: not the data that the finished runs were made from (fingerprint {:016x} then, "
      "{:016x} now)",
      now.dataset, finished.data, now.data));
}

// Fails if a click-model file is not the one that finished runs were made from.
Result<void> require_same_users(const StoredResults& stored) {
  std::vector<std::uint64_t> checksums;
  for (const std::string& click_model : stored.spec.click_models) {
    const auto now = user_file_checksum(click_model);
    if (!now) return now.error();
    checksums.push_back(*now);
  }
  for (const auto& [place, run] : stored.runs) {
    if (auto same = require_same_user(run, checksums[place.click_model]); !same) return same;
  }
  return {};
}

bool complete(const StoredResults& stored, std::size_t dataset) {
  const auto finished = std::distance(stored.runs.lower_bound({dataset, 0, 0, 0}),
                                      stored.runs.lower_bound({dataset + 1, 0, 0, 0}));
  return static_cast<std::uint64_t>(finished) ==
         run_count(stored.spec) / stored.spec.datasets.size();
}

Result<Dataset> load(const ComparedDataset& compared, const RunOptions& options, unsigned threads) {
  LoadOptions load = load_options(compared);
  load.threads = threads;
  load.verify_cache = options.verify_cache;
  auto dataset = load_dataset(compared.path, load);
  if (dataset) dataset->name = compared.name;
  return dataset;
}

// The place of a job among the cells that prepare_cells gives.
RunPlace place_of_job(const ComparisonSpec& spec, std::size_t dataset, const Job& job) {
  const std::size_t methods = spec.methods.size();
  return {dataset, job.run, job.simulation / methods, job.simulation % methods};
}

// The cells of one dataset, by click model and method, checked and ready to run.
Result<std::vector<Simulation>> prepare_cells(const ComparisonSpec& spec, const Dataset& dataset) {
  std::vector<Simulation> simulations;
  std::set<std::string> users;
  for (const std::string& click_model : spec.click_models) {
    for (const ComparedMethod& method : spec.methods) {
      auto simulation = Simulation::prepare(dataset, simulation_spec(spec, method, click_model));
      if (!simulation) return simulation.error().in("dataset " + dataset.name);
      simulations.push_back(std::move(simulation).value());
    }
    const std::string& user = simulations.back().spec().click_model;
    if (!users.insert(user).second) {
      return Error{fmt::format("two click models are called \"{}\"; names must differ", user)};
    }
  }
  return simulations;
}

// Where the runs of one dataset happen and go.
struct DatasetRuns {
  std::size_t number = 0;       // of the dataset in the spec
  std::uint64_t fingerprint{};  // of its data; 0: unknown
  Backend& backend;
  const Watch& watch;
  // Takes a finished run. One call at a time.
  std::function<Result<void>(const RunPlace& place, FinishedRun run)> store;
};

// Does the runs on `dataset` that `stored` lacks. Fails, before anything runs, if the finished ones
// were made from other data or other click-model files. Stops as Backend::run does.
// Requires: dataset.name is the spec's name for it.
Result<void> run_dataset(const StoredResults& stored, const Dataset& dataset,
                         const DatasetRuns& runs) {
  const ComparisonSpec& spec = stored.spec;
  auto simulations = prepare_cells(spec, dataset);
  if (!simulations) return simulations.error();

  // What the runs of each cell have in common.
  std::vector<FinishedRun> cells;
  for (std::size_t at = 0; at < simulations->size(); ++at) {
    const RunPlace place = place_of_job(spec, runs.number, {at, 0});
    const std::string& click_model = spec.click_models[place.click_model];
    const auto user_file = user_file_checksum(click_model);
    if (!user_file) return user_file.error();
    cells.push_back({.dataset = dataset.name,
                     .method = to_text(canonical(spec.methods[place.method].entry)),
                     .click_model = click_model,
                     .user = (*simulations)[at].spec().click_model,
                     .data = runs.fingerprint,
                     .user_file = *user_file,
                     .record = {}});
  }
  std::vector<Job> jobs;
  for (const Job& job : run_major(*simulations)) {
    const auto finished = stored.runs.find(place_of_job(spec, runs.number, job));
    if (finished == stored.runs.end()) {
      jobs.push_back(job);
    } else if (auto same = require_same_inputs(finished->second, cells[job.simulation]); !same) {
      return same;
    }
  }
  return run_jobs({*simulations, jobs}, runs.backend, runs.watch,
                  [&](const Job& job, RunRecord record) {
                    FinishedRun run = cells[job.simulation];
                    run.record = std::move(record);
                    return runs.store(place_of_job(spec, runs.number, job), std::move(run));
                  });
}

}  // namespace

Result<StoredResults> run_in_folder(const ComparisonSpec& spec, const std::filesystem::path& folder,
                                    const RunOptions& options, const FolderWatch& watch) {
  if (auto valid = check(spec); !valid) return valid.error();
  auto opened = ResultsFolder::open(folder, spec,
                                    {.version = std::string(version()), .fresh = options.fresh});
  if (!opened) return opened.error();
  const StoredResults& stored = opened->stored();
  if (auto same = require_same_users(stored); !same) return same.error();
  if (watch.opened) watch.opened(stored);
  ThreadBackend backend(options.threads);
  Watch run_watch = options.watch;
  run_watch.learned = nullptr;
  const auto store = [&](const RunPlace& place, FinishedRun run) -> Result<void> {
    if (auto kept = opened->append(place, std::move(run), backend.width()); !kept) return kept;
    if (watch.stored) watch.stored(place, stored.runs.at(place).record);
    return {};
  };
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    if (run_watch.stop && run_watch.stop()) break;
    if (complete(stored, number)) continue;
    if (watch.loading) watch.loading(number);
    const auto dataset = load(spec.datasets[number], options, backend.width());
    if (!dataset) return dataset.error();
    if (watch.loaded) watch.loaded(number);
    const DatasetRuns runs{number, fingerprint(*dataset), backend, run_watch, store};
    if (auto done = run_dataset(stored, *dataset, runs); !done) return done.error();
  }
  if (auto done = opened->finish(); !done) return done.error();
  return stored;
}

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
    if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};
  }
  Compared result = compared(stored);
  // How the data was made is not known here, so nothing is compared with the paper's numbers.
  for (CellSummary& cell : result.comparison.cells) cell.as_in_paper = false;
  return result;
}

Result<Plan> plan_comparison(const ComparisonSpec& spec, const std::filesystem::path& folder,
                             const RunOptions& options) {
  if (auto valid = check(spec); !valid) return valid.error();
  auto read = read_results(folder);
  if (!read) return read.error();
  const std::string own_version(version());
  const StoredResults stored =
      std::move(*read).value_or(StoredResults{.spec = spec, .plackett = own_version});
  if (auto same = require_same(stored, spec, own_version, folder); !same) return same.error();
  const unsigned threads = ThreadBackend(options.threads).width();
  Plan plan{.finished_runs = stored.runs.size()};
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    Plan::Dataset& planned = plan.datasets.emplace_back();
    if (complete(stored, number)) continue;
    const auto start = Clock::now();
    const auto dataset = load(spec.datasets[number], options, threads);
    if (!dataset) return dataset.error();
    planned.load_seconds = seconds_since(start);
    plan.seconds += planned.load_seconds;
    const auto simulations = prepare_cells(spec, *dataset);
    if (!simulations) return simulations.error();
    for (std::size_t at = 0; at < simulations->size(); ++at) {
      const SimulationSpec& cell = (*simulations)[at].spec();
      std::uint32_t left = 0;
      for (std::uint32_t run = 0; run < cell.runs; ++run) {
        if (!stored.runs.contains(place_of_job(spec, number, {at, run}))) ++left;
      }
      if (left == 0) continue;
      const auto cost = (*simulations)[at].cost(kMeasuredSeconds);
      if (!cost) return cost.error();
      const double seconds =
          static_cast<double>(cell.impressions) * cost->impression_seconds +
          static_cast<double>(curve_points(cell.impressions).size()) * cost->evaluation_seconds;
      planned.cells.push_back({cell.label, cell.click_model, left, seconds});
      plan.seconds += seconds * left / threads;
    }
  }
  return plan;
}

}  // namespace plackett
