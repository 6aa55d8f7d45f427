// Users of a service, a few threads of them, and what they were told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serving/service.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::testing {

// Events of one request. Their ids name the request, how many there are, and which it is:
// "REQUEST/2/0".
struct Told {
  std::string model;
  std::vector<serving::FeedbackEvent> events;
};

// What was asked for and how it was answered.
struct Story {
  std::vector<std::string> models;                            // that were made
  std::vector<std::pair<std::string, std::string>> answered;  // model and impression
  std::vector<std::pair<std::string, std::string>> refused_ranks;
  std::vector<Told> acknowledged;
  std::vector<Told> refused;
  std::vector<std::pair<std::string, std::int64_t>> snapshots;  // model and id
  std::vector<Error> refusals;

  void add(Story other);
};

struct TrafficOptions {
  std::uint64_t seed = 1;
  std::string name{};  // unique: every id begins with it
  std::uint32_t threads = 3;
  std::uint32_t steps = 60;  // a thread
  // Once true, no one asks for more, and what is answered no longer counts.
  std::function<bool()> over = [] { return false; };
  // Called now and then.
  std::function<void()> between = [] {};
};

// Opens the store, and a service on it.
Result<std::unique_ptr<serving::Service>> open_service(const store::SqliteOptions& store,
                                                       std::uint64_t snapshot_every = 20'000);

// Creates two models, a linear one and a network, if they are not there.
void make_models(serving::Service& service);

// Ranks, feedback in parts and whole, snapshots, returns to them. What each thread does next
// depends on the seed and on its answers alone.
Story run_traffic(serving::Service& service, const TrafficOptions& options);

}  // namespace plackett::testing
