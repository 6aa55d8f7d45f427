#include "experiment/run_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/memory.h"
#include "experiment/backend.h"
#include "experiment/curve.h"
#include "experiment/made_by.h"
#include "experiment/results_files.h"
#include "experiment/results_folder.h"
#include "experiment/side_by_side.h"
#include "experiment/spec_parts.h"
#include "experiment/stored_cells.h"
#include "plackett/published_data.h"
#include "plackett/results.h"
#include "plackett/simulate.h"
#include "plackett/version.h"

namespace plackett {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMeasuredSeconds = 0.1;  // per cell of a plan
// Of all memory, what must be available for more than two datasets at a time.
constexpr double kMemoryLeft = 0.5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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

// A hash of all that runs may read of a dataset: features, labels and queries of all splits, as
// loaded, and the number of grades. Reads all of it.
std::uint64_t fingerprint(const Dataset& dataset) {
  std::vector<std::uint64_t> parts{dataset.grade_count(), dataset.folds.size()};
  for (const Fold& fold : dataset.folds) {
    add_parts(fold.train, parts);
    add_parts(fold.test, parts);
    parts.push_back(fold.validation ? 1 : 0);
    if (fold.validation) add_parts(*fold.validation, parts);
  }
  return checksum(std::as_bytes(std::span(parts)));
}

// One dataset of a spec and its cells that have runs to do, by their places in the results.
struct DatasetWork {
  ComparedDataset dataset;
  std::vector<std::size_t> cells = {};
};

// The runs that a spec asks for, in a shard, and that the results lack: what to do on each dataset
// and how many runs that is.
struct Work {
  std::vector<std::size_t> cells = {};     // all of the spec's, by their places in the results
  std::vector<DatasetWork> datasets = {};  // as many as in the spec
  std::map<std::size_t, std::vector<std::uint32_t>> runs = {};  // to do, of cells that have some
  WorkCount all = {};                                           // of the shard
  WorkCount left = {};                                          // of these, to do
};

// Requires: `stored` has all cells of the spec.
Work work_of(const ComparisonSpec& spec, const StoredResults& stored, const Shard& shard) {
  std::map<std::uint64_t, std::size_t> places;
  for (std::size_t at = 0; at < stored.cells.size(); ++at) {
    places[key_of(stored.cells[at])] = at;
  }
  Work work;
  for (const ComparedDataset& dataset : spec.datasets) work.datasets.push_back({dataset});
  const auto cells = cells_of(spec);
  for (std::size_t at = 0; at < cells->size(); ++at) {
    const ComparedCell& cell = (*cells)[at];
    const std::size_t place = places.at(identity(spec.datasets[cell.dataset], cell.simulation));
    work.cells.push_back(place);
    for (std::uint32_t run = 0; run < spec.common.runs; ++run) {
      if (!in_shard(shard, at, run, spec.common.runs)) continue;
      const std::uint64_t impressions = cell.simulation.impressions;
      work.all = {work.all.runs + 1, work.all.impressions + impressions};
      if (stored.cells[place].has(run)) continue;
      work.runs[place].push_back(run);
      work.left = {work.left.runs + 1, work.left.impressions + impressions};
    }
    if (work.runs.contains(place)) work.datasets[cell.dataset].cells.push_back(place);
  }
  return work;
}

Result<Dataset> load(const ComparedDataset& compared, const RunOptions& options, unsigned threads) {
  LoadOptions load = load_options(compared);
  load.threads = threads;
  load.verify_cache = options.verify_cache;
  auto dataset = load_dataset(compared.path, load);
  if (dataset) dataset->name = compared.name;
  return dataset;
}

struct LoadedDataset {
  Dataset dataset;
  std::uint64_t fingerprint{};
};

Result<LoadedDataset> load_to_run(const ComparedDataset& compared, const RunOptions& options,
                                  unsigned threads) {
  auto dataset = load(compared, options, threads);
  if (!dataset) return dataset.error();
  const std::uint64_t hash = fingerprint(*dataset);
  return LoadedDataset{std::move(dataset).value(), hash};
}

// The cells of one dataset, checked and ready to run.
Result<std::vector<Simulation>> prepare_cells(const StoredResults& stored, const Dataset& dataset,
                                              const std::vector<std::size_t>& cells) {
  std::vector<Simulation> simulations;
  std::map<std::string, std::string> files;  // by the name of the user in it
  for (const std::size_t at : cells) {
    const SimulationSpec& spec = stored.cells[at].simulation;
    auto simulation =
        Simulation::prepare(dataset, spec, simulations.empty() ? nullptr : &simulations.back());
    if (!simulation) return simulation.error().in("dataset " + dataset.name);
    simulations.push_back(std::move(simulation).value());
    const std::string& user = simulations.back().spec().click_model;
    if (files.try_emplace(user, spec.click_model).first->second == spec.click_model) continue;
    return Error{fmt::format("two click models are called \"{}\"; names must differ", user)};
  }
  return simulations;
}

// Where runs happen and go. If the backend can be shared, several threads use it at once.
struct Runs {
  Backend& backend;
  const Watch& watch;
  // Called with what a dataset's runs are made from, before the first.
  std::function<Result<void>(const MadeBy& inputs)> claim;
  // Takes a finished run of a cell.
  std::function<Result<void>(std::size_t cell, FinishedRun run)> store;
};

// Does the runs on `dataset` that are to be done. Fails, before anything runs, if the claim does.
// Stops as Backend::run does. A fingerprint of 0 is unknown.
// Requires: dataset.name is the spec's name for it.
Result<void> run_dataset(const StoredResults& stored, const Work& work, const LoadedDataset& loaded,
                         const std::vector<std::size_t>& cells, const Runs& runs) {
  const Dataset& dataset = loaded.dataset;
  auto simulations = prepare_cells(stored, dataset, cells);
  if (!simulations) return simulations.error();
  MadeBy inputs;
  std::vector<FinishedRun> common;  // what the runs of each cell have in common
  std::vector<Job> jobs;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const StoredCell& cell = stored.cells[cells[at]];
    const auto user_file = user_file_checksum(cell.simulation.click_model);
    if (!user_file) return user_file.error();
    auto drift_files = drift_file_checksums(cell.simulation.drift);
    if (!drift_files) return drift_files.error();
    common.push_back({.cell = key_of(cell),
                      .dataset = dataset.name,
                      .method = to_text(canonical(entry_of(cell.simulation))),
                      .click_model = cell.simulation.click_model,
                      .user = (*simulations)[at].spec().click_model,
                      .data = loaded.fingerprint,
                      .published = std::string(recognise(dataset).value_or("")),
                      .user_file = *user_file,
                      .drift_files = std::move(*drift_files),
                      .record = {}});
    inputs.merge(inputs_of(common.back()));
    for (const std::uint32_t run : work.runs.at(cells[at])) jobs.push_back({at, run});
  }
  if (auto claimed = runs.claim(inputs); !claimed) return claimed;
  // Run 0 of every cell first: if the work is stopped, all of them are equally far.
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& one, const Job& other) { return one.run < other.run; });
  Watch watch = runs.watch;
  watch.learned = nullptr;
  return run_jobs({*simulations, jobs}, runs.backend, watch, [&](const Job& job, RunRecord record) {
    FinishedRun run = common[job.simulation];
    run.record = std::move(record);
    return runs.store(cells[job.simulation], std::move(run));
  });
}

}  // namespace

