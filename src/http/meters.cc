#include "http/meters.h"

#include <algorithm>

namespace plackett::http {
namespace {

// One thread adds, so no locked instruction is needed.
template <typename T>
void add(std::atomic<T>& number, T more) {
  number.store(number.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void Meters::count(std::size_t route, unsigned status, double seconds) {
  RouteMeters& meters = routes_[std::min(route, routes_.size() - 1)];
  const auto known = std::find(kStatuses.begin(), kStatuses.end() - 1, status);
  add(meters.by_status[static_cast<std::size_t>(known - kStatuses.begin())], std::uint64_t{1});
  const auto bucket = std::lower_bound(kLatencyBuckets.begin(), kLatencyBuckets.end(), seconds);
  add(meters.by_latency[static_cast<std::size_t>(bucket - kLatencyBuckets.begin())],
      std::uint64_t{1});
  add(meters.seconds, seconds);
}

void Meters::add_to(std::vector<RouteCounts>& counts) const {
  counts.resize(routes_.size());
  for (std::size_t route = 0; route < routes_.size(); ++route) {
    const RouteMeters& meters = routes_[route];
    const auto sum = [](std::uint64_t count, const std::atomic<std::uint64_t>& more) {
      return count + more.load(std::memory_order_relaxed);
    };
    const auto sum_all = [&](auto& all, const auto& more) {
      std::transform(all.begin(), all.end(), more.begin(), all.begin(), sum);
    };
    sum_all(counts[route].by_status, meters.by_status);
    sum_all(counts[route].by_latency, meters.by_latency);
    counts[route].seconds += meters.seconds.load(std::memory_order_relaxed);
  }
}

}  // namespace plackett::http
