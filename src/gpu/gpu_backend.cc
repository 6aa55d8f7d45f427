#include "gpu/gpu_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "experiment/curve.h"
#include "experiment/run_inputs.h"
#include "gpu/device_method.h"
#include "gpu/network_parameters.h"
#include "gpu/resident.h"
#include "gpu/run_group.h"

namespace plackett::gpu {
namespace {

// Runs that are done together, per multiprocessor, at most: more than it does at a time.
constexpr std::size_t kRunsPerProcessor = 64;
// Groups that are done at a time, each by a thread of its own, at most.
constexpr unsigned kGroupsAtOnce = 8;
// Of the free memory, the part that is used.
constexpr double kMemoryShare = 0.9;
// How often a call that waits for memory asks whether to stop.
constexpr auto kBetweenStops = std::chrono::milliseconds(50);
std::uint64_t room_of(std::uint64_t bytes) {
  return static_cast<std::uint64_t>(kMemoryShare * static_cast<double>(bytes));
}

Error lacks(const SimulationSpec& spec, std::string_view what) {
  return Error{fmt::format("{} under {}: no device does {}; device cpu or auto does", spec.label,
                           spec.click_model, what)};
}

// Whether a device of any size does such runs.
Result<void> check_spec(const Simulation& simulation) {
  const SimulationSpec& spec = simulation.spec();
  const RunInputs inputs(simulation);
  if (!spec.drift.empty()) return lacks(spec, "drift");
  if (!spec.metrics.empty()) return lacks(spec, "metrics besides NDCG@10");
  if (spec.validate) return lacks(spec, "the choice of settings on validation queries");
  if (!DeviceUser::can_be_made(inputs.user(), spec.shown)) {
    return lacks(spec, "users of your own without ends()");
  }
  return {};
}

// As device_method(), with the spec in the error.
Result<DeviceMethod> method_of(const SimulationSpec& spec, Learner& learner) {
  auto method = device_method(spec, learner);
  if (!method) return lacks(spec, method.error().message);
  return method;
}

// What all runs of a simulation on a fold have in common.
struct FoldRuns {
  const Simulation* simulation = nullptr;
  DeviceMethod method;
  const Split* train = nullptr;
  const Split* measured = nullptr;
  SplitSize train_size;
  SplitSize measured_size;
  GroupShape shape;  // of one run alone

  void add_to(Needs& needs) const {
    needs.add(key_of(*train), train_size.bytes);
    needs.add(key_of(*measured), measured_size.bytes);
    const User& user = RunInputs(*simulation).user();
    needs.add(UserKey(&user, shape.shown), DeviceUser::bytes(user, shape.shown));
  }
};

struct PreparedJob {
  Job job;
  std::size_t place = 0;  // in the batch
  const FoldRuns* runs = nullptr;
};

// Jobs whose runs are done together.
struct JobGroup {
  std::vector<PreparedJob> jobs;  // in the batch's order
  GroupShape shape;
  std::uint64_t bytes = 0;  // of memory, apart from splits and users
};

// What groups take of the device's.
struct Memory {
  Needs needs;
  std::uint64_t own = 0;  // bytes, apart from these
};

// Such a group with what it needs to be run.
struct ReadyGroup {
  JobGroup jobs;
  std::vector<GroupRun> runs;
  std::unique_ptr<RunGroup> group;
};

// What a call of run() holds of the device's memory.
struct Held {
  Resident resident;
  std::vector<ReadyGroup> groups = {};

  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t bytes = resident.bytes();
    for (const ReadyGroup& ready : groups) bytes += ready.jobs.bytes;
    return bytes;
  }
};

struct Failure {
  std::size_t place = 0;  // of the job
  Error error;
  bool is_of_run = false;  // a run diverged: others go on
};

class GpuBackend final : public DeviceBackend {
 public:
  GpuBackend(std::unique_ptr<Device> device, double normal_error)
      : device_(std::move(device)), normal_error_(normal_error) {}

  [[nodiscard]] std::string description() const override { return device_->name(); }
  // Many runs are done at a time; each one's times are its share of the device's.
  [[nodiscard]] unsigned width() const override { return 1; }
  [[nodiscard]] bool can_be_shared() const override { return true; }
  [[nodiscard]] std::size_t max_batch() const override { return ~std::size_t{0}; }

