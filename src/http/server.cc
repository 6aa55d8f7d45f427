#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <vector>

#include "base/declare_option.h"
#include "http/allowed_hosts.h"
#include "http/worker.h"

namespace plackett::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

// At the limit of connections a new one waits a little for another to close before it is refused;
// those behind it wait in the system's queue.
constexpr std::chrono::milliseconds kWaitAtLimit{20};
constexpr int kWaitsAtLimit = 5;
constexpr std::chrono::milliseconds kAfterAcceptFails{100};

// TLS 1.2 and 1.3.
Result<std::unique_ptr<ssl::context>> make_tls(const std::string& cert, const std::string& key) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION,
                       error);
  if (error) return Error{fmt::format("TLS: {}", error.message())};
  context->use_certificate_chain_file(cert, error);
  if (error) return Error{fmt::format("{}: not a certificate in PEM: {}", cert, error.message())};
  context->use_private_key_file(key, ssl::context::pem, error);
  if (error) {
    return Error{fmt::format("{}: not a private key in PEM, or not the certificate's: {}", key,
                             error.message())};
  }
  return context;
}

}  // namespace

struct ServerParts {
  Awaitable<void> accept();
  Result<void> listen();

  Site site;
  std::unique_ptr<ssl::context> tls{};
  std::vector<std::unique_ptr<Worker>> workers{};
  std::unique_ptr<Acceptor> acceptor{};  // on the first worker's thread
  std::uint16_t port = 0;
  bool local = false;
  bool stopped = false;
};

// Gives connections to the workers in turn.
Awaitable<void> ServerParts::accept() {
  asio::steady_timer pause(*workers.front()->io);
  for (std::size_t next = 0; !site.stopping; ++next) {
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
    const auto full = [this] { return site.connections >= site.options.limits.connections; };
    for (int waits = 0; full() && waits < kWaitsAtLimit; ++waits) {
      pause.expires_after(kWaitAtLimit);
      co_await pause.async_wait(into(error));
    }
    const bool refused = full();
    site.connections.fetch_add(1);
    worker.adopt(std::move(socket), refused);
  }
}

Result<void> ServerParts::listen() {
  const std::string& host = site.options.host;
  error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) return Error{fmt::format("host \"{}\"; it must be an IP address", host)};
  local = is_loopback(address);
  site.local_names_only = site.tokens.empty() && local;
  const asio::ip::tcp::endpoint endpoint(address, site.options.port);
  acceptor = std::make_unique<Acceptor>(*workers.front()->io);
  acceptor->open(endpoint.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor->bind(endpoint, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor->local_endpoint(error).port();
  if (!error) return {};
  return Error{
      fmt::format("can't listen on {}, port {}: {}", host, site.options.port, error.message())};
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
      option<&Options::threads>("threads", "that answer requests; 0: one per core, at least 2",
                                {0, 1024}),
      option<&Options::tokens>(
          "tokens",
          "file of lines ROLE TOKEN (read, feedback or admin); without it everything is allowed"),
      option<&Options::tls_cert>("tls-cert", "certificate chain, PEM: serves https"),
      option<&Options::tls_key>("tls-key", "its private key, PEM"),
      option<&Options::limits, &Limits::body_bytes>(
          "max-body", "largest body of a request (64K, 16M, 1G)", {1024}),
      option<&Options::limits, &Limits::items>("max-items", "most items per rank request",
                                               {1, kMost}),
      option<&Options::limits, &Limits::connections>("max-connections",
                                                     "most simultaneous connections", {1, kMost}),
      option<&Options::limits, &Limits::request_seconds>(
          "request-seconds", "time in which a request must arrive", {0, kDay}),
      option<&Options::limits, &Limits::idle_seconds>(
          "idle-seconds", "time that a connection may be idle between requests", {0, kDay}),
      option<&Options::demo>("demo", "also serve /demo; without --db its store is temporary")};
  return options;
}

Server::Server(std::unique_ptr<ServerParts> parts) : parts_(std::move(parts)) {}
Server::~Server() { stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Server>> Server::start(serving::Service& service,
                                              const ServerOptions& options) {
  for (const std::string& name : options.allow_hosts) {
    if (name.empty() || host_name(name) != name) {
      return Error{fmt::format("allowed host \"{}\"; it must be a name without a port", name)};
    }
  }
  std::unique_ptr<ServerParts> parts(new ServerParts{.site = {service, options}});
  if (!options.tokens.empty()) {
    auto tokens = Tokens::load(options.tokens);
    if (!tokens) return tokens.error();
    parts->site.tokens = std::move(tokens).value();
  }
  if (!options.tls_cert.empty()) {
    auto tls = make_tls(options.tls_cert.string(), options.tls_key.string());
    if (!tls) return tls.error();
    parts->tls = std::move(tls).value();
  }
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(2U, std::thread::hardware_concurrency());
  for (unsigned at = 0; at < threads; ++at) {
    parts->workers.push_back(std::make_unique<Worker>(parts->site, parts->tls.get()));
    parts->site.meters.push_back(&parts->workers.back()->meters);
  }
  if (const auto listening = parts->listen(); !listening) return listening.error();
  asio::co_spawn(*parts->workers.front()->io, parts->accept(), asio::detached);
  for (const auto& worker : parts->workers) worker->run();
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

std::uint16_t Server::port() const { return parts_->port; }
bool Server::is_local() const { return parts_->local; }

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
