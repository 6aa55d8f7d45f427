#include "gpu/gpu_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "experiment/curve.h"
#include "experiment/run_inputs.h"
#include "gpu/device_method.h"
#include "gpu/network_parameters.h"
#include "gpu/run_group.h"

namespace plackett::gpu {
namespace {

// Runs that are done together, per multiprocessor, at most: more than it does at a time.
constexpr std::size_t kRunsPerProcessor = 64;
// Of the free memory, the part that is used.
constexpr double kMemoryShare = 0.9;

Error lacks(const SimulationSpec& spec, std::string_view what) {
  return Error{fmt::format("{} under {}: no device does {}; device cpu or auto does", spec.label,
                           spec.click_model, what)};
}

// What a job needs of its simulation.
struct PreparedJob {
  Job job;
  std::size_t place = 0;  // in the batch
  std::unique_ptr<Learner> learner;
  DeviceMethod method;
  std::shared_ptr<const Worlds> worlds;
  const Split* measured = nullptr;

  [[nodiscard]] const WorldFold& fold() const { return worlds->state(0); }
};

// Splits are the same if all their arrays are. One of a caller's may have the rows of another with
// other labels or fewer queries.
using SplitKey = std::tuple<const float*, const std::uint8_t*, const std::uint64_t*, std::uint32_t>;
SplitKey key_of(const Split& split) {
  const Split::Storage& storage = split.storage();
  return {storage.rows, storage.labels, storage.query_begin, storage.query_count};
}

// What lies in the device's memory for a group.
class Uploads {
 public:
  explicit Uploads(Device& device) : device_(device) {}

  Result<const DeviceSplit*> split(const Split& split, const NdcgTable* ndcg) {
    const auto found = splits_.find(key_of(split));
    if (found != splits_.end()) return &found->second;
    auto made =
        DeviceSplit::make(device_, split, ndcg != nullptr ? *ndcg : NdcgTable(split, kNdcgCut));
    if (!made) return made.error();
    return &splits_.emplace(key_of(split), std::move(made).value()).first->second;
  }

  Result<const DeviceUser*> user(const User& user, std::uint32_t shown) {
    const std::pair key(&user, shown);
    const auto found = users_.find(key);
    if (found != users_.end()) return &found->second;
    auto made = DeviceUser::make(device_, user, shown);
    if (!made) return made.error();
    return &users_.emplace(key, std::move(made).value()).first->second;
  }

 private:
  Device& device_;
  std::map<SplitKey, DeviceSplit> splits_;
  std::map<std::pair<const User*, std::uint32_t>, DeviceUser> users_;
};

class GpuBackend final : public DeviceBackend {
 public:
  GpuBackend(std::unique_ptr<Device> device, double normal_error)
      : device_(std::move(device)), normal_error_(normal_error) {}

  // Many runs are done at a time; each one's times are its share of theirs.
  [[nodiscard]] unsigned width() const override { return 1; }
  [[nodiscard]] std::size_t max_batch() const override { return ~std::size_t{0}; }

  [[nodiscard]] Result<void> check(const Simulation& simulation) const override {
    const SimulationSpec& spec = simulation.spec();
    const RunInputs inputs(simulation);
    if (!spec.drift.empty()) return lacks(spec, "drift");
    if (!spec.metrics.empty()) return lacks(spec, "metrics besides NDCG@10");
    if (spec.validate) return lacks(spec, "the choice of settings on validation queries");
    if (!inputs.user().ends(0, 0, 0)) return lacks(spec, "users of your own without ends()");
    const auto learner = inputs.learner(0);
    if (!learner) return learner.error();
    const auto method = device_method(spec, **learner);
    if (!method) return lacks(spec, method.error().message);
    if (!method->network.exists()) return {};
    const auto limits = device_->limits();
    if (!limits) return limits.error();
    const std::uint32_t needed = least_shared_bytes(method->network, spec.shown);
    if (needed <= limits->shared_bytes) return {};
    return lacks(spec,
                 fmt::format("networks of {} parameters, which need {} bytes of a block's "
                             "memory where there are {}",
                             (*learner)->ranker().parameter_count(), needed, limits->shared_bytes));
  }