  [[nodiscard]] Result<void> check(const Simulation& simulation) const override {
    const auto folds = folds_of(simulation);
    if (!folds) return folds.error();
    return {};
  }

  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override {
    std::vector<std::vector<FoldRuns>> folds(batch.simulations.size());
    std::vector<PreparedJob> left;
    for (std::size_t place = 0; place < batch.jobs.size(); ++place) {
      const Job& job = batch.jobs[place];
      const Simulation& simulation = batch.simulations[job.simulation];
      std::vector<FoldRuns>& own = folds[job.simulation];
      if (own.empty()) {
        auto made = folds_of(simulation);
        if (!made) return made.error();
        own = std::move(made).value();
      }
      left.push_back({job, place, &own[RunInputs(simulation).fold(job.run)]});
    }
    Call call(*this);
    while (!left.empty()) {
      if (watch.stop && watch.stop()) return {};
      auto failure = make_groups_ready(left, call, watch);
      run_groups(call.held().groups, watch, finished, failure);
      call.release_groups();
      if (failure) return failure->error;
    }
    return {};
  }

 private:
  // A call of run(). Several share the device's memory: each takes a turn at planning what it does
  // next and allocating for that, so that the memory is there that it plans with.
  class Call {
   public:
    explicit Call(GpuBackend& backend) : backend_(backend), held_{Resident(*backend.device_)} {
      const std::lock_guard lock(backend_.turn_);
      backend_.calls_.push_back(this);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    ~Call() {
      const std::lock_guard lock(backend_.turn_);
      release();
      std::erase(backend_.calls_, this);
    }

    // To be changed in its turn only.
    [[nodiscard]] Held& held() { return held_; }
    void release_groups() {
      const std::lock_guard lock(backend_.turn_);
      if (held_.groups.empty()) return;
      held_.groups.clear();
      backend_.tell_of_memory();
    }
    // All that it holds. Requires: it is its turn.
    void release() {
      if (held_.bytes() == 0) return;
      held_.groups.clear();
      held_.resident.make_room({}, 0);
      backend_.tell_of_memory();
    }

   private:
    GpuBackend& backend_;
    Held held_;
  };

  // Requires: a call's turn.
  void tell_of_memory() {
    ++times_released_;
    released_.notify_all();
  }
  // Likewise. What all calls hold.
  [[nodiscard]] std::uint64_t held_bytes() const {
    std::uint64_t bytes = 0;
    for (Call* call : calls_) bytes += call->held().bytes();
    return bytes;
  }
  // Likewise. As if no call held memory.
  [[nodiscard]] Result<DeviceLimits> limits() const {
    auto limits = device_->limits();
    if (limits) limits->free_bytes += held_bytes();
    return limits;
  }

  // One per fold. Fails if the runs of one can't be done.
  [[nodiscard]] Result<std::vector<FoldRuns>> folds_of(const Simulation& simulation) const {
    if (auto able = check_spec(simulation); !able) return able.error();
    const auto limits = [this] {
      const std::lock_guard lock(turn_);
      return this->limits();
    }();
    if (!limits) return limits.error();
    const std::uint32_t count = RunInputs(simulation).fold_count();
    std::vector<FoldRuns> folds;
    for (std::uint32_t fold = 0; fold < count; ++fold) {
      auto runs = fold_runs(simulation, fold, *limits);
      if (!runs) return runs.error();
      folds.push_back(std::move(runs).value());
    }
    return folds;
  }

