// What the threads of a server share, and what each has of its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "http/json_reader.h"
#include "http/metrics_text.h"
#include "http/request_log.h"
#include "http/requests.h"
#include "http/server.h"
#include "serving/service.h"

namespace plackett::http {

// Fixed before the first thread starts, but for the atomics.
struct Site {
  serving::Service& service;
  ServerOptions options;
  std::atomic<std::int64_t> body_bytes_left{
      static_cast<std::int64_t>(options.limits.all_bodies_bytes)};
  bool local_names_only = false;        // Host must name loopback, or be one of options.allow_hosts
  std::vector<const Meters*> meters{};  // one per thread
  std::unique_ptr<RequestLog> request_log{};  // null: none
  std::atomic<std::size_t> connections{0};    // open, those to be refused included
  std::atomic<std::size_t> served{0};
  std::atomic<bool> stopping{false};
};

// Memory that the requests of one thread reuse.
struct Scratch {
  explicit Scratch(const serving::Service& service) : ranking(service.make_scratch()) {}

  JsonReader json;
  RankRequestReader rank_reader;
  serving::RankRequest rank_request;
  std::unique_ptr<serving::RankingScratch, void (*)(serving::RankingScratch*)> ranking;
};

}  // namespace plackett::http
