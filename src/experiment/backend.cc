#include "experiment/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>

#include "base/parallel.h"

namespace plackett {

ThreadBackend::ThreadBackend(unsigned threads) : threads_(thread_count(threads)) {}

Result<void> ThreadBackend::run(const Batch& batch, const Watch& watch, const Finished& finished) {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t failed_at = batch.jobs.size();
  std::optional<Error> failure;
  Watch inner = watch;
  inner.stop = [&] {
    return failed.load(std::memory_order_relaxed) || (watch.stop && watch.stop());
  };
  try {
    parallel_for(threads_, batch.jobs.size(), [&](std::size_t at) {
      if (inner.stop()) return;
      const Job& job = batch.jobs[at];
      auto record = batch.simulations[job.simulation].run(job.run, inner);
      const std::lock_guard lock(mutex);
      const Result<void> done =
          record ? finished(job, std::move(record).value()) : Result<void>(record.error());
      if (done || done.error().code == ErrorCode::kStopped || at >= failed_at) return;
      failed_at = at;
      failure = done.error();
      failed = true;
    });
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("out of memory with {} runs at a time; fewer threads or a smaller "
                             "ranker may fit",
                             std::min<std::size_t>(threads_, batch.jobs.size()))};
  }
  if (failure) return *failure;
  return {};
}

std::vector<Job> run_major(std::span<const Simulation> simulations) {
  std::vector<Job> jobs;
  for (std::size_t at = 0; at < simulations.size(); ++at) {
    for (std::uint32_t run = 0; run < simulations[at].spec().runs; ++run) jobs.push_back({at, run});
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& one, const Job& other) { return one.run < other.run; });
  return jobs;
}

Result<void> run_jobs(const Batch& work, Backend& backend, const Watch& watch,
                      const Finished& finished) {
  for (std::size_t done = 0; done < work.jobs.size();) {
    if (watch.stop && watch.stop()) return {};
    const std::size_t size = std::min(backend.max_batch(), work.jobs.size() - done);
    const Batch batch{work.simulations, work.jobs.subspan(done, size)};
    if (auto ran = backend.run(batch, watch, finished); !ran) return ran;
    done += size;
  }
  return {};
}

}  // namespace plackett