  // Of the fold that run `number` has.
  [[nodiscard]] Result<FoldRuns> fold_runs(const Simulation& simulation, std::uint32_t number,
                                           const DeviceLimits& limits) const {
    const SimulationSpec& spec = simulation.spec();
    const RunInputs inputs(simulation);
    const auto learner = inputs.learner(number);
    if (!learner) return learner.error();
    const auto method = method_of(spec, **learner);
    if (!method) return method.error();
    if (method->network.exists()) {
      const std::uint32_t needed = least_shared_bytes({.kernel = method->kernel,
                                                       .duels = method->data.duels,
                                                       .network = method->network,
                                                       .shown = spec.shown});
      if (needed > limits.shared_bytes) {
        return lacks(
            spec, fmt::format("networks of {} parameters, which need {} bytes of a "
                              "block's memory where there are {}",
                              (*learner)->ranker().parameter_count(), needed, limits.shared_bytes));
      }
    }
    const Fold& fold = inputs.loaded_fold(number);
    const Split& measured = inputs.measured(fold);
    FoldRuns runs{.simulation = &simulation,
                  .method = *method,
                  .train = &fold.train,
                  .measured = &measured,
                  .train_size = SplitSize(fold.train),
                  .measured_size = SplitSize(measured),
                  .shape = {}};
    runs.shape = {.kernel = method->kernel,
                  .duels = method->data.duels,
                  .network = method->network,
                  .has_squares = method->has_squares,
                  .runs = 1,
                  .width = padded_width(fold.train.feature_count()),
                  .shown = spec.shown,
                  .most_docs = runs.train_size.most_docs,
                  .usual_docs = runs.train_size.usual_docs,
                  .queries = measured.query_count(),
                  .tiles = runs.measured_size.tiles};
    if (auto fits = check_shared_memory(runs.shape, limits, device_->name()); !fits) {
      return fits.error();
    }
    Needs needs;
    runs.add_to(needs);
    const std::uint64_t bytes = needs.bytes() + group_bytes(runs.shape, limits);
    const std::uint64_t room = room_of(limits.free_bytes);
    if (bytes > room) return no_room(fold, bytes, room);
    return runs;
  }

  // `room`: what may be used.
  [[nodiscard]] Error no_room(const Fold& fold, std::uint64_t bytes, std::uint64_t room) const {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: {} needs {} bytes of its memory; {} may be used", device_->name(),
                             fold.name, bytes, room)};
  }

  // Gets the next jobs of `left` ready: groups that fit the device's memory together and beside
  // other calls'. While these leave no room for any, gives up what the call holds, so that no two
  // wait for each other, and waits. No group is ready if the watch stops it, or after a failure;
  // there may also be some beside a failure.
  std::optional<Failure> make_groups_ready(std::vector<PreparedJob>& left, Call& call,
                                           const Watch& watch) {
    std::unique_lock turn(turn_);
    while (true) {
      auto groups = next_groups(call.held(), left);
      std::optional<Failure> failure;
      if (groups) {
        failure = make_ready(*groups, left, call.held());
        if (!call.held().groups.empty()) return failure;
      } else {
        failure = Failure{.place = left.front().place, .error = groups.error()};
      }
      const bool others_hold = held_bytes() > call.held().bytes();
      if (!others_hold || failure->error.code != ErrorCode::kUnavailable) return failure;
      call.release();
      if (!wait_for_memory(turn, watch)) return {};
    }
  }

  // Until a call releases some. False if the watch stops it.
  bool wait_for_memory(std::unique_lock<std::mutex>& turn, const Watch& watch) {
    const std::uint64_t before = times_released_;
    while (times_released_ == before) {
      released_.wait_for(turn, kBetweenStops);
      turn.unlock();
      const bool is_stopped = watch.stop && watch.stop();
      turn.lock();
      if (is_stopped) return false;
    }
    return true;
  }

  // Takes from `left` the jobs that are done next. Those whose splits are there come first, so that
  // each split is sent once. Frees what the call needs no more, if that takes room.
  Result<std::vector<JobGroup>> next_groups(Held& held, std::vector<PreparedJob>& left) {
    const auto limits = this->limits();
    if (!limits) return limits.error();
    Resident& resident = held.resident;
    const std::uint64_t of_others = held_bytes() - held.bytes();
    const std::uint64_t of_all = room_of(limits->free_bytes);
    const std::uint64_t room = of_all - std::min(of_all, of_others);
    std::stable_partition(left.begin(), left.end(), [&resident](const PreparedJob& job) {
      return resident.has(key_of(*job.runs->train)) && resident.has(key_of(*job.runs->measured));
    });
    Memory memory;
    std::vector<JobGroup> groups;
    while (!left.empty() && groups.size() < kGroupsAtOnce) {
      JobGroup group = next_group(left, *limits, room, memory);
      if (group.jobs.empty()) break;
      groups.push_back(std::move(group));
    }
    if (groups.empty()) {
      const PreparedJob& job = left.front();
      Needs needs;
      job.runs->add_to(needs);
      return no_room(RunInputs(*job.runs->simulation).loaded_fold(job.job.run),
                     needs.bytes() + group_bytes(job.runs->shape, *limits), room);
    }
    resident.make_room(memory.needs, room - memory.own);
    return groups;
  }

