#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>

#include "base/attempt.h"
#include "base/declare_option.h"
#include "http/allowed_hosts.h"
#include "http/credentials.h"
#include "http/worker.h"

namespace plackett::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

constexpr std::chrono::milliseconds kAfterAcceptFails{100};
// Connections above the limit that are told so at once; more are closed without a word.
constexpr std::size_t kRefusedAtOnce = 128;

}  // namespace

struct ServerParts {
  Awaitable<void> accept();
  void listen();  // throws Failed

  Site site;
  std::vector<std::unique_ptr<Worker>> workers{};
  std::unique_ptr<Acceptor> acceptor{};  // on the first worker's thread
  std::uint16_t port = 0;
  bool local = false;
  bool stopped = false;
};

// Gives connections to the workers in turn. Never ends by an exception: nothing would accept again.
Awaitable<void> ServerParts::accept() {
  asio::steady_timer pause(*workers.front()->io);
  for (std::size_t next = 0; !site.stopping; ++next) {
    try {
      Worker& worker = *workers[next % workers.size()];
      Socket socket(*worker.io);
      error_code error;
      co_await acceptor->async_accept(socket, into(error));
      if (error == asio::error::connection_aborted) continue;
      if (error) {
        if (site.stopping) co_return;
        // Too few file descriptors or too little memory: it passes.
        pause.expires_after(kAfterAcceptFails);
        co_await pause.async_wait(into(error));
        continue;
      }
      if (site.connections >= site.options.limits.connections + kRefusedAtOnce) continue;
      worker.adopt(std::move(socket));
    } catch (const std::exception&) {
      // Out of memory, maybe for a timer too: this connection is closed, and the thread sleeps.
      std::this_thread::sleep_for(kAfterAcceptFails);
    }
  }
}

void ServerParts::listen() {
  const std::string& host = site.options.host;
  error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) throw Failed{Error{fmt::format("host \"{}\"; it must be an IP address", host)}};
  local = is_loopback(address);
  site.local_names_only = site.options.tokens.empty() && local;
  const asio::ip::tcp::endpoint endpoint(address, site.options.port);
  acceptor = std::make_unique<Acceptor>(*workers.front()->io);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor->local_endpoint(error).port();
  if (!error) return;
  throw Failed{Error{
      fmt::format("can't listen on {}, port {}: {}", host, site.options.port, error.message())}};
}

std::span<const Option<ServerOptions>> server_options() {
  constexpr std::uint64_t kMost = 1'000'000;
  constexpr std::uint64_t kDay = 24 * 3600;
  using Options = ServerOptions;
  static const std::array options{
      option<&Options::host>("host", "address to listen on; 0.0.0.0: all"),
      option<&Options::allow_hosts>(
          "allow-host",
          "a name that Host may have besides localhost, 127.x.x.x and [::1], if there are no "
          "tokens on loopback: a proxy's; may be repeated"),
      option<&Options::port>("port", "0: a free one", {0, 65'535}),
      option<&Options::threads>(
          "threads", "threads that answer requests; 0: one per core, at least 2", {0, 1024}),
      option<&Options::tokens>(
          "tokens",
          "file of lines ROLE TOKEN or ROLE MODEL TOKEN (read, feedback or admin); without it "
          "everything is allowed"),
      option<&Options::tls_cert>("tls-cert", "certificate chain, PEM: serves https"),
      option<&Options::tls_key>("tls-key", "its private key, PEM"),
      option<&Options::request_log>(
          "request-log", "file to which every request appends a line of JSON; -: standard output"),
      option<&Options::limits, &Limits::body_bytes>(
          "max-body", "largest body of a request (64K, 16M, 1G)", {1024}),
      option<&Options::limits, &Limits::all_bodies_bytes>(
          "max-bodies", "most memory for the bodies of all requests (256M, 1G)", {1024}),
      option<&Options::limits, &Limits::items>("max-items", "most items per rank request",
                                               {1, kMost}),
      option<&Options::limits, &Limits::connections>("max-connections",
                                                     "most simultaneous connections", {1, kMost}),
      option<&Options::limits, &Limits::request_seconds>(
          "request-seconds", "time in which a request must arrive", {0, kDay}),
      option<&Options::limits, &Limits::idle_seconds>(
          "idle-seconds", "time that a connection may be idle between requests", {0, kDay}),
      option<&Options::limits, &Limits::write_seconds>(
          "write-seconds", "time in which a client must take some of an answer", {0, kDay}),
      option<&Options::demo>("demo", "also serve /demo; without --db its store is temporary")};
  return options;
}

Server::Server(std::unique_ptr<ServerParts> parts) : parts_(std::move(parts)) {}
Server::~Server() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Server>> Server::start(serving::Service& service,
                                              const ServerOptions& options) {
  std::unique_ptr<ServerParts> parts(new ServerParts{.site = {service, options}});
  const auto prepared = attempt([&] {
    for (const std::string& name : options.allow_hosts) {
      if (!name.empty() && host_name(name) == name) continue;
      throw Failed{
          Error{fmt::format("allowed host \"{}\"; it must be a name without a port", name)}};
    }
    const auto credentials = take(Credentials::load(options));
    const unsigned threads =
        options.threads > 0 ? options.threads : std::max(2U, std::thread::hardware_concurrency());
    for (unsigned at = 0; at < threads; ++at) {
      parts->workers.push_back(std::make_unique<Worker>(parts->site, credentials));
      parts->site.meters.push_back(&parts->workers.back()->meters);
    }
    parts->listen();
    if (!options.request_log.empty()) {
      parts->site.request_log =
          take(RequestLog::open({.path = options.request_log, .complain = options.log}));
    }
  });
  if (!prepared) return prepared.error();
  std::unique_ptr<Server> server(new Server(std::move(parts)));
  try {
    for (const auto& worker : server->parts_->workers) worker->run();
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("can't start a thread: {}", error.what())};
  }
  asio::co_spawn(*server->parts_->workers.front()->io, server->parts_->accept(), asio::detached);
  return server;
}

std::uint16_t Server::port() const { return parts_->port; }
bool Server::is_local() const { return parts_->local; }

Result<void> Server::reload() {
  auto credentials = Credentials::load(parts_->site.options);
  if (!credentials) return credentials.error();
  const auto in_use =
      std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(parts_->workers.size()));
  for (const auto& worker : parts_->workers) {
    asio::post(*worker->io, [worker = worker.get(), in_use, now = *credentials] {
      worker->credentials = now;
      in_use->count_down();
    });
  }
  in_use->wait();
  return {};
}

Result<void> Server::reopen_log() {
  if (parts_->site.request_log == nullptr) return {};
  return parts_->site.request_log->reopen();
}

void Server::stop(std::chrono::milliseconds grace) {
  if (parts_->stopped) return;
  parts_->stopped = true;
  parts_->site.stopping = true;
  asio::post(*parts_->workers.front()->io, [parts = parts_.get()] {
    error_code ignored;
    parts->acceptor->close(ignored);
  });
  for (const auto& worker : parts_->workers) worker->close_idle();
  const auto end = std::chrono::steady_clock::now() + grace;
  while (parts_->site.connections > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& worker : parts_->workers) worker->stop();
}

}  // namespace plackett::http
