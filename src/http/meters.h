// What the server counts of its requests, a thread each: one thread adds, any thread reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace plackett::http {

inline constexpr std::array<unsigned, 22> kStatuses = {200, 201, 204, 304, 400, 401, 403, 404,
                                                       405, 408, 409, 413, 417, 429, 431, 500,
                                                       501, 503, 505, 206, 415, 0 /* any other */};
// Upper ends of the latency histogram's buckets, in seconds; one more has no end.
inline constexpr std::array<double, 14> kLatencyBuckets = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 10};

// A number that one thread adds to, without a locked instruction.
template <typename T>
class OwnedCounter {
 public:
  void add(T more) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  [[nodiscard]] T read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{0};
};

struct RouteMeters {
  std::array<OwnedCounter<std::uint64_t>, kStatuses.size()> by_status;
  std::array<OwnedCounter<std::uint64_t>, kLatencyBuckets.size() + 1> by_latency;
  OwnedCounter<double> seconds;
};

// One row a route, in the order of the route table; the last is for requests of no route.
class Meters {
 public:
  explicit Meters(std::size_t routes) : routes_(routes + 1) {}

  // The owner's thread alone. `seconds`: from the request's last byte to the answer's writing.
  void count(std::size_t route, unsigned status, double seconds);

  [[nodiscard]] std::span<const RouteMeters> routes() const { return routes_; }

 private:
  std::vector<RouteMeters> routes_;
};

// A route's counters, summed over the threads.
struct RouteCounts {
  std::array<std::uint64_t, kStatuses.size()> by_status{};
  std::array<std::uint64_t, kLatencyBuckets.size() + 1> by_latency{};
  double seconds = 0;
};
void add(const Meters& meters, std::vector<RouteCounts>& counts);

}  // namespace plackett::http
