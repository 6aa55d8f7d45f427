// The names by which a server may be asked for. A page can let its own name lead to a loopback
// address (DNS rebinding); then its requests are of one origin with the server, and the name in
// Host alone tells them from the user's own.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace plackett::http {

// Also where it is written in IPv6, as ::ffff:127.0.0.1.
bool is_loopback(const boost::asio::ip::address& address);

// A Host header without its port; an IPv6 address keeps its brackets. Empty where it is none.
std::string_view host_name(std::string_view host);

// Whether the name is localhost, 127.x.x.x, [::1] or one of `others`, whatever the case.
bool is_local_name(std::string_view name, const std::vector<std::string>& others);

}  // namespace plackett::http