  Result<void> run(const Batch& batch, const Watch& watch, const Finished& finished) override {
    std::vector<bool> is_checked(batch.simulations.size());
    std::vector<Pending> left;
    for (std::size_t place = 0; place < batch.jobs.size(); ++place) {
      const Job& job = batch.jobs[place];
      const Simulation& simulation = batch.simulations[job.simulation];
      if (!is_checked[job.simulation]) {
        if (auto able = check(simulation); !able) return able;
        is_checked[job.simulation] = true;
      }
      left.push_back({job, place});
    }
    while (!left.empty()) {
      if (watch.stop && watch.stop()) return {};
      auto group = next_group(batch, left);
      if (!group) return group.error();
      bool stopped = false;
      if (auto done = run_jobs_together(batch, *group, watch, finished, stopped); !done) {
        return done;
      }
      if (stopped) return {};
    }
    return {};
  }

 private:
  struct Pending {
    Job job;
    std::size_t place = 0;  // in the batch
  };

  // Takes from `left` the jobs that are done next: as many as fit the device's memory, of equal
  // shape.
  Result<std::vector<PreparedJob>> next_group(const Batch& batch, std::vector<Pending>& left) {
    const auto limits = device_->limits();
    if (!limits) return limits.error();
    const auto room =
        static_cast<std::uint64_t>(kMemoryShare * static_cast<double>(limits->free_bytes));
    const std::size_t most = kRunsPerProcessor * limits->processors;
    std::vector<PreparedJob> group;
    std::vector<Pending> later;
    std::set<SplitKey> splits;
    std::set<const User*> users;
    std::uint64_t shared_bytes = 0;  // of these
    GroupShape shape;                // of the group
    for (const Pending& pending : left) {
      if (group.size() == most) {
        later.push_back(pending);
        continue;
      }
      const Simulation& simulation = batch.simulations[pending.job.simulation];
      const RunInputs inputs(simulation);
      auto worlds = inputs.worlds(pending.job.run);
      if (!worlds) return worlds.error();
      const Fold& fold = (*worlds)->state(0).fold;
      const Split& measured = inputs.measured(fold);
      auto learner = inputs.learner(pending.job.run);
      if (!learner) return learner.error();
      const auto method = device_method(simulation.spec(), **learner);
      if (!method) return method.error();
      GroupShape next = {.kernel = method->kernel,
                         .duels = method->data.duels,
                         .network = method->network,
                         .has_squares = method->has_squares,
                         .runs = group.size() + 1,
                         .width = padded_width(fold.train.feature_count()),
                         .shown = simulation.spec().shown,
                         .most_docs = shape.most_docs,
                         .queries = std::max(shape.queries, measured.query_count())};
      if (!group.empty() && !next.fits(shape)) {
        later.push_back(pending);
        continue;
      }
      std::uint64_t bytes = shared_bytes;
      std::set<SplitKey> own_splits;
      for (const Split* split : {&fold.train, &measured}) {
        if (splits.contains(key_of(*split)) || !own_splits.insert(key_of(*split)).second) continue;
        bytes += DeviceSplit::bytes(*split);
        next.most_docs = std::max(next.most_docs, describe(*split, 0).max_docs);
      }
      if (!users.contains(&inputs.user())) bytes += DeviceUser::bytes(inputs.user(), next.shown);
      const std::uint64_t needed = bytes + group_bytes(next, *limits);
      if (needed > room) {
        if (group.empty()) {
          return Error{ErrorCode::kUnavailable,
                       fmt::format("{}: {} needs {} bytes of its memory; {} are free",
                                   device_->name(), fold.name, needed, limits->free_bytes)};
        }
        later.push_back(pending);
        continue;
      }
      splits.merge(own_splits);
      users.insert(&inputs.user());
      shared_bytes = bytes;
      shape = next;
      group.push_back(
          {pending.job, pending.place, std::move(*learner), *method, *worlds, &measured});
    }
    left = std::move(later);
    return group;
  }