  // A group of equal shape, if there is room for its first job, and `memory` with it.
  static JobGroup next_group(std::vector<PreparedJob>& left, const DeviceLimits& limits,
                             std::uint64_t room, Memory& memory) {
    const std::size_t most = kRunsPerProcessor * limits.processors;
    JobGroup group;
    std::vector<PreparedJob> later;
    for (const PreparedJob& job : left) {
      GroupShape next = job.runs->shape;
      if (group.jobs.size() == most || (!group.jobs.empty() && !next.fits(group.shape))) {
        later.push_back(job);
        continue;
      }
      next.runs = group.jobs.size() + 1;
      next.most_docs = std::max(next.most_docs, group.shape.most_docs);
      next.usual_docs = std::max(next.usual_docs, group.shape.usual_docs);
      next.queries = std::max(next.queries, group.shape.queries);
      next.tiles = std::max(next.tiles, group.shape.tiles);
      Needs more = memory.needs;
      job.runs->add_to(more);
      if (more.bytes() + memory.own + group_bytes(next, limits) > room) {
        later.push_back(job);
        continue;
      }
      memory.needs = std::move(more);
      group.shape = next;
      group.jobs.push_back(job);
    }
    if (group.jobs.empty()) return group;
    group.bytes = group_bytes(group.shape, limits);
    memory.own += group.bytes;
    left = std::move(later);
    std::sort(
        group.jobs.begin(), group.jobs.end(),
        [](const PreparedJob& one, const PreparedJob& other) { return one.place < other.place; });
    return group;
  }

  // All are prepared before any starts: to allocate, a driver without pools waits for what runs.
  // Where one lacks memory though there was room for it, its jobs and those of later ones are left
  // again; that is a failure only if none is ready.
  std::optional<Failure> make_ready(std::span<const JobGroup> groups,
                                    std::vector<PreparedJob>& left, Held& held) {
    std::optional<Failure> failure;
    for (const JobGroup& group : groups) {
      auto ready = make_ready(group, held.resident);
      if (!ready) {
        failure = Failure{.place = group.jobs.front().place, .error = ready.error()};
        break;
      }
      held.groups.push_back(std::move(ready).value());
    }
    // Other threads' runs read what this one has sent, and other calls may get its memory.
    if (auto sent = device_->finish(); !sent) {
      held.groups.clear();
      failure = Failure{.place = groups.front().jobs.front().place, .error = sent.error()};
    }
    if (!failure || failure->error.code != ErrorCode::kUnavailable) return failure;
    put_back(groups.subspan(held.groups.size()), left);
    if (!held.groups.empty()) return {};
    return failure;
  }

  Result<ReadyGroup> make_ready(const JobGroup& jobs, Resident& resident) {
    ReadyGroup ready{.jobs = jobs, .runs = {}, .group = {}};
    for (const PreparedJob& job : jobs.jobs) {
      auto run = make_run(job, resident);
      if (!run) return run.error();
      ready.runs.push_back(std::move(*run));
    }
    auto group = prepare_group(*device_, ready.runs);
    if (!group) return group.error();
    ready.group = std::move(group).value();
    return ready;
  }

  static void put_back(std::span<const JobGroup> groups, std::vector<PreparedJob>& left) {
    for (const JobGroup& group : groups) {
      left.insert(left.end(), group.jobs.begin(), group.jobs.end());
    }
    std::sort(left.begin(), left.end(), [](const PreparedJob& one, const PreparedJob& other) {
      return one.place < other.place;
    });
  }

  // Beside each other: few runs leave much of the device idle. Sets `failure` to that of the
  // earliest job that failed.
  void run_groups(std::span<ReadyGroup> groups, const Watch& watch, const Finished& finished,
                  std::optional<Failure>& failure) {
    if (watch.run_started) {
      for (const ReadyGroup& ready : groups) {
        for (const PreparedJob& job : ready.jobs.jobs) {
          watch.run_started(job.runs->simulation->spec());
        }
      }
    }
    std::mutex mutex;
    std::optional<Error> refusal;  // of `finished`, which is not asked again then
    std::atomic<bool> failed{false};
    Watch inner = watch;
    inner.stop = [&] { return failed || (watch.stop && watch.stop()); };
    const Finished in_turn = [&](const Job& job, RunRecord record) -> Result<void> {
      const std::lock_guard lock(mutex);
      if (refusal) return *refusal;
      auto done = finished(job, std::move(record));
      if (done) return {};
      refusal = done.error();
      failed = true;
      return done;
    };
    parallel_for(kGroupsAtOnce, groups.size(), [&](std::size_t at) {
      if (inner.stop()) return;
      std::optional<Failure> failed_here;
      try {
        failed_here = run_jobs_together(groups[at], inner, in_turn);
      } catch (...) {
        // Nothing that was launched may use memory that others get.
        [[maybe_unused]] const auto idle = device_->finish();
        throw;
      }
      if (!failed_here) return;
      const std::lock_guard lock(mutex);
      if (!failed_here->is_of_run) failed = true;
      if (!failure || failed_here->place < failure->place) failure = std::move(failed_here);
    });
  }

