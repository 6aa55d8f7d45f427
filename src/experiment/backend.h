// Where runs happen: the seam between an experiment and the machines that do its runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plackett/result.h"
#include "plackett/simulation.h"

namespace plackett {

// One run of one simulation.
struct Job {
  std::size_t simulation = 0;  // index
  std::uint32_t run = 0;
};

// Takes a finished run.
using Finished = std::function<Result<void>(const Job& job, RunRecord record)>;

// A batch of jobs. What it refers to outlives the call that is given it.
struct Batch {
  std::span<const Simulation> simulations;
  std::span<const Job> jobs;
};

// Does runs. The contract, which tests/experiment/backend_test.cc holds every backend to: the
// record of a job is that of Simulation::run, to the bit, except its times, whatever else is in the
// batch.
class Backend {
 public:
  virtual ~Backend() = default;

  // What it is, for a person: "2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
  // How many runs are done at a time, for timings.
  [[nodiscard]] virtual unsigned width() const = 0;
  // Whether several threads may call run() at once, so that batches are done beside each other.
  [[nodiscard]] virtual bool can_be_shared() const { return false; }
  // The largest batch that run() should be given.
  [[nodiscard]] virtual std::size_t max_batch() const = 0;

  // Does each job of the batch at most once and gives each record to `finished`, in any order and
  // one call at a time. If a run or `finished` fails, starts no more jobs and returns that failure;
  // if several fail, that of the earliest job. If watch.stop() returns true, starts no more jobs,
  // leaves unfinished ones, and returns success: the jobs that `finished` was told of are done.
  // Calls watch as Simulation::run does.
  virtual Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) = 0;

 protected:
  Backend() = default;
  Backend(const Backend&) = default;
  Backend& operator=(const Backend&) = default;
};

// Threads of this machine.
class ThreadBackend final : public Backend {
 public:
  // 0: one per core. `why`: that it is threads, if a GPU would have been preferred.
  explicit ThreadBackend(unsigned threads, std::string why = {});

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] unsigned width() const override { return threads_; }
  [[nodiscard]] std::size_t max_batch() const override { return ~std::size_t{0}; }
  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override;

 private:
  unsigned threads_;
  std::string why_;
};

// A backend that does some of the runs.
class DeviceBackend : public Backend {
 public:
  // Fails if it can't do the runs of this simulation; the message names what it lacks.
  [[nodiscard]] virtual Result<void> check(const Simulation& simulation) const = 0;
};

// The first GPU. Fails if there is none that can be used. The room `gpu`, which uses this one, has
// it: this one is linked with it.
Result<std::unique_ptr<DeviceBackend>> make_gpu_backend();

// The same, if its results are those of this processor.
Result<std::unique_ptr<DeviceBackend>> usable_gpu();
// Fails if no GPU, of any size, does the runs of this simulation; the message names what it lacks.
// Needs no GPU.
Result<void> check_for_gpu(const Simulation& simulation);

// A device for the runs that it can do, which are done first, and threads for the others: also for
// those that a device that fails has left.
class SharedBackend final : public Backend {
 public:
  SharedBackend(std::unique_ptr<DeviceBackend> device, unsigned threads)
      : device_(std::move(device)), threads_(threads) {}

  [[nodiscard]] std::string description() const override {
    return device_->description() + " and " + threads_.description();
  }
  [[nodiscard]] unsigned width() const override { return threads_.width(); }
  [[nodiscard]] std::size_t max_batch() const override { return ~std::size_t{0}; }
  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override;

 private:
  std::unique_ptr<DeviceBackend> device_;
  ThreadBackend threads_;
};

// What the options ask for; tells watch.told_device. Fails if that is a GPU and there is none that
// can be used.
Result<std::unique_ptr<Backend>> make_backend(const RunOptions& options);

// Run 0 of every simulation, then run 1 of every simulation, ...: if the work is stopped, all of
// them are equally far.
std::vector<Job> run_major(std::span<const Simulation> simulations);

// Does all jobs, in batches and in their order. Fails and stops as Backend::run does.
Result<void> run_jobs(const Batch& work, Backend& backend, const Watch& watch,
                      const Finished& finished);

}  // namespace plackett
