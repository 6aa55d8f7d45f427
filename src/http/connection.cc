#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <optional>

#include "http/exchange.h"
#include "http/router.h"
#include "http/worker.h"

namespace plackett::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace protocol = boost::beast::http;
using beast::error_code;
using Clock = std::chrono::steady_clock;
using TlsStream = beast::ssl_stream<TcpStream>;

constexpr std::size_t kHeaderBuffer = 4096;
constexpr std::size_t kBodyBuffer = std::size_t{64} << 10;
constexpr std::size_t kBodySpare = kBodyBuffer + simdjson::SIMDJSON_PADDING;
// What the announced length of a body may reserve before its bytes arrive.
constexpr std::uint64_t kMaxReserved = std::uint64_t{256} << 10;
// Smaller answers are not counted: a connection has only one.
constexpr std::size_t kSmallAnswer = std::size_t{64} << 10;
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
constexpr double kLingerSeconds = 2;
// At the limit of connections a new one waits a little for another to close before it is refused.
constexpr std::chrono::milliseconds kWaitAtLimit{20};
constexpr int kWaitsAtLimit = 5;

Clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// Cancels the stream's operations when the time is over. The stream's own timeout would close it,
// but a request that takes too long is still answered.
class Deadline {
 public:
  Deadline(TcpStream& stream, double seconds)
      : timer_(stream.get_executor(), duration_of(seconds)) {
    timer_.async_wait([&stream, weak = std::weak_ptr<bool>(passed_)](const error_code& error) {
      const auto passed = weak.lock();
      if (error || !passed) return;
      *passed = true;
      stream.cancel();
    });
  }
  [[nodiscard]] bool passed() const { return *passed_; }

 private:
  std::shared_ptr<bool> passed_ = std::make_shared<bool>(false);
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> timer_;
};

// What one connection has of the bytes that are left for the bodies of all.
class BodyShare {
 public:
  explicit BodyShare(std::atomic<std::int64_t>& left) : left_(left) {}
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;
  ~BodyShare() { clear(); }

  // Takes the bytes, or none: false if fewer are left.
  bool add(std::size_t bytes) {
    const auto more = static_cast<std::int64_t>(bytes);
    const bool fits = left_.fetch_sub(more) >= more;
    if (fits) taken_ += more;
    if (!fits) left_ += more;
    return fits;
  }
  void clear() { left_ += std::exchange(taken_, 0); }

 private:
  std::atomic<std::int64_t>& left_;
  std::int64_t taken_ = 0;
};

// What Beast's parser leaves to us: one Host, which HTTP/1.1 requires; no second Origin or token;
// no coding that would hide where the body ends, and none at all in HTTP/1.0.
bool has_sound_fields(const Request& request) {
  const auto coding = request.find(Field::transfer_encoding);
  return request.count(Field::host) <= 1 && request.count(Field::origin) <= 1 &&
         request.count(Field::authorization) <= 1 && request.count(Field::transfer_encoding) <= 1 &&
         (request.version() < 11 ? coding == request.end() : request.count(Field::host) == 1) &&
         (coding == request.end() || beast::iequals(coding->value(), "chunked"));
}

template <typename Stream>
class Connection {
 public:
  Connection(Worker& worker, Stream& stream, OpenConnection& open)
      : worker_(worker),
        stream_(stream),
        open_(open),
        exchange_{worker.site, worker.scratch, worker.credentials, worker.io},
        bodies_(worker.site.body_bytes_left),
        limits_(worker.site.options.limits) {
    if (worker.site.request_log == nullptr) return;
    error_code error;
    const auto client = tcp().socket().remote_endpoint(error);
    if (!error) remote_ = client.address().to_string();
  }

  // `refused`: there are too many connections; says so and closes.
  Awaitable<void> serve(bool refused);

 private:
  enum class Reading : std::uint8_t { kWhole, kAnswered, kClosed };

  TcpStream& tcp() { return beast::get_lowest_layer(stream_); }
  void expire_after(double seconds) { tcp().expires_after(duration_of(seconds)); }

  Awaitable<bool> wait_for_request();
  error_code parse();
  void start(std::optional<Deadline>& deadline) {
    deadline.emplace(tcp(), limits_.request_seconds);
    // In case that the deadline falls between two operations, and cancels none.
    expire_after(limits_.request_seconds + 1);
  }
  Awaitable<Reading> read_request();
  Awaitable<bool> read_body(error_code& error);
  Reading answer_unread(const error_code& error, bool too_late);
  Awaitable<void> handle();
  void write_head(bool keep);
  Awaitable<bool> send(bool keep);
  void log(std::size_t bytes_out) noexcept;
  Awaitable<void> linger();

