#include "http/admission.h"

#include <fmt/format.h>

#include <boost/beast/core/string.hpp>

#include "http/allowed_hosts.h"

namespace plackett::http {
namespace {

// "host:80" of http and "host:443" of https are "host".
std::string_view without_default_port(std::string_view host) {
  for (const std::string_view port : {":80", ":443"}) {
    if (host.ends_with(port)) return host.substr(0, host.size() - port.size());
  }
  return host;
}

// A browser says where a page came from that sends a request: one from elsewhere must not drive
// a server that its user's machine can reach.
bool comes_from_elsewhere(const Request& request) {
  if (!request.has_origin) return false;
  std::string_view origin = request.origin;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return true;
  origin.remove_prefix(scheme + 3);
  const std::string_view host = without_default_port(request.host);
  origin = without_default_port(origin);
  return host.empty() ||
         !boost::beast::iequals({origin.data(), origin.size()}, {host.data(), host.size()});
}

// Whether the request asks for another server than this, so that its page may be another's though
// its origin is the host's. An old client that sends no Host is no browser.
bool asks_for_elsewhere(const Exchange& exchange) {
  const Request& request = exchange.request;
  if (!exchange.site.local_names_only || !request.has_host) return false;
  return !is_local_name(host_name(request.host), exchange.site.options.allow_hosts);
}

// False, with the answer written, where the token does not allow the role.
bool allowed(Exchange& exchange, Role needed) {
  if (needed == Role::kNone || exchange.site.tokens.empty()) return true;
  const auto role = exchange.site.tokens.role_of(exchange.request.authorization);
  if (!role) {
    exchange.fail(401, exchange.request.authorization.empty()
                           ? "no token; send Authorization: Bearer TOKEN"
                           : "the token is none of this server's");
    exchange.response.headers += "WWW-Authenticate: Bearer\r\n";
    return false;
  }
  if (*role < needed) {
    exchange.fail(
        403, fmt::format("the token's role is {}; this needs {}", name_of(*role), name_of(needed)));
    return false;
  }
  return true;
}

void answer_options(Exchange& exchange, const std::string& allow) {
  exchange.response.clear();
  exchange.response.status = 204;
  exchange.response.headers += fmt::format("Allow: {}\r\n", allow);
}

}  // namespace

const Route* admit(Exchange& exchange, std::size_t& index) {
  Request& request = exchange.request;
  if (request.verb == Verb::options && request.target_text == "*") {
    answer_options(exchange, "GET, HEAD, POST, PUT, DELETE, OPTIONS");
    return nullptr;
  }
  if (const auto target = parse_target(request.target_text, request.target); !target) {
    exchange.refuse(target.error());
    return nullptr;
  }
  const Match match = exchange.site.router.find(request.verb, request.target.segments);
  if (match.route == nullptr) {
    if (match.allow.empty()) {
      exchange.fail(404, "there is nothing at this address; see /openapi.json");
    } else if (request.verb == Verb::options) {
      answer_options(exchange, match.allow);
    } else {
      exchange.fail(405, fmt::format("this address takes {}", match.allow));
      exchange.response.headers += fmt::format("Allow: {}\r\n", match.allow);
    }
    return nullptr;
  }
  index = match.index;
  if (comes_from_elsewhere(request)) {
    exchange.fail(403, "the request comes from a page of another server");
    return nullptr;
  }
  if (asks_for_elsewhere(exchange)) {
    exchange.fail(403,
                  "Host names another server; without tokens, one on loopback answers to "
                  "localhost, 127.x.x.x, [::1] and the names given by --allow-host");
    return nullptr;
  }
  if (request.expects_else) {
    exchange.fail(417, "Expect knows 100-continue alone");
    return nullptr;
  }
  return allowed(exchange, match.route->role) ? match.route : nullptr;
}

}  // namespace plackett::http
