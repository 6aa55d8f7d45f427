// Prometheus' text format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "http/meters.h"
#include "serving/service.h"

namespace plackett::http {

struct ServerCounts {
  std::vector<RouteCounts> routes;  // in the order of the route table, the unrouted last
  std::size_t connections = 0;
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
