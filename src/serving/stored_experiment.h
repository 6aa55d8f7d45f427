// Experiments in the store, and the running ones that threads see. For the writer's thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "serving/experiment.h"
#include "serving/experiment_spec.h"
#include "serving/experiment_state.h"
#include "serving/service_parts.h"

namespace plackett::serving {

// An experiment as the store has it. All functions that read it throw Failed.
struct StoredExperiment {
  ExperimentRow row;
  ExperimentSpec spec;
  ExperimentState state{};
};

StoredExperiment parse_stored(ExperimentRow row);
// Of one model, oldest first.
std::vector<ExperimentRow> experiments_of(const Model& model, StoreReader& store);
StoredExperiment find_experiment(const Model& model, std::string_view name, StoreReader& store);
// Writes its state, and when it ended.
void write_state(Transaction& transaction, StoredExperiment& stored);

// The name of the model that makes an arm's lists; empty for "given".
std::string maker_name(const Model& model, const ExperimentSpec& spec, const ArmSpec& arm);

// Another model that makes an arm's lists; null if none does, or if it was removed. `forks`: models
// that are being created, by name.
ModelHandle find_maker(const ServiceParts& parts, const Model& model,
                       const StoredExperiment& stored, const ArmSpec& arm,
                       const std::map<std::string, ModelHandle>& forks = {});

// The models that snapshots of its arms became.
std::vector<ModelHandle> forks_of(const ServiceParts& parts, const Model& model,
                                  const StoredExperiment& stored);

// As threads see it. `forks`: models that are being created, by name.
ExperimentHandle running_one(const ServiceParts& parts, const ModelHandle& model,
                             const StoredExperiment& stored,
                             const std::map<std::string, ModelHandle>& forks = {});
// Lets callers of the model refer to its lists, whoever made them.
void remember(Model& model, const Experiment& experiment);
// The same for all experiments that the store knows of, deleted ones too.
void remember_all(const ServiceParts& parts, const ModelHandle& model, StoreReader& store);
// Deletes it from the store. If another model may have lists for it, the store still knows whose
// they are.
void delete_stored(const ServiceParts& parts, const Model& model, const StoredExperiment& stored,
                   Store& store);
void publish(ServiceParts& parts, const ModelHandle& model, ExperimentHandle experiment);
void withdraw(ServiceParts& parts, Model& model, std::int64_t experiment);

[[noreturn]] void refuse_conflict(std::string message, std::string place = {});

}  // namespace plackett::serving
