#include "http/meters.h"

#include <algorithm>

namespace plackett::http {

void Meters::count(std::size_t route, unsigned status, double seconds) {
  RouteMeters& meters = routes_[std::min(route, routes_.size() - 1)];
  const auto known = std::find(kStatuses.begin(), kStatuses.end() - 1, status);
  ++meters.by_status[static_cast<std::size_t>(known - kStatuses.begin())];
  const auto bucket = std::lower_bound(kLatencyBuckets.begin(), kLatencyBuckets.end(), seconds);
  ++meters.by_latency[static_cast<std::size_t>(bucket - kLatencyBuckets.begin())];
  meters.seconds.fetch_add(seconds);
}

void Meters::add_to(std::vector<RouteCounts>& counts) const {
  counts.resize(routes_.size());
  for (std::size_t route = 0; route < routes_.size(); ++route) {
    const RouteMeters& meters = routes_[route];
    RouteCounts& sums = counts[route];
    for (std::size_t at = 0; at < meters.by_status.size(); ++at) {
      sums.by_status[at] += meters.by_status[at];
    }
    for (std::size_t at = 0; at < meters.by_latency.size(); ++at) {
      sums.by_latency[at] += meters.by_latency[at];
    }
    sums.seconds += meters.seconds;
  }
}

}  // namespace plackett::http
