// The names that a server on loopback answers to. A page can point its own name at a loopback
// address (DNS rebinding): its requests then have the server's origin, and only the name in Host
// tells them from the user's own.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace plackett::http {

// Whether the texts are equal, in any case.
inline bool equal_but_case(std::string_view one, std::string_view other) {
  return boost::beast::iequals({one.data(), one.size()}, {other.data(), other.size()});
}

// Also in IPv6 notation, as ::ffff:127.0.0.1.
bool is_loopback(const boost::asio::ip::address& address);

// A Host header without its port; an IPv6 address keeps its brackets. Empty if it is invalid.
std::string_view host_name(std::string_view host);

// Whether the name is localhost, 127.x.x.x, [::1] or one of `others`, in any case.
bool is_local_name(std::string_view name, const std::vector<std::string>& others);

}  // namespace plackett::http