  // Gives those that come to their ends to `finished`, also if others diverge or are stopped. Those
  // in doubt are done by the engine.
  std::optional<Failure> run_jobs_together(ReadyGroup& ready, const Watch& watch,
                                           const Finished& finished) {
    const std::vector<PreparedJob>& jobs = ready.jobs.jobs;
    const auto failed_at = [&jobs](std::size_t at, const Error& error) {
      return Failure{.place = jobs[at].place, .error = error};
    };
    const auto times =
        ready.group->run({.advanced = watch.advanced, .stop = watch.stop, .clock = &clock_});
    if (!times) {
      // Nothing that was launched may use memory that others get.
      [[maybe_unused]] const auto idle = device_->finish();
      return failed_at(0, times.error());
    }
    std::vector<GroupRun>& runs = ready.runs;
    const auto count = static_cast<double>(runs.size());
    std::optional<Failure> diverged;  // the earliest job that did
    const auto has_diverged = [&](std::size_t at, const Error& error) {
      if (diverged && diverged->place < jobs[at].place) return;
      diverged = failed_at(at, error);
      diverged->is_of_run = true;
    };
    // Nothing goes on then.
    const auto ended_at = [&](std::size_t at, const Error& error) {
      if (!diverged || diverged->place > jobs[at].place) return failed_at(at, error);
      return Failure{.place = diverged->place, .error = diverged->error};
    };
    std::vector<std::size_t> in_doubt;
    for (std::size_t at = 0; at < runs.size(); ++at) {
      const Job& job = jobs[at].job;
      GroupRun& run = runs[at];
      const RunInputs inputs(*jobs[at].runs->simulation);
      if (run.state.is_not_finite != 0) {
        has_diverged(at, inputs.not_finite(job.run, run.state.done));
        continue;
      }
      if (run.state.is_in_doubt != 0) {
        in_doubt.push_back(at);
        continue;
      }
      if (run.curve.size() < run.points.size()) continue;  // stopped before
      if (watch.run_done) watch.run_done();
      if (watch.learned) {
        auto learner = inputs.learner(job.run);
        if (!learner) return ended_at(at, learner.error());
        watch.learned(job.run, learned(run, std::move(learner).value()));
      }
      RunRecord record;
      record.run = job.run;
      record.fold = inputs.fold(job.run);
      record.curve = std::move(run.curve);
      record.evaluation_seconds = times->measuring / count;
      record.seconds = (times->learning + times->measuring) / count;
      if (auto done = finished(job, std::move(record)); !done) return ended_at(at, done.error());
    }
    for (const std::size_t at : in_doubt) {
      if (watch.stop && watch.stop()) break;
      const Job& job = jobs[at].job;
      auto record = run_by_engine(*jobs[at].runs->simulation, job.run, runs[at].state.done, watch);
      if (!record) {
        if (record.error().code == ErrorCode::kStopped) break;
        has_diverged(at, record.error());
        continue;
      }
      if (auto done = finished(job, std::move(*record)); !done) return ended_at(at, done.error());
    }
    return diverged;
  }

