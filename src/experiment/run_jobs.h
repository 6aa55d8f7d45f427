// Runs of several simulations, done by a few threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

struct Job {
  std::size_t simulation = 0;
  std::uint32_t run = 0;
};

// Run 0 of every simulation, then run 1 of every simulation, ...: work that is cut short leaves
// all of them equally far, and the time left is seen early.
std::vector<Job> run_major(const std::vector<Simulation>& simulations);

// What becomes of a finished run. Called from the thread that did it, one call at a time.
using Finished = std::function<Result<void>(const Job& job, RunRecord record)>;

// Begins the jobs in their order, over `threads` threads. Where a run or `finished` fails, the
// others are stopped and the failure of the earliest job comes back. Where watch.stop says so it
// returns early without a failure; only runs that `finished` was told of are done.
Result<void> run_jobs(const std::vector<Simulation>& simulations, const std::vector<Job>& jobs,
                      unsigned threads, const Watch& watch, const Finished& finished);

}  // namespace plackett
