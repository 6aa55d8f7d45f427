// What the server counts, and its metrics in Prometheus' text format.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "serving/service.h"

namespace plackett::http {

inline constexpr std::array<unsigned, 20> kStatuses = {200, 201, 204, 304, 400, 401, 403,
                                                       404, 405, 408, 409, 413, 417, 429,
                                                       431, 500, 501, 503, 505, 0 /* others */};
// Upper ends of the latency histogram's buckets, in seconds; one more has no end.
inline constexpr std::array<double, 14> kLatencyBuckets = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 10};

// The counts of one route.
template <typename Count, typename Seconds>
struct RouteNumbers {
  std::array<Count, kStatuses.size()> by_status{};
  std::array<Count, kLatencyBuckets.size() + 1> by_latency{};
  Seconds seconds{};
};
using RouteCounts = RouteNumbers<std::uint64_t, double>;
using RouteMeters = RouteNumbers<std::atomic<std::uint64_t>, std::atomic<double>>;

// What one thread counts: that thread adds, any thread reads. One row per route, in the order of
// the route table; the last is for requests of no route.
class Meters {
 public:
  explicit Meters(std::size_t routes) : routes_(routes + 1) {}

  // The owner's thread alone. `seconds`: from the request's last byte to the answer's writing.
  void count(std::size_t route, unsigned status, double seconds);

  // Adds these counts to `counts`. From any thread.
  void add_to(std::vector<RouteCounts>& counts) const;

 private:
  std::vector<RouteMeters> routes_;
};

struct ServerCounts {
  std::vector<RouteCounts> routes;  // in the order of the route table, the unrouted last
  std::size_t connections = 0;
  std::uint64_t log_lines_lost = 0;  // of the request log
};

struct ProcessFacts {
  double resident_bytes = 0;
  double start_seconds = 0;  // since 1970
};
ProcessFacts read_process();

// Appends all metrics. Leaves out the series of routes that are 0.
void write_metrics(std::string& out, const ServerCounts& server,
                   const serving::ServiceMeters& service, const ProcessFacts& process);

}  // namespace plackett::http
