// What tells who someone is: the tokens of clients, and the server's certificate. Read from files,
// and read again when the server is told to.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "http/server.h"
#include "http/tokens.h"
#include "plackett/result.h"

namespace plackett::http {

// All threads share one until Server::reload gives them the next.
struct Credentials {
  Tokens tokens{};
  std::shared_ptr<boost::asio::ssl::context> tls{};  // TLS 1.2 and 1.3; null: no TLS

  // Reads the files that the options name. Fails if one is wrong.
  static Result<std::shared_ptr<const Credentials>> load(const ServerOptions& options);
};

}  // namespace plackett::http
