#include "dry_run.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "experiment/results_folder.h"
#include "experiment/run_comparison.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

constexpr double kSecondsACell = 0.1;

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", report::grouped(count), what, count == 1 ? "" : "s");
}

// The runs of one cell that are left, and the time they take on one thread; prints its line.
double cell_seconds(const Simulation& simulation, std::uint32_t left) {
  const RunCost cost = take(simulation.cost(kSecondsACell));
  const auto impressions = static_cast<double>(simulation.spec().impressions);
  const auto points = static_cast<double>(curve_points(simulation.spec().impressions).size());
  const double run_seconds =
      impressions * cost.impression_seconds + points * cost.evaluation_seconds;
  fmt::print("  {:<34} {:<16} {:>6} {:>15} {:>13}\n", simulation.spec().label,
             simulation.spec().click_model, left, report::rate(impressions / run_seconds),
             report::duration(run_seconds));
  return run_seconds * left;
}

// Of the whole dataset, over all threads.
double dataset_seconds(const ComparisonSpec& spec, std::size_t number, const StoredResults& stored,
                       const Loading& loading) {
  const auto start = std::chrono::steady_clock::now();
  const Dataset dataset = load_compared(spec.datasets[number], loading);
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<Simulation> simulations = take(prepare_cells(spec, dataset));
  fmt::print("\n{}, read in {}\n", dataset.name, report::duration(load_seconds));
  fmt::print("  {:<34} {:<16} {:>6} {:>15} {:>13}\n", "method", "click model", "runs",
             "impressions/s", "a run");
  double seconds = 0;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    const std::size_t methods = spec.methods.size();
    std::uint32_t left = 0;
    for (std::uint32_t run = 0; run < spec.common.runs; ++run) {
      if (!stored.runs.contains({number, run, at / methods, at % methods})) ++left;
    }
    if (left > 0) seconds += cell_seconds(simulations[at], left);
  }
  return load_seconds + seconds / loading.threads;
}

}  // namespace

void print_plan(const ComparisonSpec& spec, const std::string& folder, const Loading& loading) {
  StoredResults stored;
  if (auto read = take(read_results(folder))) {
    stored = std::move(*read);
    take(require_same(stored, spec, PLACKETT_VERSION, folder));
  }
  const std::uint64_t total = run_count(spec);
  fmt::print("{} x {} x {} x {} = {} of {}\n", counted(spec.datasets.size(), "dataset"),
             counted(spec.methods.size(), "method"),
             counted(spec.click_models.size(), "click model"), counted(spec.common.runs, "run"),
             counted(total, "run"), counted(spec.common.impressions, "impression"));
  fmt::print("{} protocol, seed {}; results go to {}, where {} of the runs are done\n",
             name_of(spec.common.protocol), spec.common.seed, folder,
             report::grouped(stored.runs.size()));
  double seconds = 0;
  const std::uint64_t runs_a_dataset = total / spec.datasets.size();
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    if (finished_runs(stored, number) == runs_a_dataset) {
      fmt::print("\n{}: all runs are done\n", spec.datasets[number].name);
      continue;
    }
    seconds += dataset_seconds(spec, number, stored, loading);
  }
  fmt::print("\n{} left, about {} on {}; nothing was run or written\n",
             counted(total - stored.runs.size(), "run"), report::duration(seconds),
             counted(loading.threads, "thread"));
}

}  // namespace plackett::command
