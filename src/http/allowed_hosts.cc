#include "http/allowed_hosts.h"

#include <algorithm>

namespace plackett::http {

namespace ip = boost::asio::ip;

bool is_loopback(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
  }
  return address.is_loopback();
}

std::string_view host_name(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return host.starts_with('[') ? std::string_view() : host;
  const std::string_view name = host.substr(0, host[end] == ']' ? end + 1 : end);
  std::string_view port = host.substr(name.size());
  if (port.empty()) return name;
  if (!port.starts_with(':')) return {};
  port.remove_prefix(1);
  return port.find_first_not_of("0123456789") == std::string_view::npos ? name : std::string_view();
}

bool is_local_name(std::string_view name, const std::vector<std::string>& others) {
  if (equal_but_case(name, "localhost")) return true;
  boost::system::error_code error;
  const bool is_v6 = name.starts_with('[') && name.ends_with(']');
  const auto address =
      is_v6 ? ip::address(ip::make_address_v6(name.substr(1, name.size() - 2), error))
            : ip::address(ip::make_address_v4(name, error));
  if (!error && address.is_loopback()) return true;
  return std::any_of(others.begin(), others.end(),
                     [&](const std::string& other) { return equal_but_case(name, other); });
}

}  // namespace plackett::http
