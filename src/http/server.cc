#include "http/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "http/allowed_hosts.h"
#include "http/routes.h"
#include "http/site.h"
#include "http/tls.h"
#include "http/worker.h"

namespace plackett::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;

// At the limit of connections a new one waits a little for another to go before it is refused;
// those behind it wait in the system's queue.
constexpr std::chrono::milliseconds kWaitAtLimit{20};
constexpr int kWaitsAtLimit = 5;
constexpr std::chrono::milliseconds kAfterAcceptFails{100};

}  // namespace

struct ServerParts {
  ServerParts(serving::Service& service, const ServerOptions& options, Tokens tokens)
      : site(service, options, std::move(tokens), Router(routes())) {}

  void accept();
  // Takes the connection; refused where the limit is reached and stays so.
  void admit(Worker& worker, const std::shared_ptr<Socket>& socket, int waits);
  template <typename Work>
  void after(std::chrono::milliseconds time, Work work);

  Site site;
  std::unique_ptr<asio::ssl::context> tls;
  std::vector<std::unique_ptr<Worker>> workers;
  // On the first worker's thread.
  std::unique_ptr<Acceptor> acceptor;
  std::unique_ptr<asio::steady_timer> pause;
  std::size_t next = 0;
  std::uint16_t port = 0;
  bool local = false;
  bool stopped = false;
};

// Hands connections round: one a worker in turn.
void ServerParts::accept() {
  Worker& worker = *workers[next++ % workers.size()];
  acceptor->async_accept(worker.io(), [this, &worker](const error_code& error, Socket socket) {
    if (!acceptor->is_open()) return;
    if (!error) return admit(worker, std::make_shared<Socket>(std::move(socket)), 0);
    if (error == asio::error::connection_aborted) return accept();
    // No descriptors, or no memory: it passes.
    after(kAfterAcceptFails, [this] { accept(); });
  });
}

void ServerParts::admit(Worker& worker, const std::shared_ptr<Socket>& socket, int waits) {
  const bool full = site.connections.load() >= site.options.limits.connections;
  if (full && waits < kWaitsAtLimit) {
    after(kWaitAtLimit, [this, &worker, socket, waits] { admit(worker, socket, waits + 1); });
    return;
  }
  site.connections.fetch_add(1);
  worker.adopt(std::move(*socket), full);
  accept();
}

template <typename Work>
void ServerParts::after(std::chrono::milliseconds time, Work work) {
  pause->expires_after(time);
  pause->async_wait([work = std::move(work)](const error_code& cancelled) {
    if (!cancelled) work();
  });
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
  Tokens tokens;
  if (!options.tokens.empty()) {
    auto loaded = Tokens::load(options.tokens);
    if (!loaded) return loaded.error();
    tokens = std::move(loaded).value();
  }
  auto parts = std::make_unique<ServerParts>(service, options, std::move(tokens));
  if (!options.tls_cert.empty()) {
    auto tls = make_tls(options.tls_cert, options.tls_key);
    if (!tls) return tls.error();
    parts->tls = std::move(tls).value();
  }
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(2U, std::thread::hardware_concurrency());
  for (unsigned at = 0; at < threads; ++at) {
    parts->workers.push_back(std::make_unique<Worker>(parts->site, parts->tls.get()));
    parts->site.meters.push_back(&parts->workers.back()->meters());
  }

  asio::io_context& io = parts->workers.front()->io();
  error_code error;
  const auto address =
      asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, error);
  if (error) return Error{fmt::format("host \"{}\"; it must be an IP address", options.host)};
  parts->local = is_loopback(address);
  parts->site.local_names_only = parts->site.tokens.empty() && parts->local;
  const asio::ip::tcp::endpoint endpoint(address, options.port);
  parts->acceptor = std::make_unique<Acceptor>(io);
  parts->pause = std::make_unique<asio::steady_timer>(io);
  Acceptor& acceptor = *parts->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{fmt::format("can't listen on {}, port {}: {}", options.host, options.port,
                             error.message())};
  }
  parts->port = acceptor.local_endpoint().port();
  parts->accept();
  for (const auto& worker : parts->workers) worker->run();
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

std::uint16_t Server::port() const { return parts_->port; }
bool Server::is_local() const { return parts_->local; }

void Server::stop(std::chrono::milliseconds grace) {
  if (parts_->stopped) return;
  parts_->stopped = true;
  parts_->site.stopping = true;
  asio::post(parts_->workers.front()->io(), [parts = parts_.get()] {
    error_code ignored;
    parts->acceptor->close(ignored);
    parts->pause->cancel();
  });
  for (const auto& worker : parts_->workers) worker->close_idle();
  const auto end = std::chrono::steady_clock::now() + grace;
  while (parts_->site.connections.load() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& worker : parts_->workers) worker->stop();
}

}  // namespace plackett::http
