#include "store/postgres/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace plackett::store::postgres {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  if (list.empty()) return parts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    parts.emplace_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string from(const std::vector<std::string>& parts, std::size_t first) {
  if (parts.size() <= first) return "";
  return fmt::format("{}", fmt::join(std::span(parts).subspan(first), ","));
}

}  // namespace

std::optional<Hosts> hosts_left(PGconn* failed) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfo(failed),
                                                                             PQconninfoFree);
  if (options == nullptr) return std::nullopt;  // out of memory
  std::vector<std::string> names;
  std::vector<std::string> addresses;
  std::vector<std::string> ports;
  std::string port = PQport(failed);
  for (const PQconninfoOption* one = options.get(); one->keyword != nullptr; ++one) {
    const std::string_view keyword = one->keyword;
    const std::string_view list = one->val == nullptr ? "" : one->val;
    if (keyword == "host") names = split(list);
    if (keyword == "hostaddr") addresses = split(list);
    if (keyword != "port") continue;
    ports = split(list);
    std::replace(ports.begin(), ports.end(), std::string(), std::string(one->compiled));
    if (port.empty()) port = one->compiled;
  }
  const std::size_t count = std::max(names.size(), addresses.size());
  // libpq refuses lists of different lengths.
  if (!names.empty() && !addresses.empty() && names.size() != addresses.size()) return std::nullopt;
  if (ports.size() > 1 && ports.size() != count) return std::nullopt;
  const std::string_view host = PQhost(failed);
  for (std::size_t at = 0; at + 1 < count; ++at) {
    const bool is_named = at < names.size() && !names[at].empty();
    if (!is_named && at >= addresses.size()) continue;
    if (host != (is_named ? names[at] : addresses[at])) continue;
    if (ports.size() > 1 && port != ports[at]) continue;
    Hosts left{from(names, at + 1), from(addresses, at + 1),
               ports.size() > 1 ? from(ports, at + 1) : ""};
    // An empty list would be the URL's.
    if (!names.empty() && left.names.empty()) break;
    if (!addresses.empty() && left.addresses.empty()) break;
    return left;
  }
  return std::nullopt;
}

}  // namespace plackett::store::postgres