Result<StoredResults> run_in_folder(const ComparisonSpec& spec, const std::filesystem::path& folder,
                                    const RunOptions& options, const FolderWatch& watch) {
  if (auto valid = check(spec); !valid) return valid.error();
  const auto backend = make_backend(options);
  if (!backend) return backend.error();
  return run_in_folder_by(**backend, spec, folder, options, watch);
}

Result<StoredResults> run_in_folder_by(Backend& backend, const ComparisonSpec& spec,
                                       const std::filesystem::path& folder,
                                       const RunOptions& options, const FolderWatch& watch) {
  auto opened = ResultsFolder::open(
      folder, spec,
      {.version = std::string(version()), .fresh = options.fresh, .shard = options.shard});
  if (!opened) return opened.error();
  const StoredResults& stored = opened->stored();
  const Work work = work_of(spec, stored, options.shard);
  if (watch.opened) watch.opened(stored, work.all, work.left);
  const unsigned threads = ThreadBackend(options.threads).width();
  std::mutex mutex;  // over the folder and the watch
  const auto claim = [&](const MadeBy& inputs) {
    const std::lock_guard lock(mutex);
    return opened->claim_inputs(inputs);
  };
  const auto store = [&](std::size_t cell, FinishedRun run) -> Result<void> {
    const std::lock_guard lock(mutex);
    const std::uint32_t number = run.record.run;
    if (auto kept = opened->append(cell, std::move(run), backend.width()); !kept) return kept;
    if (watch.stored) watch.stored(cell, stored.cells[cell].runs.at(number).record);
    return {};
  };
  const Runs runs{backend, options.watch, claim, store};
  std::vector<const DatasetWork*> left;
  for (const DatasetWork& dataset : work.datasets) {
    if (!dataset.cells.empty()) left.push_back(&dataset);
  }
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    const ComparedDataset& compared = left[at]->dataset;
    {
      const std::lock_guard lock(mutex);
      if (watch.loading) watch.loading(compared);
    }
    auto loaded = load_to_run(compared, options, threads);
    if (!loaded) return loaded.error();
    const auto owned = std::make_shared<const LoadedDataset>(std::move(loaded).value());
    const std::lock_guard lock(mutex);
    if (watch.loaded) watch.loaded();
    return LoadedWork([&, at, owned] {
      auto done = run_dataset(stored, work, *owned, left[at]->cells, runs);
      const std::lock_guard ended(mutex);
      if (watch.done) watch.done(left[at]->dataset);
      return done;
    });
  };
  auto done = do_in_parts({.count = left.size(),
                           .load = load,
                           .stop = options.watch.stop,
                           .has_memory = [] { return available_memory() >= kMemoryLeft; },
                           .side_by_side = backend.can_be_shared()});
  if (!done) return done.error();
  if (auto finished = opened->finish(); !finished) return finished.error();
  return stored;
}

