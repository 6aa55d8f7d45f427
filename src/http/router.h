// Every address of the API, what answers it, and whether a request may go on.
#pragma once

#include <boost/beast/http/verb.hpp>
#include <span>
#include <string>
#include <string_view>

#include "http/awaitable.h"
#include "http/tokens.h"

namespace plackett::http {

struct Exchange;
using Verb = boost::beast::http::verb;

struct Route {
  Verb verb = Verb::get;
  std::string_view pattern;  // "/models/{m}/rank": braces stand for any one segment
  Role role = Role::kNone;
  Awaitable<void> (*handle)(Exchange& exchange) = nullptr;
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