  Result<void> run_jobs_together(const Batch& batch, std::vector<PreparedJob>& jobs,
                                 const Watch& watch, const Finished& finished, bool& stopped) {
    Uploads uploads(*device_);
    std::vector<GroupRun> runs;
    for (PreparedJob& job : jobs) {
      const Simulation& simulation = batch.simulations[job.job.simulation];
      if (watch.run_started) watch.run_started(simulation.spec());
      auto run = make_run(simulation, job, uploads);
      if (!run) return run.error();
      runs.push_back(std::move(*run));
    }
    const GroupWatch group_watch{.advanced = watch.advanced, .stop = watch.stop};
    const auto times = run_group(*device_, runs, group_watch);
    if (!times) return times.error();
    for (std::size_t at = 0; at < runs.size(); ++at) {
      if (runs[at].state.is_not_finite == 0) continue;
      const RunInputs inputs(batch.simulations[jobs[at].job.simulation]);
      return inputs.not_finite(jobs[at].job.run, runs[at].state.done);
    }
    const auto count = static_cast<double>(runs.size());
    for (std::size_t at = 0; at < runs.size(); ++at) {
      const Job& job = jobs[at].job;
      GroupRun& run = runs[at];
      if (run.state.is_in_doubt != 0 && !(watch.stop && watch.stop())) {
        auto record =
            run_by_engine(batch.simulations[job.simulation], job.run, run.state.done, watch);
        stopped = !record && record.error().code == ErrorCode::kStopped;
        if (stopped) return {};
        if (!record) return record.error();
        if (auto done = finished(job, std::move(*record)); !done) return done;
        continue;
      }
      if (run.curve.size() < run.points.size() || (watch.stop && watch.stop())) {
        stopped = true;
        return {};
      }
      if (watch.run_done) watch.run_done();
      if (watch.learned) watch.learned(job.run, learned(run, std::move(jobs[at].learner)));
      RunRecord record;
      record.run = job.run;
      record.fold = RunInputs(batch.simulations[job.simulation]).fold(job.run);
      record.curve = std::move(run.curve);
      record.evaluation_seconds = times->measuring / count;
      record.seconds = (times->learning + times->measuring) / count;
      if (auto done = finished(job, std::move(record)); !done) return done;
    }
    return {};
  }

  Result<GroupRun> make_run(const Simulation& simulation, PreparedJob& job, Uploads& uploads) {
    const SimulationSpec& spec = simulation.spec();
    const RunInputs inputs(simulation);
    const auto train = uploads.split(job.fold().fold.train, &job.fold().train_ndcg);
    if (!train) return train.error();
    const auto measured = uploads.split(*job.measured, nullptr);
    if (!measured) return measured.error();
    const auto user = uploads.user(inputs.user(), spec.shown);
    if (!user) return user.error();
    GroupRun run;
    run.kernel = job.method.kernel;
    run.train = *train;
    run.measured = *measured;
    run.points = curve_points(spec.impressions);
    run.data = job.method.data;
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
    count_queries(*job.measured, spec.no_relevant, run.data);
    run.state.learning_rate = job.learner->state().learning_rate;
    run.network = job.method.network;
    const Ranker& ranker = job.learner->ranker();
    run.data.features = ranker.feature_count();
    run.weights.resize(ranker.parameter_count());
    ranker.get_parameters(run.weights);
    if (!run.network.exists()) {
      run.weights.resize(run.data.train.width);
      return run;
    }
    run.weights = pack_network(run.network, run.data.features, NetworkPart::kAll, run.weights);
    if (job.method.has_squares) {
      run.squares = pack_network(run.network, run.data.features, NetworkPart::kNetwork,
                                 job.learner->state().memory);
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
  static void count_queries(const Split& split, NoRelevant no_relevant, RunData& data) {
    const auto value = value_without_relevant(no_relevant);
    data.without_relevant = value.value_or(0);
    const std::uint32_t without = describe(split, 0).queries_without_relevant;
    data.counted = split.query_count() - (value ? 0 : without);
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
      const std::size_t features = run.data.duels.features;
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

}  // namespace plackett
