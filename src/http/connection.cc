#include "http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <cstring>
#include <utility>

#include "http/admission.h"

namespace plackett::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using beast::http::error;

constexpr std::size_t kFirstBuffer = 4096;
constexpr std::size_t kBodyBuffer = std::size_t{64} << 10;
constexpr std::size_t kSmallAnswer = std::size_t{16} << 10;  // one write with its head
constexpr std::size_t kKeptAnswerBytes = std::size_t{512} << 10;
constexpr double kLingerSeconds = 2;
constexpr std::size_t kLingerBytes = std::size_t{4} << 20;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

Connection::Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Connection::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

Connection::Connection(Site& its_site, ThreadRoom& its_room, Worker& worker,
                       std::shared_ptr<Mailbox> mailbox, Socket socket, asio::ssl::context* tls)
    : Exchange(its_site, its_room, std::move(mailbox)),
      worker_(worker),
      socket_(std::move(socket)) {
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

std::shared_ptr<Connection> Connection::self() {
  return std::static_pointer_cast<Connection>(shared_from_this());
}

void Connection::enter(Phase phase, double seconds) {
  phase_ = phase;
  deadline_ = seconds > 0 ? Clock::now() + seconds_of(seconds) : Clock::time_point::max();
}

void Connection::start() {
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  buffer_.resize(kFirstBuffer);
  if (!tls_) return next_request();
  enter(Phase::kHandshake, site.options.limits.request_seconds);
  tls_->async_handshake(asio::ssl::stream_base::server, [self = self()](const ErrorCode& error) {
    if (self->phase_ != Phase::kHandshake) return;
    if (error) return self->close();
    self->next_request();
  });
}

void Connection::refuse_all() {
  if (tls_) return close();
  answer_and_close(503, "too many connections");
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  deadline_ = Clock::time_point::max();
  ErrorCode ignored;
  socket_.close(ignored);
  site.connections.fetch_sub(1);
  worker_.forget(self());
}

void Connection::close_if_idle() {
  if (phase_ == Phase::kIdle || phase_ == Phase::kHandshake || phase_ == Phase::kLingering) close();
}

void Connection::on_deadline() {
  if (phase_ != Phase::kReading) return close();
  // The answer goes when the read has ended.
  timed_out_ = true;
  deadline_ = Clock::time_point::max();
  ErrorCode ignored;
  socket_.cancel(ignored);
}

void Connection::next_request() {
  if (site.stopping.load(std::memory_order_relaxed)) return close();
  response.clear();
  if (response.body.capacity() > kKeptAnswerBytes) response.body.shrink_to_fit();
  reader_.emplace(request, RequestReader::Limits{site.options.limits.header_bytes,
                                                 site.options.limits.body_bytes});
  route_ = nullptr;
  route_index_ = site.router.routes().size();
  header_done_ = false;
  enter(Phase::kIdle, site.options.limits.idle_seconds);
  parse();
}

// Makes space behind end_; false where the limit of what may stand unparsed is reached.
bool Connection::make_room() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (header_done_ && buffer_.size() < kBodyBuffer) buffer_.resize(kBodyBuffer);
  if (end_ < buffer_.size()) return true;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return true;
  }
  const std::size_t most =
      std::max<std::size_t>(kBodyBuffer, 2 * std::size_t{site.options.limits.header_bytes});
  if (buffer_.size() >= most) return false;
  buffer_.resize(std::min(most, 2 * buffer_.size()));
  return true;
}

void Connection::read() {
  if (!make_room()) return answer_and_close(431, "a line of the request is too long");
  const auto space = asio::buffer(buffer_.data() + end_, buffer_.size() - end_);
  auto done = [self = self()](const ErrorCode& error, std::size_t bytes) {
    self->on_read(error, bytes);
  };
  if (tls_) {
    tls_->async_read_some(space, std::move(done));
  } else {
    socket_.async_read_some(space, std::move(done));
  }
}

void Connection::on_read(const ErrorCode& error, std::size_t bytes) {
  if (phase_ == Phase::kLingering) {
    lingered_bytes_ += bytes;
    if (error || lingered_bytes_ > kLingerBytes) return close();
    begin_ = end_ = 0;
    return read();
  }
  if (phase_ != Phase::kIdle && phase_ != Phase::kReading) return;
  if (timed_out_) return answer_and_close(408, "the request did not come whole in time");
  if (error) return close();
  end_ += bytes;
  parse();
}

void Connection::parse() {
  while (begin_ < end_) {
    if (phase_ == Phase::kIdle) {
      // Empty lines between requests say nothing.
      if (buffer_[begin_] == '\r' || buffer_[begin_] == '\n') {
        ++begin_;
        continue;
      }
      enter(Phase::kReading, site.options.limits.request_seconds);
    }
    ErrorCode error;
    const std::size_t used =
        reader_->put(asio::const_buffer(buffer_.data() + begin_, end_ - begin_), error);
    begin_ += used;
    if (error && error != error::need_more) return refuse_bytes(error);
    if (!header_done_ && reader_->is_header_done()) {
      header_done_ = true;
      reader_->eager(true);
      if (!on_header()) return;
    }
    if (reader_->is_done()) {
      enter(Phase::kServing, 0);
      served_from_ = Clock::now();
      return handle(*route_);
    }
    if (error == error::need_more) break;
  }
  if (header_done_ && request.expects_continue && request.body.empty()) return say_continue();
  read();
}

