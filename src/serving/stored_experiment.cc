#include "serving/stored_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace plackett::serving {

StoredExperiment parse_stored(ExperimentRow row) {
  auto parsed = attempt([&] {
    auto spec = take(parse_experiment_spec(row.spec));
    auto state = take(parse_experiment_state(row.state));
    return std::pair(std::move(spec), std::move(state));
  });
  if (!parsed) throw Failed{parsed.error().in("experiment " + row.name)};
  return {std::move(row), std::move(parsed->first), std::move(parsed->second)};
}

std::vector<ExperimentRow> experiments_of(const Model& model, StoreReader& store) {
  auto rows = take(store.experiments());
  std::erase_if(rows, [&](const ExperimentRow& row) { return row.model != model.id; });
  return rows;
}

StoredExperiment find_experiment(const Model& model, std::string_view name, StoreReader& store) {
  for (ExperimentRow& row : experiments_of(model, store)) {
    if (row.name == name) return parse_stored(std::move(row));
  }
  throw Failed{{ErrorCode::kNotFound, fmt::format("unknown experiment \"{}\"", name)}};
}

void write_state(Transaction& transaction, StoredExperiment& stored) {
  stored.row.state = to_json(stored.state);
  take(transaction.store.set_experiment_state(stored.row));
}

std::string maker_name(const Model& model, const ExperimentSpec& spec, const ArmSpec& arm) {
  const ArmPolicy policy = take(parse_arm_policy(arm.policy));
  switch (policy.source) {
    case ArmSource::kModel:
      return model.spec.name;
    case ArmSource::kGiven:
      return "";
    case ArmSource::kSnapshot:
      return arm_model_name(model.spec.name, spec.name, arm.name);
    case ArmSource::kOther:
      return policy.model;
  }
  return "";
}

ModelHandle find_maker(const ServiceParts& parts, const Model& model,
                       const StoredExperiment& stored, const ArmSpec& arm,
                       const std::map<std::string, ModelHandle>& forks) {
  const std::string name = maker_name(model, stored.spec, arm);
  if (name.empty() || name == model.spec.name) return nullptr;
  const auto fork = forks.find(name);
  ModelHandle maker = fork != forks.end() ? fork->second : parts.find(name);
  // Another model may have the name by now.
  const auto& arms = stored.spec.arms;
  const auto& makers = stored.state.makers;
  for (std::size_t at = 0; maker != nullptr && at < std::min(arms.size(), makers.size()); ++at) {
    if (arms[at].name == arm.name && makers[at] != maker->id) return nullptr;
  }
  return maker;
}

std::vector<ModelHandle> forks_of(const ServiceParts& parts, const Model& model,
                                  const StoredExperiment& stored) {
  std::vector<ModelHandle> forks;
  for (const ArmSpec& arm : stored.spec.arms) {
    if (take(parse_arm_policy(arm.policy)).source != ArmSource::kSnapshot) continue;
    if (ModelHandle fork = find_maker(parts, model, stored, arm)) forks.push_back(std::move(fork));
  }
  return forks;
}

ExperimentHandle running_one(const ServiceParts& parts, const ModelHandle& model,
                             const StoredExperiment& stored,
                             const std::map<std::string, ModelHandle>& forks) {
  auto experiment = std::make_shared<Experiment>();
  experiment->id = stored.row.id;
  experiment->started_at = stored.row.started_at;
  experiment->spec = stored.spec;
  for (const ArmSpec& arm : stored.spec.arms) {
    const std::string name = maker_name(*model, stored.spec, arm);
    ModelHandle maker = find_maker(parts, *model, stored, arm, forks);
    const bool is_lost = maker == nullptr && !name.empty() && name != model->spec.name;
    experiment->stopped.push_back(is_lost || stored.state.find_stopped(arm.name) != nullptr ? 1
                                                                                            : 0);
    experiment->makers.push_back(std::move(maker));
  }
  return experiment;
}

void remember(Model& model, const Experiment& experiment) {
  model.add_experiment(experiment.id);
  for (std::size_t arm = 0; arm < experiment.makers.size(); ++arm) {
    const ModelHandle& maker = experiment.makers[arm];
    if (maker == nullptr) continue;
    model.add_arm_model(maker);
    const ArmPolicy policy = take(parse_arm_policy(experiment.spec.arms[arm].policy));
    if (policy.source == ArmSource::kSnapshot) model.add_fork(maker);
  }
}

void remember_all(const ServiceParts& parts, const ModelHandle& model, StoreReader& store) {
  const auto others = parts.all_models();
  const auto any_of = [&](const ExperimentRow& row, const auto& is_maker) {
    model->add_experiment(row.id);
    for (const ModelHandle& other : others) {
      if (other != model && is_maker(*other)) model->add_arm_model(other);
    }
  };
  // A damaged row does not say which models made lists for it, but those lists have its number.
  const auto all = [](const Model&) { return true; };
  for (const ExperimentRow& row : experiments_of(*model, store)) {
    const auto known =
        attempt([&] { remember(*model, *running_one(parts, model, parse_stored(row))); });
    if (!known) any_of(row, all);
  }
  for (const ExperimentRow& row : take(store.retired_experiments(model->id))) {
    const auto state = parse_experiment_state(row.state);
    if (!state) {
      any_of(row, all);
      continue;
    }
    const auto& makers = state->makers;
    any_of(row, [&](const Model& other) {
      return std::find(makers.begin(), makers.end(), other.id) != makers.end();
    });
  }
}

void delete_stored(const ServiceParts& parts, const Model& model, const StoredExperiment& stored,
                   Store& store) {
  ExperimentState left;
  for (const ArmSpec& arm : stored.spec.arms) {
    if (take(parse_arm_policy(arm.policy)).source != ArmSource::kOther) continue;
    const ModelHandle maker = find_maker(parts, model, stored, arm);
    if (maker != nullptr && maker->id != model.id) left.makers.push_back(maker->id);
  }
  take(left.makers.empty() ? store.delete_experiment(stored.row.id)
                           : store.retire_experiment(stored.row.id, to_json(left)));
}

void publish(ServiceParts& parts, const ModelHandle& model, ExperimentHandle experiment) {
  remember(*model, *experiment);
  parts.running[experiment->id] = experiment;
  model->experiment.start_lists_at(model->next_number);
  model->experiment.set(std::move(experiment));
  ++model->own_changes;
}

void withdraw(ServiceParts& parts, Model& model, std::int64_t experiment) {
  parts.running.erase(experiment);
  if (const auto running = model.experiment.get(); running && running->id == experiment) {
    model.experiment.set(nullptr);
  }
  ++model.own_changes;
}

void refuse_conflict(std::string message, std::string place) {
  throw Failed{{ErrorCode::kConflict, std::move(message), std::move(place)}};
}

}  // namespace plackett::serving
