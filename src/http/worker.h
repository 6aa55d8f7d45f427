// A thread of the server with its connections.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>

#include "http/awaitable.h"
#include "http/credentials.h"
#include "http/site.h"

namespace plackett::http {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
using TcpStream = boost::beast::basic_stream<boost::asio::ip::tcp, Executor>;

// One less of a count when it goes.
struct Uncount {
  void operator()(std::atomic<std::size_t>* count) const { --*count; }
};
using Counted = std::unique_ptr<std::atomic<std::size_t>, Uncount>;

class Worker;

// Is in the worker's list as long as it lives.
struct OpenConnection {
  OpenConnection(Worker& its_worker, TcpStream& its_stream);
  OpenConnection(const OpenConnection&) = delete;
  OpenConnection& operator=(const OpenConnection&) = delete;
  ~OpenConnection();

  Worker& worker;
  TcpStream& stream;
  bool is_idle = true;  // no request is under way
};

class Worker {
 public:
  Worker(Site& its_site, std::shared_ptr<const Credentials> its_credentials);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { stop(); }

  void run();  // starts the thread

  // From any thread.
  void adopt(Socket socket);
  void close_idle();
  // Closes all connections, waits for the service's answers to their requests and ends the thread.
  // A second call does nothing.
  void stop();

  Site& site;
  const std::shared_ptr<boost::asio::io_context> io;
  Meters meters;  // read from any thread

  // The thread's own.
  std::shared_ptr<const Credentials> credentials;  // replaced by Server::reload
  Scratch scratch;
  std::string log_line;  // of the request log
  std::unordered_set<OpenConnection*> connections;
  // Now, as the Date header says it.
  std::string_view date();

 private:
  void for_each_connection(void (*work)(OpenConnection& connection));

  boost::asio::executor_work_guard<Executor> busy_;
  std::int64_t date_second_ = -1;
  std::string date_;
  std::thread thread_;
};

// Serves a client's requests one after the other until the connection is closed, on the worker's
// thread. If there are too many connections, the client is only told so.
Awaitable<void> serve_connection(Worker& worker, Socket socket, Counted counted);

}  // namespace plackett::http