bool Connection::on_header() {
  route_ = admit(*this, route_index_);
  if (route_ != nullptr) return true;
  // A body that is not here yet would be taken for the next request.
  close_after_ = !reader_->is_done();
  served_from_ = Clock::now();
  send();
  return false;
}

void Connection::say_continue() {
  request.expects_continue = false;
  write(asio::const_buffer(kContinue.data(), kContinue.size()),
        [self = self()](const ErrorCode& error, std::size_t) {
          if (self->phase_ != Phase::kReading) return;
          if (error) return self->close();
          if (self->timed_out_) return self->on_read(error, 0);
          self->read();
        });
}

void Connection::refuse_bytes(const ErrorCode& error) {
  if (error == error::header_limit) {
    return answer_and_close(
        431, fmt::format("the header is longer than {} bytes", site.options.limits.header_bytes));
  }
  if (error == error::body_limit || error == error::buffer_overflow) {
    return answer_and_close(
        413, fmt::format("the body is longer than {} bytes", site.options.limits.body_bytes));
  }
  answer_and_close(400, fmt::format("no HTTP request: {}", error.message()));
}

void Connection::answer_and_close(unsigned status, std::string_view message) {
  fail(status, message);
  close_after_ = true;
  served_from_ = Clock::now();
  if (reader_ == std::nullopt || !header_done_) route_index_ = site.router.routes().size();
  send();
}

void Connection::write_head(bool keep) {
  const bool empty = response.status == 204 || response.status == 304;
  const std::size_t length = response.page.empty() ? response.body.size() : response.page.size();
  head_.clear();
  const auto reason = beast::http::obsolete_reason(beast::http::int_to_status(response.status));
  fmt::format_to(std::back_inserter(head_), "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                 std::string_view(reason.data(), reason.size()), worker_.date());
  if (!empty) {
    fmt::format_to(std::back_inserter(head_), "Content-Type: {}\r\nContent-Length: {}\r\n",
                   response.type, length);
  }
  head_ += "X-Content-Type-Options: nosniff\r\n";
  if (!response.cacheable) head_ += "Cache-Control: no-store\r\n";
  if (response.is_page) {
    head_ +=
        "Content-Security-Policy: default-src 'self'; img-src 'self' data:; base-uri 'none'; "
        "frame-ancestors 'none'\r\n";
  }
  head_ += response.headers;
  if (!keep) {
    head_ += "Connection: close\r\n";
  } else if (reader_ && reader_->is_header_done() && request.is_http10) {
    head_ += "Connection: keep-alive\r\n";
  }
  head_ += "\r\n";
}

void Connection::send() {
  if (phase_ == Phase::kClosed) return;
  const bool keep = !close_after_ && header_done_ && reader_->keep_alive() &&
                    !site.stopping.load(std::memory_order_relaxed);
  close_after_ = !keep;
  write_head(keep);
  worker_.count(route_index_, response.status,
                std::chrono::duration<double>(Clock::now() - served_from_).count());
  const bool bare = response.status == 204 || response.status == 304 || request.verb == Verb::head;
  std::string_view content;
  if (!bare) content = response.page.empty() ? std::string_view(response.body) : response.page;
  enter(Phase::kWriting, site.options.limits.write_seconds);
  auto done = [self = self()](const ErrorCode& error, std::size_t) { self->on_written(error); };
  if (content.size() <= kSmallAnswer) {
    head_ += content;
    write(asio::const_buffer(head_.data(), head_.size()), std::move(done));
  } else {
    write(std::array{asio::const_buffer(head_.data(), head_.size()),
                     asio::const_buffer(content.data(), content.size())},
          std::move(done));
  }
}

template <typename Buffers, typename Handler>
void Connection::write(const Buffers& buffers, Handler&& handler) {
  // A client that takes something has its time anew.
  auto progress = [this, phase = phase_](const ErrorCode& error, std::size_t bytes) -> std::size_t {
    if (error) return 0;
    if (bytes > 0 && phase == Phase::kWriting && phase_ == phase) {
      deadline_ = Clock::now() + seconds_of(site.options.limits.write_seconds);
    }
    return kBodyBuffer;
  };
  if (tls_) {
    asio::async_write(*tls_, buffers, progress, std::forward<Handler>(handler));
  } else {
    asio::async_write(socket_, buffers, progress, std::forward<Handler>(handler));
  }
}

void Connection::on_written(const ErrorCode& error) {
  if (phase_ != Phase::kWriting) return;
  if (error) return close();
  if (close_after_) return linger();
  next_request();
}

// Closing while bytes of the client's are unread would reset the connection, and the client might
// never see the answer: its end is awaited a little.
void Connection::linger() {
  enter(Phase::kLingering, kLingerSeconds);
  begin_ = end_ = 0;
  header_done_ = false;
  if (buffer_.empty()) buffer_.resize(kFirstBuffer);
  if (tls_) {
    tls_->async_shutdown([self = self()](const ErrorCode&) { self->close(); });
    return;
  }
  ErrorCode error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) return close();
  read();
}

}  // namespace plackett::http
