// Starts experiments, finds them again after a restart, and deletes them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "serving/promotion.h"
#include "serving/stored_experiment.h"
#include "serving/warm_start.h"

namespace plackett::serving {
namespace {

constexpr std::size_t kMostExperiments = 1000;  // of one model

// Whether lists for `model` can be made by `other`.
void check_maker(const Model& model, const Model& other, const std::string& place) {
  const ModelSpec& own = model.spec;
  const ModelSpec& its = other.spec;
  if (its.ranker.feature_count != own.ranker.feature_count ||
      its.feature_names != own.feature_names) {
    refuse_conflict(
        fmt::format("the features of model \"{}\" differ from those of \"{}\"", its.name, own.name),
        place);
  }
  if (its.scaling != own.scaling) {
    refuse_conflict(fmt::format("the scaling of model \"{}\" is {}; that of \"{}\" is {}", its.name,
                                its.scaling, own.name, own.scaling),
                    place);
  }
  // Its lists take clicks for so long.
  if (its.open_seconds != own.open_seconds) {
    refuse_conflict(fmt::format("the open_seconds of model \"{}\" is {}; that of \"{}\" is {}",
                                its.name, its.open_seconds, own.name, own.open_seconds),
                    place);
  }
}

// Models that snapshots become, made on the caller's thread.
struct Fork {
  std::size_t arm = 0;
  std::int64_t snapshot = 0;
  ModelSpec spec;
  std::optional<Trainer> trainer{};
  ModelHandle model{};
};

std::vector<Fork> make_forks(const Model& model, const ExperimentSpec& spec) {
  std::vector<Fork> forks;
  for (std::size_t at = 0; at < spec.arms.size(); ++at) {
    const ArmPolicy policy = take(parse_arm_policy(spec.arms[at].policy));
    if (policy.source != ArmSource::kSnapshot) continue;
    Fork fork{.arm = at, .snapshot = policy.snapshot, .spec = model.spec};
    fork.spec.name = arm_model_name(model.spec.name, spec.name, spec.arms[at].name);
    fork.spec.logging = model.logging();
    if (!is_model_name(fork.spec.name)) {
      throw Failed{
          {ErrorCode::kInvalid,
           fmt::format("the arm's model would be named \"{}\"; names have at most {} bytes",
                       fork.spec.name, kMaxModelNameBytes),
           fmt::format("arms[{}].name", at)}};
    }
    fork.trainer = take(Trainer::start(fork.spec));
    forks.push_back(std::move(fork));
  }
  return forks;
}

// Whether the store has it: an earlier job of the transaction may have removed it.
bool is_stored(StoreReader& store, const Model& model) {
  const auto rows = take(store.models());
  return std::any_of(rows.begin(), rows.end(),
                     [&](const ModelRow& row) { return row.id == model.id; });
}

// Gives the snapshot that the fork starts from, if it can be made.
SnapshotRow check_fork(const ServiceParts& parts, const Model& model, const Fork& fork,
                       Transaction& transaction) {
  const std::string place = fmt::format("arms[{}].policy", fork.arm);
  auto snapshot = take(transaction.store.read().snapshot(fork.snapshot));
  if (!snapshot || snapshot->model != model.id) {
    throw Failed{{ErrorCode::kNotFound, fmt::format("no snapshot {}", fork.snapshot), place}};
  }
  if (parts.find(fork.spec.name) != nullptr || transaction.created.contains(fork.spec.name)) {
    refuse_conflict(fmt::format("model \"{}\" exists; the arm needs that name", fork.spec.name),
                    place);
  }
  if (auto fits = fitting_model(fork.spec, snapshot->file); !fits)
    refuse_conflict(fits.error().message, place);
  return *std::move(snapshot);
}

// The fork in the store, at the snapshot.
void insert_fork(const ServiceParts& parts, const Model& model, Fork& fork, SnapshotRow start,
                 Transaction& transaction) {
  fork.model = insert_model(parts, fork.spec, transaction);
  transaction.created[fork.spec.name] = fork.model;
  start.model = fork.model->id;
  start.log = 0;
  start.created_at = transaction.now;
  start.kind = SnapshotKind::kImported;
  start.note = fmt::format("snapshot {} of {}", fork.snapshot, model.spec.name);
  const std::int64_t id = take(transaction.store.insert_snapshot(start));
  take(transaction.log(fork.model, LogKind::kRollback, id));
}

void check_arms(const ServiceParts& parts, const Model& model, const ExperimentSpec& spec,
                StoreReader& store) {
  for (std::size_t at = 0; at < spec.arms.size(); ++at) {
    const ArmPolicy policy = take(parse_arm_policy(spec.arms[at].policy));
    if (policy.source != ArmSource::kOther) continue;
    const std::string place = fmt::format("arms[{}].policy", at);
    const ModelHandle other = parts.find(policy.model);
    if (other == nullptr || !is_stored(store, *other)) {
      throw Failed{{ErrorCode::kNotFound, fmt::format("no model \"{}\"", policy.model), place}};
    }
    check_maker(model, *other, place);
    if (!spec.promote) continue;
    const auto fits = promotable(model, *other);
    if (!fits) refuse_conflict("it can't be promoted: " + fits.error().message, place);
  }
}

}  // namespace

void recover_experiments(ServiceParts& parts) {
  const auto models = parts.all_models();
  for (ExperimentRow& row : take(parts.reader->experiments())) {
    const auto model = std::find_if(models.begin(), models.end(),
                                    [&](const ModelHandle& one) { return one->id == row.model; });
    if (model == models.end()) continue;  // it is being deleted
    const bool runs = row.ended_at == 0;
    const auto known = attempt([&] {
      const auto experiment = running_one(parts, *model, parse_stored(std::move(row)));
      if (runs) return publish(parts, *model, experiment);
      remember(**model, *experiment);
    });
    // Damaged: the models and the other experiments don't need it.
    if (!known) {
      parts.log(fmt::format("model {} is served without it: {}", (*model)->spec.name,
                            known.error().message));
    }
  }
}

void follow_experiments(ServiceParts& parts, const ModelHandle& model,
                        const std::vector<ExperimentRow>& rows) {
  if (model->removed) return;
  ExperimentHandle running;
  for (const ExperimentRow& row : rows) {
    const auto experiment = running_one(parts, model, parse_stored(row));
    if (row.ended_at == 0) {
      running = experiment;
    } else {
      remember(*model, *experiment);
      withdraw(parts, *model, row.id);
    }
  }
  const auto before = model->experiment.get();
  if (before != nullptr && (running == nullptr || before->id != running->id)) {
    withdraw(parts, *model, before->id);
  }
  // One that stays the same keeps counting its lists.
  if (running == nullptr ||
      (before != nullptr && before->id == running->id && before->stopped == running->stopped &&
       before->makers == running->makers)) {
    return;
  }
  publish(parts, model, running);
}

std::vector<ModelHandle> forks_of(const ServiceParts& parts, const Model& model,
                                  StoreReader& store) {
  std::vector<ModelHandle> forks;
  for (ExperimentRow& row : experiments_of(model, store)) {
    const auto stored = attempt([&] { return parse_stored(std::move(row)); });
    if (!stored) continue;  // damaged: it does not say which are its own
    for (ModelHandle& fork : forks_of(parts, model, *stored)) {
      if (is_stored(store, *fork)) forks.push_back(std::move(fork));
    }
  }
  return forks;
}

std::string arm_use(const ServiceParts& parts, const Model& model, std::int64_t owner_id,
                    StoreReader& store) {
  const auto models = parts.all_models();
  for (ExperimentRow& row : take(store.experiments())) {
    if (row.ended_at != 0 || row.model == model.id || row.model == owner_id) continue;
    const auto owner = std::find_if(models.begin(), models.end(),
                                    [&](const ModelHandle& one) { return one->id == row.model; });
    if (owner == models.end() || !is_stored(store, **owner)) continue;
    const auto stored = attempt([&] { return parse_stored(std::move(row)); });
    if (!stored) continue;  // damaged: it does not run
    const ExperimentSpec& spec = stored->spec;
    for (const ArmSpec& arm : spec.arms) {
      if (maker_name(**owner, spec, arm) != model.spec.name) continue;
      return fmt::format("model \"{}\" is an arm of experiment \"{}\", which runs", model.spec.name,
                         spec.name);
    }
  }
  return "";
}

void forget_experiments(ServiceParts& parts, const ModelHandle& model) {
  if (const auto running = model->experiment.get()) withdraw(parts, *model, running->id);
  model->clear_arm_models();
  for (const ModelHandle& other : parts.all_models()) other->remove_arm_model(model);
}

void Service::put_experiment(const ModelHandle& model, ExperimentSpec spec,
                             Done<PutExperiment> done) {
  struct State {
    ExperimentSpec spec;
    std::vector<Fork> forks{};
    bool is_new = false;
    ExperimentHandle experiment{};
  };
  auto state = std::make_shared<State>();
  const auto ready = attempt([&] {
    state->spec = take(check(std::move(spec)));
    state->forks = make_forks(*model, state->spec);
  });
  if (!ready) return done(ready.error());
  ServiceParts& parts = *parts_;
  const auto apply = [&parts, model, state](Transaction& transaction) {
    StoreReader& read = transaction.store.read();
    if (model->removed || !is_stored(read, *model)) throw Failed{model_removed()};
    transaction.lead(model);
    transaction.change(model);
    state->is_new = false;
    const auto rows = experiments_of(*model, read);
    for (const ExperimentRow& row : rows) {
      if (row.name == state->spec.name) {
        if (row.spec == to_json(state->spec)) return;
        refuse_conflict(fmt::format(
            "experiment \"{}\" exists with another spec; choose another name", row.name));
      }
    }
    for (const ExperimentRow& row : rows) {
      if (row.ended_at == 0) {
        refuse_conflict(fmt::format("experiment \"{}\" runs; a model has one at a time", row.name));
      }
    }
    if (rows.size() >= kMostExperiments) {
      throw Failed{{ErrorCode::kTooLarge,
                    fmt::format("the model has {} experiments; delete some", rows.size())}};
    }
    check_arms(parts, *model, state->spec, read);
    check_room(read, state->forks.size());
    std::vector<SnapshotRow> starts;
    for (const Fork& fork : state->forks) {
      starts.push_back(check_fork(parts, *model, fork, transaction));
    }
    // Nothing is refused from here on.
    std::map<std::string, ModelHandle> forks;
    for (std::size_t at = 0; at < state->forks.size(); ++at) {
      Fork& fork = state->forks[at];
      insert_fork(parts, *model, fork, std::move(starts[at]), transaction);
      forks[fork.spec.name] = fork.model;
    }
    std::vector<std::int64_t> makers;
    StoredExperiment stored{.row = {.model = model->id,
                                    .name = state->spec.name,
                                    .spec = to_json(state->spec),
                                    .started_at = transaction.now},
                            .spec = state->spec};
    for (const ArmSpec& arm : stored.spec.arms) {
      const ModelHandle maker = find_maker(parts, *model, stored, arm, forks);
      makers.push_back(maker == nullptr ? 0 : maker->id);
    }
    stored.state.makers = std::move(makers);
    stored.row.state = to_json(stored.state);
    stored.row.id = take(transaction.store.insert_experiment(stored.row));
    state->experiment = running_one(parts, model, stored, forks);
    state->is_new = true;
  };
  const auto committed = [&parts, model, state] {
    if (!state->is_new) return;
    for (Fork& fork : state->forks) serve_model(parts, fork.model, *std::move(fork.trainer));
    publish(parts, model, state->experiment);
  };
  const auto answer = [this, model, state, done](const Result<void>& settled) {
    if (!settled) return done(settled.error());
    auto info = experiment(*model, state->spec.name);
    if (!info) return done(info.error());
    done(PutExperiment{*std::move(info), state->is_new});
  };
  with_lead(parts, model, done, [&parts, model, apply, committed, answer] {
    parts.writer->submit({.apply = apply,
                          .committed = committed,
                          .answer = answer,
                          .touched = {.models = {model->id}}});
  });
}

void Service::delete_experiment(const ModelHandle& model, std::string name, Done<void> done) {
  ServiceParts& parts = *parts_;
  auto forks = std::make_shared<std::vector<ModelHandle>>();
  const auto apply = [&parts, model, name = std::move(name), forks](Transaction& transaction) {
    if (model->removed) throw Failed{model_removed()};
    transaction.change(model);
    StoreReader& read = transaction.store.read();
    const StoredExperiment stored = find_experiment(*model, name, read);
    if (stored.row.ended_at == 0) {
      refuse_conflict(fmt::format("experiment \"{}\" runs; stop it first", name));
    }
    if (stored.state.before &&
        stored.state.promotion == promotions_of(experiments_of(*model, read)).last) {
      refuse_conflict(fmt::format(
          "experiment \"{}\" is needed to undo its promotion; undo it first, or promote another",
          name));
    }
    *forks = forks_of(parts, *model, stored);
    std::erase_if(*forks, [&](const ModelHandle& fork) { return !is_stored(read, *fork); });
    for (const ModelHandle& fork : *forks) {
      const std::string use = arm_use(parts, *fork, model->id, read);
      if (!use.empty()) refuse_conflict(use);
    }
    for (const ModelHandle& fork : *forks) transaction.remove(fork);
    delete_stored(parts, *model, stored, transaction.store);
  };
  parts.writer->submit({.apply = apply,
                        .committed =
                            [&parts, forks] {
                              for (const ModelHandle& fork : *forks) stop_serving(parts, fork);
                            },
                        .answer = std::move(done),
                        .touched = {.models = with_arms(*model)}});
}

}  // namespace plackett::serving
