#include "dry_run.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "experiment/curve.h"
#include "experiment/results_folder.h"
#include "experiment/run_comparison.h"
#include "experiment/spec_parts.h"
#include "plackett/version.h"
#include "plan_table.h"
#include "report/numbers.h"
#include "report/text.h"
#include "terminal_text.h"

namespace plackett::command {
namespace {

constexpr double kSecondsACell = 0.1;

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", report::grouped(count), what, count == 1 ? "" : "s");
}

// What one run takes on one thread.
double run_seconds(const Simulation& simulation) {
  const RunCost cost = take(simulation.cost(kSecondsACell));
  const auto impressions = static_cast<double>(simulation.spec().impressions);
  const auto points = static_cast<double>(curve_points(simulation.spec().impressions).size());
  return impressions * cost.impression_seconds + points * cost.evaluation_seconds;
}

// As many as are left of each cell, in the order of `simulations`.
std::vector<PlannedCell> planned_cells(const ComparisonSpec& spec, std::size_t dataset,
                                       const StoredResults& stored,
                                       const std::vector<Simulation>& simulations) {
  std::vector<PlannedCell> cells;
  const std::size_t methods = spec.methods.size();
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    PlannedCell& cell = cells.emplace_back();
    cell.label = simulations[at].spec().label;
    cell.click_model = simulations[at].spec().click_model;
    for (std::uint32_t run = 0; run < spec.common.runs; ++run) {
      if (!stored.runs.contains({dataset, run, at / methods, at % methods})) ++cell.runs;
    }
  }
  return cells;
}

// Of the whole dataset, over all threads.
double dataset_seconds(const ComparisonSpec& spec, std::size_t number, const StoredResults& stored,
                       const Loading& loading) {
  const auto start = std::chrono::steady_clock::now();
  const Dataset dataset = load_compared(spec.datasets[number], loading);
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<Simulation> simulations = take(prepare_cells(spec, dataset));
  const std::vector<PlannedCell> cells = planned_cells(spec, number, stored, simulations);
  const OutputStyle style = standard_output();
  const PlanTable table(cells, style.columns);
  const auto print = [&style](std::string line) {
    fmt::print("{}\n", style.ascii ? report::in_ascii(std::move(line)) : line);
  };
  print(fmt::format("\n{}, read in {}", report::printable(dataset.name),
                    report::duration(load_seconds)));
  print(table.head());
  double seconds = 0;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    if (cells[at].runs == 0) continue;
    const double a_run = run_seconds(simulations[at]);
    print(table.line(cells[at], static_cast<double>(simulations[at].spec().impressions), a_run));
    seconds += a_run * cells[at].runs;
  }
  return load_seconds + seconds / loading.threads;
}

}  // namespace

void print_plan(const ComparisonSpec& spec, const std::string& folder, const Loading& loading) {
  StoredResults stored;
  if (auto read = take(read_results(folder))) {
    stored = std::move(*read);
    take(require_same(stored, spec, std::string(version()), folder));
  }
  const std::uint64_t total = run_count(spec);
  fmt::print("{} x {} x {} x {} = {} of {}\n", counted(spec.datasets.size(), "dataset"),
             counted(spec.methods.size(), "method"),
             counted(spec.click_models.size(), "click model"), counted(spec.common.runs, "run"),
             counted(total, "run"), counted(spec.common.impressions, "impression"));
  fmt::print("{} protocol, seed {}; results go to {}, where {} of the runs are done\n",
             name_of(spec.common.protocol), spec.common.seed, report::printable(folder),
             report::grouped(stored.runs.size()));
  double seconds = 0;
  const std::uint64_t runs_a_dataset = total / spec.datasets.size();
  for (std::size_t number = 0; number < spec.datasets.size(); ++number) {
    if (finished_runs(stored, number) == runs_a_dataset) {
      fmt::print("\n{}: all runs are done\n", report::printable(spec.datasets[number].name));
      continue;
    }
    seconds += dataset_seconds(spec, number, stored, loading);
  }
  fmt::print("\n{} left, about {} on {}; nothing was run or written\n",
             counted(total - stored.runs.size(), "run"), report::duration(seconds),
             counted(loading.threads, "thread"));
}

}  // namespace plackett::command
