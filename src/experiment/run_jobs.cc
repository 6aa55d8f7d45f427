#include "experiment/run_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>

#include "base/parallel.h"

namespace plackett {

std::vector<Job> run_major(const std::vector<Simulation>& simulations) {
  std::vector<Job> jobs;
  std::uint32_t most_runs = 0;
  for (const Simulation& simulation : simulations) {
    most_runs = std::max(most_runs, simulation.spec().runs);
  }
  for (std::uint32_t run = 0; run < most_runs; ++run) {
    for (std::size_t at = 0; at < simulations.size(); ++at) {
      if (run < simulations[at].spec().runs) jobs.push_back({at, run});
    }
  }
  return jobs;
}

Result<void> run_jobs(const std::vector<Simulation>& simulations, const std::vector<Job>& jobs,
                      unsigned threads, const Watch& watch, const Finished& finished) {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t failed_at = jobs.size();
  std::optional<Error> failure;
  const auto fail = [&](std::size_t at, const Error& error) {
    if (at >= failed_at) return;
    failed_at = at;
    failure = error;
    failed = true;
  };
  Watch inner = watch;
  inner.stop = [&] {
    return failed.load(std::memory_order_relaxed) || (watch.stop && watch.stop());
  };
  try {
    parallel_for(threads, jobs.size(), [&](std::size_t at) {
      if (inner.stop()) return;
      auto record = simulations[jobs[at].simulation].run(jobs[at].run, inner);
      const std::lock_guard lock(mutex);
      if (!record) {
        if (record.error().message != kStopped) fail(at, record.error());
        return;
      }
      if (auto kept = finished(jobs[at], std::move(record).value()); !kept) fail(at, kept.error());
    });
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("out of memory with {} runs at a time; fewer threads or a smaller "
                    "ranker may fit",
                    std::min<std::size_t>(threads, jobs.size()))};
  }
  if (failure) return *failure;
  return {};
}

}  // namespace plackett
