// What the service is made of.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/cluster.h"
#include "serving/experiment.h"
#include "serving/experiment_rules.h"
#include "serving/learning_thread.h"
#include "serving/model.h"
#include "serving/read_thread.h"
#include "serving/service.h"
#include "serving/store.h"
#include "serving/upkeep.h"
#include "serving/version_waiters.h"
#include "serving/what_if.h"
#include "serving/writer_thread.h"

namespace plackett::serving {

struct ServiceParts {
  ServiceOptions options;
  std::unique_ptr<Store> store;

  // Read by all threads, changed by the writer's.
  mutable std::shared_mutex models_mutex;
  std::map<std::string, ModelHandle, std::less<>> models;

  // For calls that read; one at a time.
  mutable std::mutex reader_mutex;
  std::unique_ptr<StoreReader> reader;

  // Updates and their norms, until upkeep adds them to the series.
  std::mutex learned_mutex;
  std::unordered_map<std::int64_t, SeriesRow> learned;

  // Running experiments by id. Only the writer's thread uses it, and the start.
  std::unordered_map<std::int64_t, ExperimentHandle> running;
  std::unique_ptr<ExperimentRules> rules;

  VersionWaiters waiters;
  // Since the start of the process.
  std::atomic<std::uint64_t> ranked{0};
  std::atomic<std::uint64_t> events{0};

  std::unique_ptr<LearningThread> learner;
  std::unique_ptr<Upkeep> upkeep;
  std::unique_ptr<WriterThread> writer;
  std::unique_ptr<WhatIfThread> what_if;
  std::unique_ptr<ReadThread> reads;
  std::unique_ptr<Cluster> cluster;  // null if this is the only node
  std::atomic<bool> stopped{false};

  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }
  void log_fault(const Model& model, const Version& version) const {
    log("model " + model.spec.name + " is frozen: " + version.frozen_because);
  }
  [[nodiscard]] ModelHandle find(std::string_view name) const {
    const std::shared_lock lock(models_mutex);
    const auto found = models.find(name);
    return found == models.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::vector<ModelHandle> all_models() const {
    const std::shared_lock lock(models_mutex);
    std::vector<ModelHandle> all;
    for (const auto& [name, model] : models) all.push_back(model);
    return all;
  }
};

// The experiment that a list is counted in; null if it has ended. For the writer's thread.
inline const Experiment* counting(const ServiceParts& parts, const Transaction& transaction,
                                  std::int64_t experiment) {
  const auto running = parts.running.find(experiment);
  if (running == parts.running.end() || transaction.ended.contains(experiment)) return nullptr;
  return running->second.get();
}

// A model as the store has it.
struct LoadedModel {
  ModelHandle model;
  Trainer trainer;
};
// `shared`: null if there is only one node.
LoadedModel load_stored(const ServiceParts& parts, const ModelRow& row, StoreReader& store,
                        SharedStore* shared);

// Calls `then` once this node leads the model, or `done` with the reason why it can't.
template <typename T>
void with_lead(ServiceParts& parts, const ModelHandle& model, const Done<T>& done,
               std::function<void()> then) {
  if (parts.cluster == nullptr || model->lead != 0) return then();
  parts.cluster->lead(model, [done, then = std::move(then)](const Result<void>& led) {
    if (!led) return done(led.error());
    then();
  });
}

// Why the learner has no trainer of the model.
inline Error not_learned_here(const Model& model) {
  return model.removed ? model_removed() : another_leads();
}

struct CreatedModel {
  ModelHandle model;
  bool is_new = false;
  LogSettings logging{};  // of a model that was there, from now on
};
// Has the writer create the model, or find one with the same spec. `more` is applied in the same
// transaction, and may be empty. Requires: a checked spec.
void submit_creation(ServiceParts& parts, WantedModel wanted,
                     std::function<void(Transaction&, const ModelHandle&)> more,
                     Done<CreatedModel> done);

// Fails if so many models more would be too many.
void check_room(StoreReader& store, std::size_t more);
// The model in the store; not served yet.
ModelHandle insert_model(const ServiceParts& parts, const ModelSpec& spec,
                         Transaction& transaction);
// Serves it from now on, or no longer. After the commit.
void serve_model(ServiceParts& parts, const ModelHandle& model, Trainer trainer);
void stop_serving(ServiceParts& parts, const ModelHandle& model);
// The same of a model that another node has removed, and whose rows that one drops. For the
// writer's thread.
void drop_served(ServiceParts& parts, const ModelHandle& model);

// experiments.cc. All but the first are for the writer's thread.

// Reads the experiments in the store; models must be there.
void recover_experiments(ServiceParts& parts);
// Another node has changed the model's experiments to these. For the writer's thread.
void follow_experiments(ServiceParts& parts, const ModelHandle& model,
                        const std::vector<ExperimentRow>& rows);
// Which running experiment of another model uses it as an arm, as an error; empty if none does.
// Throws Failed.
// Those of the model with the id `owner` don't count.
std::string arm_use(const ServiceParts& parts, const Model& model, std::int64_t owner,
                    StoreReader& store);
// The models that snapshots became for the model's experiments.
std::vector<ModelHandle> forks_of(const ServiceParts& parts, const Model& model,
                                  StoreReader& store);
// The model is removed.
void forget_experiments(ServiceParts& parts, const ModelHandle& model);

// A job that logs what `apply` does; answers with the model after the learner has applied it.
Job logging_job(const Service& service, const ModelHandle& model,
                std::function<void(Transaction&)> apply, Done<ModelInfo> done);

// Stores a snapshot, and prunes the automatic ones.
Job snapshot_job(const ModelHandle& model, SnapshotRow snapshot, std::uint32_t automatic_kept,
                 Done<SnapshotRow> done);
// Has the writer store it. If that fails, Model::snapshot_lost is set.
void submit_automatic_snapshot(ServiceParts& parts, const ModelHandle& model, SnapshotRow snapshot);

}  // namespace plackett::serving
