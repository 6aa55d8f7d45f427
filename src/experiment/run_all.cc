#include <chrono>

#include "experiment/run_jobs.h"
#include "plackett/simulation.h"

namespace plackett {

Result<std::vector<CellSummary>> run_all(const std::vector<Simulation>& simulations,
                                         unsigned threads, const Watch& watch,
                                         std::vector<std::vector<RunRecord>>* runs) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<RunRecord>> records(simulations.size());
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    records[at].resize(simulations[at].spec().runs);
  }
  const Finished keep = [&records](const Job& job, RunRecord record) -> Result<void> {
    records[job.simulation][job.run] = std::move(record);
    return {};
  };
  if (auto done = run_jobs(simulations, run_major(simulations), threads, watch, keep); !done) {
    return done.error();
  }
  if (watch.stop && watch.stop()) return Error{std::string(kStopped)};

  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  double total_seconds = 0;
  std::vector<CellSummary> cells;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    cells.push_back(simulations[at].summarise(records[at]));
    total_seconds += cells.back().seconds;
  }
  // A cell's runs may lie beside another's: its part of the wall time is its part of the work.
  for (CellSummary& cell : cells) {
    cell.seconds = total_seconds > 0 ? wall * cell.seconds / total_seconds : 0;
    const double impressions = static_cast<double>(cell.impressions) * cell.runs;
    cell.impressions_per_second = cell.seconds > 0 ? impressions / cell.seconds : 0;
  }
  if (runs != nullptr) *runs = std::move(records);
  return cells;
}

}  // namespace plackett
