// What the threads of a server share, and what each has of its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "http/body_budget.h"
#include "http/feature_row.h"
#include "http/json_reader.h"
#include "http/meters.h"
#include "http/rank_request.h"
#include "http/router.h"
#include "http/server.h"
#include "http/tokens.h"
#include "serving/service.h"

namespace plackett::http {

// Fixed before the first thread starts, but for the atomics.
struct Site {
  serving::Service& service;
  ServerOptions options;
  Tokens tokens{};
  Router router{};
  BodyBudget bodies{options.limits.all_bodies_bytes};
  bool local_names_only = false;        // Host must name loopback, or be one of options.allow_hosts
  std::vector<const Meters*> meters{};  // one per thread
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> stopping{false};
};

// Memory that the requests of one thread reuse.
struct Scratch {
  explicit Scratch(const serving::Service& service) : ranking(service.make_scratch()) {}

  JsonReader json;
  RankRequestReader rank_reader;
  serving::RankRequest rank_request;
  FeatureNamesCache names;
  std::unique_ptr<serving::RankingScratch, void (*)(serving::RankingScratch*)> ranking;
};

}  // namespace plackett::http
