#include "http/worker.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <vector>

#include "http/connection.h"

namespace plackett::http {
namespace {

constexpr std::chrono::milliseconds kTick{100};

}  // namespace

Worker::Worker(Site& site, boost::asio::ssl::context* tls)
    : site_(site),
      tls_(tls),
      busy_(boost::asio::make_work_guard(io_)),
      timer_(io_),
      mailbox_(std::make_shared<Mailbox>(io_)),
      room_(site.service),
      meters_(site.router.routes().size()) {}

Worker::~Worker() { stop(); }

void Worker::run() {
  thread_ = std::thread([this] { io_.run(); });
}

void Worker::adopt(Socket socket, bool refused) {
  boost::asio::post(io_, [this, refused, socket = std::move(socket)]() mutable {
    start_connection(std::move(socket), refused);
  });
}

void Worker::start_connection(Socket socket, bool refused) {
  auto connection =
      std::make_shared<Connection>(site_, room_, *this, mailbox_, std::move(socket), tls_);
  connections_.insert(connection);
  if (!ticking_) tick();
  if (refused) {
    connection->refuse_all();
  } else {
    connection->start();
  }
}

void Worker::forget(const std::shared_ptr<Connection>& connection) {
  connections_.erase(connection);
}

void Worker::close_idle() {
  boost::asio::post(io_, [this] {
    const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
    for (const auto& connection : all) connection->close_if_idle();
  });
}

void Worker::stop() {
  if (!thread_.joinable()) {
    mailbox_->close();
    return;
  }
  boost::asio::post(io_, [this] {
    const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
    for (const auto& connection : all) connection->close();
    timer_.cancel();
    busy_.reset();
    io_.stop();
  });
  thread_.join();
  mailbox_->close();
}

void Worker::tick() {
  ticking_ = !connections_.empty();
  if (!ticking_) return;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<Connection>> late;
    for (const auto& connection : connections_) {
      if (connection->deadline() <= now) late.push_back(connection);
    }
    for (const auto& connection : late) connection->on_deadline();
    tick();
  });
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
