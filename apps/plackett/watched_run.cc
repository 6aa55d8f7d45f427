#include "watched_run.h"

#include <fmt/format.h>

#include "progress.h"

namespace plackett::command {

Result<std::vector<CellSummary>> run_watched(const std::vector<Simulation>& simulations,
                                             unsigned threads, Watch watch) {
  Progress::Work total;
  for (const Simulation& simulation : simulations) {
    total.impressions += simulation.spec().impressions * simulation.spec().runs;
    total.runs += simulation.spec().runs;
  }
  Progress progress(total);
  watch.run_started = [&progress](const SimulationSpec& spec) {
    progress.set_label(
        fmt::format("{} ({}), {}", spec.method, name_of(spec.ranker.kind), spec.click_model));
  };
  watch.advanced = [&progress](std::uint64_t impressions) { progress.advance(impressions); };
  watch.run_done = [&progress] { progress.run_done(); };
  return run_all(simulations, threads, watch);
}

}  // namespace plackett::command
