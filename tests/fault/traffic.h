// Clients of a service, in a few threads, and the answers that they got.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "serving/service.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::testing {

// Events of one request. Their ids are REQUEST/COUNT/INDEX, as in "r7/2/0".
struct Told {
  std::string model;
  std::vector<serving::FeedbackEvent> events;
};

// An experiment, by model and name.
using ExperimentName = std::pair<std::string, std::string>;

// Answers about experiments that stay true, whatever other clients ask for later.
struct ToldExperiments {
  std::set<ExperimentName> started;
  std::set<ExperimentName> ended;
  std::set<ExperimentName> deleting;  // it was tried: they may be gone
  std::set<ExperimentName> deleted;
  std::map<ExperimentName, std::uint64_t> promoted;  // how often
  std::map<ExperimentName, std::uint64_t> undone;
};

// What was asked for and how it was answered.
struct Story {
  std::vector<std::string> models;                            // created
  std::vector<std::pair<std::string, std::string>> answered;  // model and impression
  std::vector<std::pair<std::string, std::string>> refused_ranks;
  std::vector<Told> acknowledged;
  std::vector<Told> refused;
  std::vector<std::pair<std::string, std::int64_t>> snapshots;  // model and id
  std::vector<std::pair<std::string, std::string>> forgotten;   // model and unit
  std::map<std::string, std::uint64_t> loads;  // of weights and model files, by model
  // Kinds of events of a model that the same client has replaced since.
  std::set<std::pair<std::string, std::string>> replaced_kinds;
  ToldExperiments experiments;
  std::vector<Error> refusals;

  void add(Story other);
};

struct TrafficOptions {
  std::uint64_t seed = 1;
  std::string name{};  // unique: every id starts with it
  std::uint32_t threads = 3;
  std::uint32_t steps = 60;  // per thread
  bool drops = false;        // some units are dropped with their impressions
  bool loads = true;         // weights and model files are loaded
  // Once true, clients stop, and further answers do not count.
  std::function<bool()> over = [] { return false; };
  // Called from time to time.
  std::function<void()> between = [] {};
};

// Opens the store, and a service on it.
Result<std::unique_ptr<serving::Service>> open_service(const store::SqliteOptions& store,
                                                       std::uint64_t snapshot_every = 20'000);

// Creates two models, a linear one and a network, if they are not there.
void make_models(serving::Service& service);

// Ranks of every mode and none, partial and complete feedback, changed items, snapshots, rollbacks,
// weights and model files that are loaded, changed candidates and events, units that are forgotten,
// vacuums, experiments that are started, stopped, promoted, undone and deleted. What each thread
// does depends only on the seed and the answers it got.
Story run_traffic(serving::Service& service, const TrafficOptions& options);

}  // namespace plackett::testing