  Worker& worker_;
  Stream& stream_;
  OpenConnection& open_;
  Exchange exchange_;
  BodyShare bodies_;
  const Limits& limits_;
  beast::flat_buffer buffer_;
  std::optional<protocol::request_parser<RequestBody>> parser_;
  std::string head_;
  bool broken_ = false;  // what follows on the connection has no known start
  Match match_{.index = routes().size()};
  Clock::time_point read_at_ = Clock::now();
  Clock::duration took_{};  // from then to the answer
  std::string remote_;      // if there is a request log
};

template <typename Stream>
Awaitable<void> Connection<Stream>::serve(bool refused) {
  if (refused) {
    exchange_.fail(503, "too many connections");
    const bool sent = co_await send(false);
    if (sent) co_await linger();
    co_return;
  }
  while (co_await wait_for_request()) {
    const Reading reading = co_await read_request();
    if (reading == Reading::kClosed) co_return;
    if (reading == Reading::kWhole) co_await handle();
    // A body that is not read would be taken for the next request.
    const bool keep =
        !broken_ && parser_->is_done() && parser_->keep_alive() && !worker_.site.stopping;
    const bool sent = co_await send(keep);
    if (!sent) co_return;
    if (!keep) {
      co_await linger();
      co_return;
    }
  }
}

// Until the first byte of a request is there.
template <typename Stream>
Awaitable<bool> Connection<Stream>::wait_for_request() {
  open_.is_idle = true;
  exchange_.response = {};
  exchange_.grant = {};
  parser_.emplace();
  bodies_.clear();
  parser_->header_limit(limits_.header_bytes);
  parser_->body_limit(limits_.body_bytes.value);
  exchange_.request = &parser_->get();
  match_ = {.index = routes().size()};
  buffer_.reserve(kHeaderBuffer);
  expire_after(limits_.idle_seconds);
  while (true) {
    // Empty lines between requests mean nothing.
    while (buffer_.size() > 0) {
      const char first = *static_cast<const char*>(buffer_.data().data());
      if (first != '\r' && first != '\n') break;
      buffer_.consume(1);
    }
    if (worker_.site.stopping) co_return false;
    if (buffer_.size() > 0) break;
    error_code error;
    const std::size_t bytes =
        co_await stream_.async_read_some(buffer_.prepare(buffer_.capacity()), into(error));
    if (error) co_return false;
    buffer_.commit(bytes);
  }
  open_.is_idle = false;
  co_return true;
}

// Parses what has arrived: often the whole request.
template <typename Stream>
error_code Connection<Stream>::parse() {
  error_code error;
  buffer_.consume(parser_->put(buffer_.data(), error));
  return error == protocol::error::need_more ? error_code() : error;
}

template <typename Stream>
auto Connection<Stream>::read_request() -> Awaitable<Reading> {
  std::optional<Deadline> deadline;
  error_code error = parse();
  if (!error && !parser_->is_header_done()) {
    start(deadline);
    co_await protocol::async_read_header(stream_, buffer_, *parser_, into(error));
  }
  Request& request = parser_->get();
  read_at_ = Clock::now();
  if (!error && !has_sound_fields(request)) error = protocol::error::bad_field;
  if (!error) {
    if (!admit(exchange_, match_)) co_return Reading::kAnswered;
    if (parser_->is_done()) co_return Reading::kWhole;
    parser_->eager(true);
    const std::uint64_t length = parser_->content_length().value_or(0);
    request.body().reserve(std::min(length, kMaxReserved) + simdjson::SIMDJSON_PADDING);
    error = parse();
  }
  if (!error && !parser_->is_done()) {
    if (!deadline) start(deadline);
    buffer_.reserve(kBodyBuffer);
    const bool expects = request.version() >= 11 && request.count(Field::expect) > 0;
    if (expects && request.body().size() == 0) {
      protocol::response<protocol::empty_body> go_on(protocol::status::continue_, 11);
      co_await protocol::async_write(stream_, go_on, into(error));
    }
    const bool fits = co_await read_body(error);
    if (!fits) {
      exchange_.refuse({ErrorCode::kBusy, "too many large requests at once; try again later"});
      co_return Reading::kAnswered;
    }
  }
  read_at_ = Clock::now();
  co_return error ? answer_unread(error, deadline && deadline->passed()) : Reading::kWhole;
}

