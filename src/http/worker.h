// A thread of the server's: its connections, and the clock that ends the slow ones.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>

#include "http/mailbox.h"
#include "http/meters.h"
#include "http/site.h"

namespace plackett::http {

using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class Connection;

class Worker {
 public:
  // `tls`: null for plain connections; must outlive it.
  Worker(Site& site, boost::asio::ssl::context* tls);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void run();  // starts the thread

  // From any thread.
  boost::asio::io_context& io() { return io_; }
  // A connection that the site has counted; `refused`: only to be told that it is one too many.
  void adopt(Socket socket, bool refused);
  void close_idle();
  // Closes all connections and ends the thread. A second call does nothing.
  void stop();
  [[nodiscard]] const Meters& meters() const { return meters_; }

  // The thread's own.
  void forget(const std::shared_ptr<Connection>& connection);
  // Now, as the Date header says it.
  std::string_view date();
  void count(std::size_t route, unsigned status, double seconds) {
    meters_.count(route, status, seconds);
  }

 private:
  void start_connection(Socket socket, bool refused);
  void tick();

  Site& site_;
  boost::asio::ssl::context* tls_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> busy_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<Mailbox> mailbox_;
  ThreadRoom room_;
  Meters meters_;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  bool ticking_ = false;
  std::int64_t date_second_ = -1;
  std::string date_;
  std::thread thread_;
};

}  // namespace plackett::http
