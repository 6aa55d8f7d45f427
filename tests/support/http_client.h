// A small blocking HTTP/1.1 client for loopback, strict about answers, and raw connections for
// invalid requests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plackett::testing {

// The server's answer was missing, incomplete or invalid.
struct NoAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline bool equal_but_case(std::string_view one, std::string_view other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Answer {
  int status = 0;
  Headers headers;
  std::string body;

  // Empty if there is none.
  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (equal_but_case(key, name)) return value;
    }
    return "";
  }
  // The media type without its parameters.
  [[nodiscard]] std::string type() const {
    const std::string whole = header("Content-Type");
    return whole.substr(0, whole.find_first_of("; "));
  }
  // Throws if the body is not JSON.
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }

  // For messages of failed tests.
  friend void PrintTo(const Answer& answer, std::ostream* out) {
    *out << answer.status << " " << answer.body.substr(0, 400);
  }
};

// A connection to loopback. Every call returns within the timeout.
class Connection {
 public:
  static constexpr int kTimeoutMs = 10'000;

  explicit Connection(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    sockaddr generic{};
    static_assert(sizeof(generic) == sizeof(address));
    std::memcpy(&generic, &address, sizeof(generic));
    if (::connect(socket_, &generic, sizeof(generic)) != 0) {
      const std::string why = std::strerror(errno);
      ::close(socket_);
      throw NoAnswer("can't connect: " + why);
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  // Whether all was sent: false if the peer closed, or answered before the end.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd waiting{socket_, POLLIN | POLLOUT, 0};
      if (::poll(&waiting, 1, kTimeoutMs) <= 0) throw NoAnswer("the server does not read");
      if ((waiting.revents & (POLLIN | POLLERR | POLLHUP)) != 0) return false;
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EAGAIN) continue;
      if (sent < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Sends even if answers wait to be read, like a client that pipelines.
  void send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) throw NoAnswer(std::string("can't send: ") + std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // Sends without reading for that long; returns how many bytes the peer accepted.
  std::size_t send_what_fits(std::string_view bytes, std::chrono::milliseconds patience) {
    const auto end = std::chrono::steady_clock::now() + patience;
    std::size_t taken = 0;
    while (taken < bytes.size() && std::chrono::steady_clock::now() < end) {
      pollfd waiting{socket_, POLLOUT, 0};
      if (::poll(&waiting, 1, 10) <= 0) continue;
      const ssize_t sent =
          ::send(socket_, bytes.data() + taken, bytes.size() - taken, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) break;
      if (sent > 0) taken += static_cast<std::size_t>(sent);
    }
    return taken;
  }

  // From now on, closing resets the connection, as when a client crashes.
  void reset_when_closed() {
    const linger now{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }

  // Closes only our side.
  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  // The next answer that is not an interim one. `bodiless`: it answers a HEAD.
  Answer read_answer(bool bodiless = false) {
    Answer answer = read_head();
    while (answer.status / 100 == 1) answer = read_head();
    if (bodiless || answer.status == 204 || answer.status == 304) return answer;
    const std::string length = answer.header("Content-Length");
    if (equal_but_case(answer.header("Transfer-Encoding"), "chunked")) {
      read_chunks(answer.body);
    } else if (!length.empty()) {
      if (length.find_first_not_of("0123456789") != std::string::npos) {
        throw NoAnswer("Content-Length: " + length);
      }
      answer.body = take(std::stoull(length));
    } else {
      while (receive()) {
      }
      answer.body = std::exchange(buffer_, {});
    }
    return answer;
  }

  // Whether the peer closes within the timeout; discards what it sends until then.
  bool closes() {
    try {
      while (receive()) {
      }
      return true;
    } catch (const NoAnswer&) {
      return false;
    }
  }

  // Whether the peer has closed, or sent unexpected bytes.
  [[nodiscard]] bool stale() const {
    pollfd waiting{socket_, POLLIN, 0};
    return !buffer_.empty() || ::poll(&waiting, 1, 0) != 0;
  }

 private:
  // Reads more into the buffer; false if the peer has closed.
  bool receive() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, kTimeoutMs) <= 0) throw NoAnswer("no answer in time");
    char bytes[65536];
    const ssize_t got = ::recv(socket_, bytes, sizeof(bytes), 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  std::string take(std::size_t size) {
    while (buffer_.size() < size) {
      if (!receive()) throw NoAnswer("the answer ends early");
    }
    std::string bytes = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return bytes;
  }

  std::string take_line() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n")) == std::string::npos) {
      if (!receive()) {
        throw NoAnswer(buffer_.empty() ? "closed without an answer" : "the answer ends early");
      }
    }
    const std::string line = take(end + 2);
    return line.substr(0, end);
  }