Result<Compared> compare(const ComparisonSpec& spec, std::span<const Dataset> datasets,
                         const RunOptions& options) {
  ComparisonSpec in_memory = spec;
  in_memory.datasets.clear();
  for (const Dataset& dataset : datasets) {
    in_memory.datasets.push_back({.name = dataset.name, .path = dataset.name});
  }
  if (auto valid = check_apart_from_data(in_memory); !valid) return valid.error();
  const auto backend = make_backend(options);
  if (!backend) return backend.error();
  return compare_by(**backend, in_memory, datasets, options.watch);
}

Result<Compared> compare_by(Backend& backend, const ComparisonSpec& in_memory,
                            std::span<const Dataset> datasets, const Watch& watch) {
  auto cells = empty_cells(in_memory);
  if (!cells) return cells.error();
  StoredResults stored{
      .spec = in_memory, .plackett = std::string(version()), .cells = std::move(*cells)};
  const Work work = work_of(in_memory, stored, {});
  const auto claim = [](const MadeBy&) { return Result<void>(); };
  std::mutex mutex;  // over `stored`
  const auto store = [&](std::size_t cell, FinishedRun run) -> Result<void> {
    const std::lock_guard lock(mutex);
    StoredCell& to = stored.cells[cell];
    const RunRecord& record = run.record;
    to.timings[record.run] = {record.seconds, record.evaluation_seconds, backend.width()};
    to.runs[record.run] = std::move(run);
    return {};
  };
  const Runs runs{backend, watch, claim, store};
  const auto load = [&](std::size_t at) -> Result<LoadedWork> {
    return LoadedWork([&, at] {
      const LoadedDataset unknown{.dataset = datasets[at]};
      return run_dataset(stored, work, unknown, work.datasets[at].cells, runs);
    });
  };
  auto done = do_in_parts({.count = datasets.size(),
                           .load = load,
                           .stop = watch.stop,
                           .side_by_side = backend.can_be_shared()});
  if (!done) return done.error();
  if (watch.stop && watch.stop()) return Error{ErrorCode::kStopped, "stopped"};
  Compared result = compared(stored);
  // How the data was made is not known here, so nothing is compared with the paper's numbers.
  for (CellSummary& cell : result.comparison.cells) cell.as_in_paper = false;
  return result;
}

Result<Plan> plan_comparison(const ComparisonSpec& spec, const std::filesystem::path& folder,
                             const RunOptions& options) {
  if (auto valid = check(spec); !valid) return valid.error();
  auto cells = empty_cells(spec);
  if (!cells) return cells.error();
  StoredResults stored{.cells = *cells};
  if (!options.fresh) {
    auto read = read_folder(folder, *cells);
    if (!read) return read.error();
    stored = std::move(*read);
    const auto own = made_by(*cells, std::string(version()));
    if (!own) return own.error();
    if (const auto made = agreed(folder, stored, *own, false); !made) return made.error();
  }
  const Work work = work_of(spec, stored, options.shard);
  const unsigned threads = ThreadBackend(options.threads).width();
  Plan plan{.cells = work.cells.size(),
            .runs = work.all.runs,
            .finished_runs = work.all.runs - work.left.runs};
  std::unique_ptr<DeviceBackend> gpu;
  if (options.device == Device::kGpu) {
    auto opened = usable_gpu();
    if (opened) {
      gpu = std::move(opened).value();
    } else {
      plan.missing_gpu = opened.error().message;
    }
  }
  for (const auto& [compared, places] : work.datasets) {
    Plan::Dataset& planned = plan.datasets.emplace_back();
    if (places.empty()) continue;
    const auto start = Clock::now();
    const auto dataset = load(compared, options, threads);
    if (!dataset) return dataset.error();
    planned.load_seconds = seconds_since(start);
    plan.seconds += planned.load_seconds;
    const auto simulations = prepare_cells(stored, *dataset, places);
    if (!simulations) return simulations.error();
    for (std::size_t at = 0; at < simulations->size(); ++at) {
      const Simulation& simulation = (*simulations)[at];
      const SimulationSpec& cell = simulation.spec();
      const auto left = static_cast<std::uint32_t>(work.runs.at(places[at]).size());
      const auto cost = simulation.cost(kMeasuredSeconds);
      if (!cost) return cost.error();
      const double seconds =
          static_cast<double>(cell.impressions) * cost->impression_seconds +
          static_cast<double>(curve_points(cell).size()) * cost->evaluation_seconds;
      planned.cells.push_back({cell.label, cell.click_model, cell.impressions, left, seconds});
      if (options.device == Device::kGpu) {
        const auto able = gpu != nullptr ? gpu->check(simulation) : check_for_gpu(simulation);
        if (!able) planned.cells.back().refusal = able.error().message;
      }
      plan.seconds += seconds * left / threads;
    }
  }
  return plan;
}

}  // namespace plackett
