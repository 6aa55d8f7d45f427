// Prometheus' text format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "http/meters.h"
#include "http/router.h"
#include "serving/service.h"

namespace plackett::http {

struct ServerCounts {
  std::vector<RouteCounts> routes;  // in the order of the route table, the unrouted last
  std::size_t connections = 0;
};

struct ProcessFacts {
  std::uint64_t resident_bytes = 0;
  double start_seconds = 0;  // since 1970
};
ProcessFacts read_process();

// Appends everything. Series that are 0 for a route are left out, so that the text stays short.
void write_metrics(std::string& out, std::span<const Route> routes, const ServerCounts& server,
                   const serving::ServiceMeters& service, const ProcessFacts& process);

}  // namespace plackett::http
