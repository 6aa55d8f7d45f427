#include <fmt/format.h>

#include "http/allowed_hosts.h"
#include "http/exchange.h"
#include "http/router.h"

namespace plackett::http {
namespace {

// "host:80" of http and "host:443" of https are "host".
std::string_view without_default_port(std::string_view host) {
  for (const std::string_view port : {":80", ":443"}) {
    if (host.ends_with(port)) return host.substr(0, host.size() - port.size());
  }
  return host;
}

// Whether a browser says that the request comes from a page of another server: such a page must
// not drive a server that its user's machine can reach.
bool comes_from_elsewhere(const Exchange& exchange) {
  if (exchange.request->count(Field::origin) == 0) return false;
  std::string_view origin = exchange.header(Field::origin);
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return true;
  origin = without_default_port(origin.substr(scheme + 3));
  const std::string_view host = without_default_port(exchange.header(Field::host));
  return host.empty() || !equal_but_case(origin, host);
}

// Whether Host names another server, so that the page may be another's though its origin is the
// host's. Browsers always send Host.
bool asks_for_elsewhere(const Exchange& exchange) {
  if (!exchange.site.local_names_only || exchange.request->count(Field::host) == 0) return false;
  return !is_local_name(host_name(exchange.header(Field::host)), exchange.site.options.allow_hosts);
}

// False, with the answer written, if the token does not allow the route. What it says is the same
// whether or not a model exists.
bool allowed(Exchange& exchange, const Route& route) {
  if (route.role == Role::kNone || exchange.credentials->tokens.empty()) return true;
  const std::string_view authorization = exchange.header(Field::authorization);
  const Grant* grant = exchange.credentials->tokens.find(authorization);
  if (grant == nullptr) {
    exchange.fail(401, authorization.empty() ? "no token; send Authorization: Bearer TOKEN"
                                             : "unknown token");
    exchange.response.set(Field::www_authenticate, "Bearer");
    return false;
  }
  exchange.grant = *grant;
  if (grant->role < route.role) {
    exchange.fail(403, fmt::format("the token has the role {}; this needs {}", name_of(grant->role),
                                   name_of(route.role)));
    return false;
  }
  if (grant->model.empty() || route.scope() == Scope::kModels) return true;
  if (route.scope() == Scope::kModel && exchange.segment(1) == grant->model) return true;
  exchange.fail(403,
                fmt::format("the token is for the model {} alone{}", grant->model,
                            route.scope() == Scope::kServer ? "; this is about the server" : ""));
  return false;
}

bool refuse_method(Exchange& exchange, const std::string& allow) {
  if (exchange.request->method() == Verb::options) {
    exchange.status(204);
  } else {
    exchange.fail(405, fmt::format("allowed methods: {}", allow));
  }
  exchange.response.set(Field::allow, allow);
  return false;
}

}  // namespace

bool admit(Exchange& exchange, Match& match) {
  const Request& request = *exchange.request;
  const auto refuse = [&](unsigned status, std::string_view message) {
    exchange.fail(status, message);
    return false;
  };
  if (request.method() == Verb::options && request.target() == "*") {
    return refuse_method(exchange, "GET, HEAD, POST, PUT, DELETE, OPTIONS");
  }
  if (const auto parsed = parse_target(view(request.target()), exchange.target); !parsed) {
    exchange.refuse(parsed.error());
    return false;
  }
  match = find_route(request.method(), exchange.target.segments);
  if (!match.allow.empty()) return refuse_method(exchange, match.allow);
  if (match.route == nullptr) return refuse(404, "nothing at this address; see /openapi.json");
  if (comes_from_elsewhere(exchange)) {
    return refuse(403, "the request comes from a page of another server");
  }
  if (asks_for_elsewhere(exchange)) {
    return refuse(403,
                  "Host names another server; without tokens, a server on loopback answers to "
                  "localhost, 127.x.x.x, [::1] and the names given by --allow-host");
  }
  if (!exchange.target.authority.empty() &&
      !equal_but_case(exchange.target.authority, exchange.header(Field::host))) {
    return refuse(400, "the address and Host name different servers");
  }
  const auto coding = request.find(Field::content_encoding);
  if (coding != request.end() && !equal_but_case(view(coding->value()), "identity")) {
    return refuse(415, "Content-Encoding: bodies must not be compressed");
  }
  const auto expect = request.find(Field::expect);
  if (expect != request.end() && !equal_but_case(view(expect->value()), "100-continue")) {
    return refuse(417, "only Expect: 100-continue is known");
  }
  return allowed(exchange, *match.route);
}

}  // namespace plackett::http
