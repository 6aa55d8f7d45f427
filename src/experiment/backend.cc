#include "experiment/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/kernels.h"
#include "base/parallel.h"

namespace plackett {

ThreadBackend::ThreadBackend(unsigned threads, std::string why)
    : threads_(thread_count(threads)), why_(std::move(why)) {}

std::string ThreadBackend::description() const {
  return fmt::format("{} thread{}{}", threads_, threads_ == 1 ? "" : "s",
                     why_.empty() ? "" : fmt::format(" ({})", why_));
}

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

Result<void> SharedBackend::run(const Batch& batch, const Watch& watch, const Finished& finished) {
  std::vector<bool> on_device;
  for (const Simulation& simulation : batch.simulations) {
    on_device.push_back(device_->check(simulation).ok());
  }
  std::vector<Job> device_jobs;
  std::vector<Job> thread_jobs;
  for (const Job& job : batch.jobs) {
    (on_device[job.simulation] ? device_jobs : thread_jobs).push_back(job);
  }
  // Times are those of as many runs at a time as there are threads.
  const double scale = static_cast<double>(width()) / device_->width();
  std::set<std::pair<std::size_t, std::uint32_t>> finished_jobs;
  bool refused = false;                 // by `finished`
  std::atomic<std::uint64_t> ahead{0};  // impressions of runs that are not finished
  Watch device_watch = watch;
  device_watch.advanced = [&](std::uint64_t count) {
    ahead += count;
    if (watch.advanced) watch.advanced(count);
  };
  const Finished scaled = [&](const Job& job, RunRecord record) {
    record.seconds *= scale;
    record.evaluation_seconds *= scale;
    auto done = finished(job, std::move(record));
    refused = refused || !done;
    finished_jobs.emplace(job.simulation, job.run);
    ahead -= batch.simulations[job.simulation].spec().impressions;
    return done;
  };
  auto done = run_jobs({batch.simulations, device_jobs}, *device_, device_watch, scaled);
  if (watch.stop && watch.stop()) return done;
  Watch thread_watch = watch;
  if (!done) {
    if (refused || done.error().code != ErrorCode::kUnavailable) return done;
    // The device failed, or has less room than it had. What it began is not counted twice.
    thread_jobs.clear();
    for (const Job& job : batch.jobs) {
      if (!finished_jobs.contains({job.simulation, job.run})) thread_jobs.push_back(job);
    }
    thread_watch.advanced = [&](std::uint64_t count) {
      std::uint64_t left = ahead;
      while (!ahead.compare_exchange_weak(left, left - std::min(left, count))) {
      }
      if (watch.advanced) watch.advanced(count - std::min(left, count));
    };
    if (watch.told_device) {
      watch.told_device(ThreadBackend(threads_.width(), done.error().message).description());
    }
  }
  if (thread_jobs.empty()) return {};
  return threads_.run({batch.simulations, thread_jobs}, thread_watch, finished);
}

// A device has the bits of processors that fuse, and a results folder is of one arithmetic.
Result<std::unique_ptr<DeviceBackend>> usable_gpu() {
  const std::string_view name = kernels().name;
  if (name == "avx2" || name == "avx512") return make_gpu_backend();
  return Error{ErrorCode::kUnavailable,
               fmt::format("no usable GPU: it computes as processors with AVX2 do; this one runs "
                           "the kernels {}, which round otherwise",
                           name)};
}

Result<std::unique_ptr<Backend>> make_backend(const RunOptions& options) {
  std::unique_ptr<Backend> backend;
  if (options.device == Device::kCpu) {
    backend = std::make_unique<ThreadBackend>(options.threads);
  } else {
    auto gpu = usable_gpu();
    if (options.device == Device::kGpu) {
      if (!gpu) return gpu.error();
      backend = std::move(gpu).value();
    } else if (gpu) {
      backend = std::make_unique<SharedBackend>(std::move(gpu).value(), options.threads);
    } else {
      backend = std::make_unique<ThreadBackend>(options.threads, gpu.error().message);
    }
  }
  if (options.watch.told_device) options.watch.told_device(backend->description());
  return backend;
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