// The body's memory grows with the bytes that arrive. False if all bodies together take too much.
template <typename Stream>
Awaitable<bool> Connection<Stream>::read_body(error_code& error) {
  auto& body = parser_->get().body();
  if (!bodies_.add(body.capacity())) co_return false;
  while (!error && !parser_->is_done()) {
    if (body.size() + kBodyBuffer > body.capacity()) {
      const std::size_t most = limits_.body_bytes + kBodySpare;
      const std::size_t more =
          std::min(std::max(body.capacity(), kBodySpare), most - std::min(most, body.capacity()));
      if (!bodies_.add(more)) co_return false;
      body.reserve(body.capacity() + more);
    }
    co_await protocol::async_read_some(stream_, buffer_, *parser_, into(error));
  }
  co_return true;
}

template <typename Stream>
auto Connection<Stream>::answer_unread(const error_code& error, bool too_late) -> Reading {
  broken_ = true;
  if (too_late) {
    exchange_.fail(408, "the request did not arrive in time");
  } else if (error == protocol::error::header_limit) {
    exchange_.fail(431, fmt::format("the header exceeds {} bytes", limits_.header_bytes));
  } else if (error == protocol::error::body_limit || error == protocol::error::buffer_overflow) {
    exchange_.fail(413, fmt::format("the body exceeds {} bytes", limits_.body_bytes));
  } else if (error.category() != make_error_code(protocol::error::bad_field).category() ||
             error == protocol::error::end_of_stream || error == protocol::error::partial_message) {
    return Reading::kClosed;
  } else {
    exchange_.fail(400, fmt::format("invalid HTTP request: {}", error.message()));
  }
  return Reading::kAnswered;
}

// No exception leaves a handler.
template <typename Stream>
Awaitable<void> Connection<Stream>::handle() {
  const serving::Service& service = exchange_.site.service;
  const bool may_be_behind = service.is_shared() && match_.route->scope() == Scope::kModel;
  bool is_behind = false;
  try {
    // Another node may have made the model a moment ago.
    if (may_be_behind && service.find(exchange_.segment(1)) == nullptr) {
      co_await exchange_.template ask<void>(&serving::Service::refresh);
    }
    try {
      co_await match_.route->handle(exchange_);
    } catch (const Failed& failed) {
      is_behind = may_be_behind && failed.error.hint == Hint::kRefresh;
      if (!is_behind) throw;
    }
    if (is_behind) {
      exchange_.response = {};
      co_await exchange_.template ask<void>(&serving::Service::refresh);
      co_await match_.route->handle(exchange_);
    }
  } catch (const Failed& failed) {
    exchange_.refuse(failed.error);
  } catch (const std::bad_alloc&) {
    exchange_.refuse({ErrorCode::kUnavailable, "not enough memory for this request"});
  } catch (const std::exception& error) {
    exchange_.fail(500, fmt::format("internal error: {}", error.what()));
  }
}

// As text: Beast's serializer would take as long as all the rest of a small request.
template <typename Stream>
void Connection<Stream>::write_head(bool keep) {
  const Response& response = exchange_.response;
  head_ = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\nX-Content-Type-Options: nosniff\r\n",
                      response.result_int(), view(protocol::obsolete_reason(response.result())),
                      worker_.date());
  if (response.result() != protocol::status::no_content &&
      response.result() != protocol::status::not_modified) {
    head_ += fmt::format("Content-Length: {}\r\n", response.body().size());
    if (response.count(Field::content_type) == 0) head_ += "Content-Type: application/json\r\n";
  }
  if (response.count(Field::cache_control) == 0) head_ += "Cache-Control: no-store\r\n";
  if (!keep) {
    head_ += "Connection: close\r\n";
  } else if (exchange_.request->version() < 11) {
    head_ += "Connection: keep-alive\r\n";
  }
  for (const auto& field : response) {
    head_ += fmt::format("{}: {}\r\n", view(field.name_string()), view(field.value()));
  }
  head_ += "\r\n";
}

