// The HTTP server in front of a service.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plackett/option.h"
#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::http {

struct Limits {
  ByteSize body_bytes = std::uint64_t{16} << 20;
  // Bodies of requests and large answers, all connections together; at least 128K more than
  // body_bytes, or no such body could be taken.
  ByteSize all_bodies_bytes = std::uint64_t{256} << 20;
  std::uint32_t header_bytes = 16 * 1024;
  std::size_t items = 1000;  // per request to rank
  std::size_t connections = 1024;
  double request_seconds = 10;  // from a request's first byte to its last
  double idle_seconds = 60;     // between requests
  double write_seconds = 30;    // for a client to take some of an answer
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address
  std::uint16_t port = 8080;       // 0: any free one
  unsigned threads = 0;            // 0: one per core, at least 2
  // Further names that Host may have if the server listens on loopback without tokens, such as a
  // proxy's; without ports.
  std::vector<std::string> allow_hosts;
  std::filesystem::path tokens;    // empty: everyone may do everything
  std::filesystem::path tls_cert;  // PEM, a chain; empty: no TLS
  std::filesystem::path tls_key;
  std::filesystem::path request_log;  // "-": standard output; empty: none
  bool demo = false;                  // serve /demo
  Limits limits;
  std::function<void(const std::string& line)> log;  // what operators should know; any thread
};

// Those that operators choose.
std::span<const Option<ServerOptions>> server_options();

struct ServerParts;

// Has threads of its own. The service must outlive it.
class Server {
 public:
  // Listens and answers when this returns.
  static Result<std::unique_ptr<Server>> start(serving::Service& service,
                                               const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // stop() without grace

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] bool is_local() const;  // listens on loopback only

  // Reads the files of tokens and TLS again. What comes after it has returned is judged by them:
  // each request by the new tokens, each new connection by the new certificate; open connections
  // stay. Fails, and changes nothing, if a file is wrong. Blocks until all threads use them.
  // Not after stop() has begun.
  Result<void> reload();
  // Opens the request log under its name again, if there is one.
  Result<void> reopen_log();

  // Accepts no more connections, closes idle ones, finishes requests under way within `grace`, ends
  // its threads. Blocks, also until the service has answered; a second call does nothing.
  void stop(std::chrono::milliseconds grace);

 private:
  explicit Server(std::unique_ptr<ServerParts> parts);
  std::unique_ptr<ServerParts> parts_;
};

}  // namespace plackett::http
