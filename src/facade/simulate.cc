#include "plackett/simulate.h"

#include <utility>

#include "base/parallel.h"

namespace plackett {

Result<Simulated> simulate(const Dataset& dataset, const SimulationSpec& spec,
                           const RunOptions& options) {
  auto prepared = Simulation::prepare(dataset, spec);
  if (!prepared) return prepared.error();
  const std::vector<Simulation> simulations{std::move(prepared).value()};
  Simulated simulated;
  Watch watch = options.watch;
  watch.learned = [&simulated](std::uint32_t run, std::unique_ptr<Learner> learner) {
    if (run == 0) simulated.learner = std::move(learner);  // one thread alone does run 0
  };
  std::vector<std::vector<RunRecord>> records;
  auto cells = run_all(simulations, thread_count(options.threads), watch, &records);
  if (!cells) return cells.error();
  simulated.model = simulations.front().saved_model(0, *simulated.learner);
  simulated.runs = std::move(records.front());
  simulated.summary = std::move(cells.value().front());
  return simulated;
}

}  // namespace plackett
