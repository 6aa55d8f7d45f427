#include "http/worker.h"

#include <fmt/chrono.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <ctime>

#include "http/router.h"

namespace plackett::http {

namespace asio = boost::asio;

OpenConnection::OpenConnection(Worker& its_worker, TcpStream& its_stream)
    : worker(its_worker), stream(its_stream) {
  worker.connections.insert(this);
}
OpenConnection::~OpenConnection() { worker.connections.erase(this); }

Worker::Worker(Site& its_site, std::shared_ptr<const Credentials> its_credentials)
    : site(its_site),
      io(std::make_shared<asio::io_context>(1)),
      meters(routes().size()),
      credentials(std::move(its_credentials)),
      scratch(site.service),
      busy_(asio::make_work_guard(*io)) {}

void Worker::run() {
  thread_ = std::thread([this] {
    for (;;) {
      try {
        io->run();
        return;
      } catch (const std::exception&) {
        // Out of memory outside of a connection's own code: the others go on.
      }
    }
  });
}

void Worker::adopt(Socket socket) {
  ++site.connections;
  asio::co_spawn(*io, serve_connection(*this, std::move(socket), Counted(&site.connections)),
                 asio::detached);
}

void Worker::for_each_connection(void (*work)(OpenConnection& connection)) {
  asio::post(*io, [this, work] {
    for (OpenConnection* connection : connections) work(*connection);
  });
}

void Worker::close_idle() {
  for_each_connection([](OpenConnection& connection) {
    if (connection.is_idle) connection.stream.close();
  });
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  for_each_connection([](OpenConnection& connection) { connection.stream.close(); });
  busy_.reset();
  thread_.join();
}

std::string_view Worker::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    date_ = fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}", fmt::gmtime(now));
  }
  return date_;
}

}  // namespace plackett::http
