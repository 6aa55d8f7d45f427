// A client's connection: reads requests one after the other, has each answered, writes the answer.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/exchange.h"
#include "http/request_reader.h"
#include "http/worker.h"

namespace plackett::http {

// Lives on one thread, kept by its worker until it closes.
class Connection final : public Exchange {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(Site& its_site, ThreadRoom& its_room, Worker& worker, std::shared_ptr<Mailbox> mailbox,
             Socket socket, boost::asio::ssl::context* tls);
  ~Connection() override = default;

  // One of these, once.
  void start();
  void refuse_all();  // says that there are too many connections, and closes

  void close();
  void close_if_idle();

  // When on_deadline() is to be called.
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }
  void on_deadline();

 private:
  using ErrorCode = boost::system::error_code;
  enum class Phase : std::uint8_t {
    kHandshake,
    kIdle,       // nothing of a request is there
    kReading,    // some of it is
    kServing,    // all of it is, and its answer is being made
    kWriting,    // the answer
    kLingering,  // answered for the last time; what still comes is thrown away
    kClosed,
  };

  void enter(Phase phase, double seconds);
  std::shared_ptr<Connection> self();

  void next_request();
  void read();
  void on_read(const ErrorCode& error, std::size_t bytes);
  void parse();
  bool make_room();
  // False where the answer is known already.
  bool on_header();
  void say_continue();
  void refuse_bytes(const ErrorCode& error);
  void answer_and_close(unsigned status, std::string_view message);

  void send() override;
  void write_head(bool keep);
  void on_written(const ErrorCode& error);
  void linger();

  template <typename Buffers, typename Handler>
  void write(const Buffers& buffers, Handler&& handler);

  Worker& worker_;
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
  std::optional<RequestReader> reader_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is not parsed yet
  std::size_t end_ = 0;
  std::string head_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point served_from_;
  const Route* route_ = nullptr;
  std::size_t route_index_ = 0;
  std::size_t lingered_bytes_ = 0;
  Phase phase_ = Phase::kIdle;
  bool header_done_ = false;
  bool close_after_ = false;
  bool timed_out_ = false;
};

}  // namespace plackett::http
