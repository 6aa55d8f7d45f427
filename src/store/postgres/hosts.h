// The hosts that a URL names.
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>

namespace plackett::store::postgres {

// As libpq takes them: lists with commas. Empty: as in the URL.
struct Hosts {
  std::string names{};
  std::string addresses{};
  std::string ports{};
};

// libpq tries one host after the other, but gives up at one that takes the connection and then
// closes it, as a proxy does whose server is gone, or refuses the login. The hosts behind that one;
// none if libpq has tried them all, or if that can't be told, as where the URL leaves a name empty.
std::optional<Hosts> hosts_left(PGconn* failed);

}  // namespace plackett::store::postgres
