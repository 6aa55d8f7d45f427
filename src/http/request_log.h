// A line of JSON per request, written by a thread of its own: no request waits for the disk or for
// a pipe's reader. Lines that it can't keep up with are dropped, the oldest first, and counted.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett::http {

// What is told of a request: never a token, a body or a query.
struct RequestRecord {
  std::chrono::system_clock::time_point at{};
  std::string_view method{};  // "unknown" if HTTP does not know it
  std::string_view route{};   // its pattern; empty: none
  std::string_view path{};    // as it was sent, without the query; empty: unreadable
  unsigned status = 0;
  std::int64_t microseconds = 0;  // from the request's last byte to its answer
  std::size_t bytes_in = 0;       // of the bodies
  std::size_t bytes_out = 0;
  std::string_view remote{};  // the client's address
  std::string_view model{};   // empty: the route is not about one
  std::string_view role{};    // of the token
};

// Appends the record to `line`, as one JSON object without a line's end.
void write_record(const RequestRecord& record, std::string& line);

// The path of a request's target: "/models/a" of "http://user:password@host/models/a?token=x".
// Units and ids of impressions are left out, however they are spelt: they may tell of a user who
// asks to be forgotten.
std::string_view path_of(std::string_view target);

class RequestLog {
 public:
  struct Options {
    std::filesystem::path path{};  // "-": standard output
    std::size_t queue_lines = 8192;
    std::function<void(const std::string& line)> complain{};  // about lines that were lost
  };

  // Appends to the file, which is created if there is none.
  static Result<std::unique_ptr<RequestLog>> open(const Options& options);
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;
  ~RequestLog();  // writes what waits, unless nobody reads it

  // From any thread; never waits. Lines reach the file within about a second. `line` is memory to
  // be used again.
  void add(const RequestRecord& record, std::string& line) noexcept;

  // Opens the file under its name again, for one that was moved away. On failure the old one is
  // kept.
  Result<void> reopen();

  // Lines that were dropped, or could not be written. From any thread.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  struct Parts;
  explicit RequestLog(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace plackett::http