  Result<GroupRun> make_run(const PreparedJob& job, Resident& resident) {
    const Simulation& simulation = *job.runs->simulation;
    const DeviceMethod& method = job.runs->method;
    const SimulationSpec& spec = simulation.spec();
    const RunInputs inputs(simulation);
    const auto train = resident.split(*job.runs->train);
    if (!train) return train.error();
    const auto measured = resident.split(*job.runs->measured);
    if (!measured) return measured.error();
    const auto user = resident.user(inputs.user(), spec.shown);
    if (!user) return user.error();
    const auto learner = inputs.learner(job.job.run);
    if (!learner) return learner.error();
    GroupRun run;
    run.kernel = method.kernel;
    run.train = *train;
    run.measured = *measured;
    run.points = curve_points(spec);
    run.data = method.data;
    run.data.train = (*train)->data();
    run.data.measured = (*measured)->data();
    run.data.ends = (*user)->ends();
    run.data.seed = spec.seed;
    run.data.impressions = spec.impressions;
    run.data.run = job.job.run;
    run.data.duels.normal_error = normal_error_;
    run.data.grade_count = inputs.user().grade_count();
    run.data.shown = spec.shown;
    run.data.by_last_click = (*user)->by_last_click() ? 1U : 0U;
    count_queries(**measured, spec.no_relevant, run.data);
    run.state.learning_rate = (*learner)->state().learning_rate;
    run.network = method.network;
    const Ranker& ranker = (*learner)->ranker();
    run.data.features = ranker.feature_count();
    run.weights.resize(ranker.parameter_count());
    ranker.get_parameters(run.weights);
    if (!run.network.exists()) {
      run.weights.resize(run.data.train.width);
      return run;
    }
    run.weights = pack_network(run.network, run.data.features, NetworkPart::kAll, run.weights);
    if (method.has_squares) {
      run.squares = pack_network(run.network, run.data.features, NetworkPart::kNetwork,
                                 (*learner)->state().memory);
    }
    return run;
  }

  // A run that the device left after so many impressions, from its beginning.
  static Result<RunRecord> run_by_engine(const Simulation& simulation, std::uint32_t run,
                                         std::uint64_t done, const Watch& watch) {
    Watch rest = watch;
    rest.run_started = {};  // it has started, and come so far
    rest.advanced = [&watch, done](std::uint64_t count) mutable {
      const std::uint64_t again = std::min(count, done);
      done -= again;
      if (watch.advanced) watch.advanced(count - again);
    };
    return simulation.run(run, rest);
  }

  // How many queries count, and what those without relevant documents do.
  static void count_queries(const DeviceSplit& split, NoRelevant no_relevant, RunData& data) {
    const auto value = value_without_relevant(no_relevant);
    data.without_relevant = value.value_or(0);
    data.counted = split.data().query_count - (value ? 0 : split.queries_without_relevant());
  }

  static std::unique_ptr<Learner> learned(const GroupRun& run, std::unique_ptr<Learner> learner) {
    LearnerState state = learner->state();
    if (run.network.exists()) {
      learner->set_parameters(
          unpack_network(run.network, run.data.features, NetworkPart::kAll, run.weights));
      if (!run.squares.empty()) {
        state.memory =
            unpack_network(run.network, run.data.features, NetworkPart::kNetwork, run.squares);
      }
    } else {
      learner->set_parameters(std::span(run.weights).first(learner->ranker().parameter_count()));
    }
    state.learning_rate = run.state.learning_rate;
    state.updates = run.state.updates;
    if (!run.remembered.empty()) {
      state.memory.clear();
      const std::size_t features = run.data.features;
      for (std::size_t row = 0; row < run.remembered.size(); row += run.data.train.width) {
        const auto own = std::span(run.remembered).subspan(row, features);
        state.memory.insert(state.memory.end(), own.begin(), own.end());
      }
    }
    learner->restore(state);
    return learner;
  }

  std::unique_ptr<Device> device_;
  double normal_error_;
  ShareClock clock_;
  mutable std::mutex turn_;  // of a call; over the following, and what calls hold
  std::vector<Call*> calls_;
  std::condition_variable released_;
  std::uint64_t times_released_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBackend> make_device_backend(std::unique_ptr<Device> device,
                                                   double normal_error) {
  return std::make_unique<GpuBackend>(std::move(device), normal_error);
}

}  // namespace plackett::gpu

namespace plackett {

Result<std::unique_ptr<DeviceBackend>> make_gpu_backend() {
  auto gpu = gpu::open_gpu();
  if (!gpu) return gpu.error();
  return gpu::make_device_backend(std::move(gpu).value());
}

Result<void> check_for_gpu(const Simulation& simulation) {
  if (auto able = gpu::check_spec(simulation); !able) return able;
  const auto learner = RunInputs(simulation).learner(0);
  if (!learner) return learner.error();
  const auto method = gpu::method_of(simulation.spec(), **learner);
  if (!method) return method.error();
  return {};
}

}  // namespace plackett
