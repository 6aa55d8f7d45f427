#include "http/meters.h"

#include <algorithm>

namespace plackett::http {

void Meters::count(std::size_t route, unsigned status, double seconds) {
  RouteMeters& meters = routes_[std::min(route, routes_.size() - 1)];
  const auto known = std::find(kStatuses.begin(), kStatuses.end() - 1, status);
  meters.by_status[static_cast<std::size_t>(known - kStatuses.begin())].add(1);
  const auto bucket = std::lower_bound(kLatencyBuckets.begin(), kLatencyBuckets.end(), seconds);
  meters.by_latency[static_cast<std::size_t>(bucket - kLatencyBuckets.begin())].add(1);
  meters.seconds.add(seconds);
}

void add(const Meters& meters, std::vector<RouteCounts>& counts) {
  const auto routes = meters.routes();
  counts.resize(std::max(counts.size(), routes.size()));
  for (std::size_t route = 0; route < routes.size(); ++route) {
    for (std::size_t at = 0; at < kStatuses.size(); ++at) {
      counts[route].by_status[at] += routes[route].by_status[at].read();
    }
    for (std::size_t at = 0; at < counts[route].by_latency.size(); ++at) {
      counts[route].by_latency[at] += routes[route].by_latency[at].read();
    }
    counts[route].seconds += routes[route].seconds.read();
  }
}

}  // namespace plackett::http
