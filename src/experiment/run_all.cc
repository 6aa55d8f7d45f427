#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <optional>

#include "base/parallel.h"
#include "experiment/simulation.h"

namespace plackett {
namespace {

struct Job {
  std::size_t simulation = 0;
  std::uint32_t run = 0;
};

}  // namespace

Result<std::vector<CellSummary>> run_all(const std::vector<Simulation>& simulations,
                                         unsigned threads, const Watch& watch) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Job> jobs;
  std::vector<std::vector<RunRecord>> records(simulations.size());
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    records[at].resize(simulations[at].spec().runs);
    for (std::uint32_t run = 0; run < simulations[at].spec().runs; ++run) jobs.push_back({at, run});
  }

  std::vector<std::optional<Error>> failures(jobs.size());
  std::atomic<bool> failed{false};
  try {
    parallel_for(threads, jobs.size(), [&](std::size_t at) {
      if (failed) return;
      const Job& job = jobs[at];
      auto record = simulations[job.simulation].run(job.run, watch);
      if (record) {
        records[job.simulation][job.run] = std::move(record).value();
      } else {
        failures[at] = record.error();
        failed = true;
      }
    });
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("out of memory with {} runs at a time; fewer --threads or a smaller "
                    "ranker may fit",
                    std::min<std::size_t>(threads, jobs.size()))};
  }
  for (const auto& failure : failures) {
    if (failure) return *failure;
  }

  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double total_seconds = 0;
  std::vector<CellSummary> cells;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    cells.push_back(simulations[at].summarise(std::move(records[at])));
    total_seconds += cells.back().seconds;
  }
  // A cell's runs may lie beside another's: its part of the wall time is its part of the work.
  for (CellSummary& cell : cells) {
    cell.seconds = total_seconds > 0 ? wall * cell.seconds / total_seconds : 0;
    const double impressions = static_cast<double>(cell.impressions) * cell.runs;
    cell.impressions_per_second = cell.seconds > 0 ? impressions / cell.seconds : 0;
  }
  return cells;
}

}  // namespace plackett
