// What the threads of a server share, and what each has of its own.
#pragma once

#include <atomic>
#include <ctime>
#include <memory>
#include <vector>

#include "http/feature_names.h"
#include "http/json_reader.h"
#include "http/meters.h"
#include "http/pages.h"
#include "http/rank_request.h"
#include "http/router.h"
#include "http/server.h"
#include "http/tokens.h"
#include "serving/service.h"

namespace plackett::http {

// Fixed before the first thread starts, but for the atomics.
struct Site {
  Site(serving::Service& its_service, ServerOptions its_options, Tokens its_tokens,
       Router its_router)
      : service(its_service),
        options(std::move(its_options)),
        tokens(std::move(its_tokens)),
        router(std::move(its_router)) {}

  serving::Service& service;
  ServerOptions options;
  Tokens tokens;
  Router router;
  bool local_names_only = false;  // Host must name loopback, or be one of options.allow_hosts
  Pages pages;
  std::vector<const Meters*> meters;  // a thread each
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> stopping{false};
};

// One a thread: memory that requests reuse.
struct ThreadRoom {
  explicit ThreadRoom(const serving::Service& service) : ranking(service.make_room()) {}

  JsonReader json;
  RankRequestReader rank_reader;
  serving::RankRequest rank_request;
  FeatureNamesCache<serving::ModelHandle> names;
  std::unique_ptr<serving::RankingRoom, void (*)(serving::RankingRoom*)> ranking;
};

}  // namespace plackett::http