// False if the client does not take it.
template <typename Stream>
Awaitable<bool> Connection<Stream>::send(bool keep) {
  const Response& response = exchange_.response;
  // What was changed is always said; so is what could never fit.
  const bool is_read = !parser_ || parser_->get().method() == Verb::get;
  const std::size_t bytes = response.body().size();
  if (bytes > kSmallAnswer && bytes <= limits_.all_bodies_bytes && !bodies_.add(bytes) && is_read) {
    exchange_.refuse({ErrorCode::kBusy, "too many large answers at once; try again later"});
  }
  write_head(keep);
  took_ = Clock::now() - read_at_;
  worker_.meters.count(match_.index, response.result_int(),
                       std::chrono::duration<double>(took_).count());
  const bool head_only = parser_ && parser_->get().method() == Verb::head;
  const std::size_t size = head_only ? 0 : response.body().size();
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_),
                                                     asio::buffer(response.body().data(), size)};
  // A client that takes some of it gets more time.
  const auto progress = [this](const error_code& error, std::size_t) -> std::size_t {
    if (error) return 0;
    expire_after(limits_.write_seconds);
    return kBodyBuffer;
  };
  error_code error;
  co_await asio::async_write(stream_, buffers, progress, into(error));
  if (worker_.site.request_log != nullptr) log(size);
  co_return !error;
}

template <typename Stream>
void Connection<Stream>::log(std::size_t bytes_out) noexcept {
  RequestRecord record{
      .at = std::chrono::system_clock::now(),
      .method = "unknown",
      .status = exchange_.response.result_int(),
      .microseconds = std::chrono::duration_cast<std::chrono::microseconds>(took_).count(),
      .bytes_out = bytes_out,
      .remote = remote_,
      .role = name_of(exchange_.grant.role)};
  if (parser_) {
    const Request& request = parser_->get();
    if (request.method() != Verb::unknown) record.method = view(to_string(request.method()));
    record.path = path_of(view(request.target()));
    record.bytes_in = request.body().size();
  }
  if (match_.route != nullptr) {
    record.route = match_.route->pattern;
    if (match_.route->scope() == Scope::kModel) record.model = exchange_.segment(1);
  }
  worker_.site.request_log->add(record, worker_.log_line);
}

// Closing while bytes of the client are unread would reset the connection, and the client might
// never see the answer: waits a little for its end.
template <typename Stream>
Awaitable<void> Connection<Stream>::linger() {
  open_.is_idle = true;
  expire_after(kLingerSeconds);
  error_code error;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    co_await stream_.async_shutdown(into(error));
  } else {
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    for (std::size_t bytes = 0; !error && bytes <= kLingerBytes;) {
      buffer_.clear();
      bytes += co_await stream_.async_read_some(buffer_.prepare(kHeaderBuffer), into(error));
    }
  }
}

// A place among the connections that are served.
class Served {
 public:
  explicit Served(Site& site) : site_(site) {}
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    if (has_place_) --site_.served;
  }
  // Whether it has a place, or gets one now.
  bool begin() {
    std::size_t others = site_.served;
    while (!has_place_ && others < site_.options.limits.connections) {
      has_place_ = site_.served.compare_exchange_weak(others, others + 1);
    }
    return has_place_;
  }

 private:
  Site& site_;
  bool has_place_ = false;
};

}  // namespace

// `counted` leaves the count when the connection ends.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
Awaitable<void> serve_connection(Worker& worker, Socket socket, [[maybe_unused]] Counted counted) {
  error_code error;
  Served served(worker.site);
  if (!served.begin()) {
    // Another may be closing just now.
    asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor> pause(*worker.io);
    for (int waits = 0; waits < kWaitsAtLimit && !served.begin(); ++waits) {
      pause.expires_after(kWaitAtLimit);
      co_await pause.async_wait(into(error));
    }
  }
  const bool refused = !served.begin();
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  const std::shared_ptr<const Credentials> credentials = worker.credentials;
  if (credentials->tls == nullptr) {
    TcpStream stream(std::move(socket));
    OpenConnection open(worker, stream);
    Connection<TcpStream> connection(worker, stream, open);
    co_await connection.serve(refused);
    co_return;
  }
  TlsStream stream(TcpStream(std::move(socket)), *credentials->tls);
  TcpStream& tcp = beast::get_lowest_layer(stream);
  OpenConnection open(worker, tcp);
  if (refused) co_return;
  tcp.expires_after(duration_of(worker.site.options.limits.request_seconds));
  co_await stream.async_handshake(asio::ssl::stream_base::server, into(error));
  if (error) co_return;
  Connection<TlsStream> connection(worker, stream, open);
  co_await connection.serve(false);
}

}  // namespace plackett::http
