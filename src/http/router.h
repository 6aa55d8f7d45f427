// Every address of the API, what answers it, and whether a request may go on.
#pragma once

#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/awaitable.h"
#include "http/tokens.h"

namespace plackett::http {

struct Exchange;
using Verb = boost::beast::http::verb;

// What answers each route. All are called on the connection's thread, with the path matched and
// the token checked. They fill the exchange's response, or throw Failed.
using AtOnce = void(Exchange& exchange);
using Waiting = Awaitable<void>(Exchange& exchange);

// handle_pages.cc
AtOnce get_health, get_ready, get_nodes, get_dashboard, get_demo, get_web_file, get_openapi,
    get_metrics;

// handle_models.cc
AtOnce get_models, get_model, get_weights, get_export, get_item;
Waiting get_snapshots, put_model, delete_model, post_import, post_snapshot, post_rollback,
    post_freeze, post_resume, put_items, delete_item, put_weights, delete_unit, post_vacuum;

// handle_impressions.cc
Waiting post_rank, post_feedback, get_stats, get_impressions, get_impression;

// handle_experiments.cc
Waiting get_experiments, get_experiment, put_experiment, delete_experiment, post_stop, post_promote,
    post_undo;

// handle_what_if.cc
Waiting get_what_if;

// What a route is about. Tokens that are bound to a model may use kModel for theirs, and kModels,
// which shows them only theirs.
enum class Scope : std::uint8_t { kModel, kModels, kServer };

struct Route {
  Verb verb = Verb::get;
  std::string_view pattern;  // "/models/{m}/rank": braces stand for any one segment
  Role role = Role::kNone;
  Waiting* handle = nullptr;

  [[nodiscard]] Scope scope() const {
    if (pattern.starts_with("/models/{m}")) return Scope::kModel;
    return pattern == "/models" ? Scope::kModels : Scope::kServer;
  }
};
std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;  // null: unknown path, or unknown method
  std::size_t index = 0;         // of the route; routes().size() if there is none
  std::string allow{};           // the methods of the path if only the method is unknown
};

// Finds the route of a request. HEAD finds what GET finds.
Match find_route(Verb verb, std::span<const std::string> segments);

// Whether the method and path have a route, the origin and host are this server and the token's
// role allows it; known from the header alone. Otherwise the exchange's response says why not.
// `match` is set as far as it is known.
bool admit(Exchange& exchange, Match& match);

}  // namespace plackett::http