  Answer read_head() {
    Answer answer;
    const std::string line = take_line();
    const auto digit = [&](std::size_t at) { return line[at] >= '0' && line[at] <= '9'; };
    if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ' || !digit(9) ||
        !digit(10) || !digit(11) || (line.size() > 12 && line[12] != ' ')) {
      throw NoAnswer("no status line: " + line);
    }
    answer.status = std::stoi(line.substr(9, 3));
    for (std::string header = take_line(); !header.empty(); header = take_line()) {
      const std::size_t colon = header.find(':');
      if (colon == std::string::npos || colon == 0) throw NoAnswer("no header: " + header);
      const std::size_t value = header.find_first_not_of(' ', colon + 1);
      answer.headers.emplace_back(header.substr(0, colon),
                                  value == std::string::npos ? "" : header.substr(value));
    }
    return answer;
  }

  void read_chunks(std::string& body) {
    for (;;) {
      const std::size_t size = std::stoull(take_line(), nullptr, 16);
      body += take(size);
      const std::string end = take_line();
      if (!end.empty()) throw NoAnswer("after a chunk: " + end);
      if (size == 0) return;
    }
  }

  int socket_;
  std::string buffer_;
};

// The bytes of a request; with Host, Content-Length and Connection unless in `headers`.
inline std::string request_bytes(const std::string& method, const std::string& target,
                                 const std::string& body = "", const Headers& headers = {}) {
  const auto has = [&](std::string_view name) {
    return std::any_of(headers.begin(), headers.end(),
                       [&](const auto& header) { return equal_but_case(header.first, name); });
  };
  std::string bytes = method + " " + target + " HTTP/1.1\r\n";
  if (!has("Host")) bytes += "Host: 127.0.0.1\r\n";
  if (!has("Content-Length") && !has("Transfer-Encoding") && (method != "GET" || !body.empty())) {
    bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  for (const auto& [name, value] : headers) bytes.append(name).append(": ").append(value) += "\r\n";
  return bytes + "\r\n" + body;
}

// One connection, kept alive as long as the server keeps it.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, std::string token = "")
      : port_(port), token_(std::move(token)) {}

  Answer send(const std::string& method, const std::string& target, const std::string& body = "",
              Headers headers = {}) {
    if (connection_ != nullptr && connection_->stale()) connection_.reset();
    if (connection_ == nullptr) connection_ = std::make_unique<Connection>(port_);
    if (!token_.empty()) headers.emplace_back("Authorization", "Bearer " + token_);
    connection_->send(request_bytes(method, target, body, headers));
    try {
      Answer answer = connection_->read_answer(method == "HEAD");
      if (equal_but_case(answer.header("Connection"), "close")) connection_.reset();
      return answer;
    } catch (...) {
      connection_.reset();
      throw;
    }
  }

  Answer get(const std::string& target) { return send("GET", target); }
  Answer remove(const std::string& target) { return send("DELETE", target); }
  Answer put(const std::string& target, const nlohmann::json& body) {
    return send("PUT", target, body.dump(), {{"Content-Type", "application/json"}});
  }
  Answer post(const std::string& target, const nlohmann::json& body) {
    return send("POST", target, body.dump(), {{"Content-Type", "application/json"}});
  }
  Answer post(const std::string& target) { return send("POST", target); }

 private:
  std::uint16_t port_;
  std::string token_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace plackett::testing
