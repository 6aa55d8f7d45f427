#include "http/metrics_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

#include "http/router.h"

namespace plackett::http {
namespace {

using serving::ModelInfo;
using serving::ModelMeters;
using serving::ServiceMeters;

template <typename Meters>
struct Metric {
  std::string_view name;  // ends with _total if it is a counter; others are gauges
  std::string_view help;
  double (*value)(const Meters& meters);
};

template <auto kMember>
constexpr auto kOf = [](const auto& meters) { return static_cast<double>(meters.*kMember); };

constexpr Metric<ModelMeters> kModelMetrics[] = {
    {"plackett_impressions_total",
     "Rankings shown since the model was created, including restarts.",
     kOf<&ModelInfo::impressions>},
    {"plackett_updates", "Updates behind the parameters; a rollback or an import may lower them.",
     kOf<&ModelInfo::updates>},
    {"plackett_update_norm", "Norm of the last update.", kOf<&ModelMeters::update_norm>},
    {"plackett_entropy", "Entropy in nats of the first rank, of the last ranking.",
     kOf<&ModelMeters::entropy>},
    {"plackett_model_version", "The version that ranks now.", kOf<&ModelInfo::version>},
    {"plackett_items", "Items stored.", kOf<&ModelInfo::items>},
    {"plackett_learning", "1 if the model learns, 0 if it is frozen.", kOf<&ModelInfo::learning>},
};

constexpr Metric<ServiceMeters> kStoreMetrics[] = {
    {"plackett_learning_queue", "Log entries committed and not yet learned.",
     kOf<&ServiceMeters::learning_queue>},
    {"plackett_learning_lag_seconds", "Age of the oldest of them.",
     kOf<&ServiceMeters::learning_lag_seconds>},
    {"plackett_store_queue", "Requests that wait to be written.",
     kOf<&ServiceMeters::writer_queue>},
    {"plackett_store_lag_seconds", "Age of the oldest of them.",
     kOf<&ServiceMeters::store_lag_seconds>},
    {"plackett_store_commits_total", "Commits of the store.", kOf<&ServiceMeters::commits>},
    {"plackett_store_commit_seconds_total", "Time spent in them, in seconds.",
     kOf<&ServiceMeters::commit_seconds>},
    {"plackett_store_syncs_total", "Syncs of the store to the disk.", kOf<&ServiceMeters::syncs>},
    {"plackett_store_sync_seconds_total", "Time spent in them, in seconds.",
     kOf<&ServiceMeters::sync_seconds>},
    {"plackett_store_write_failures_total", "Writes that failed.",
     kOf<&ServiceMeters::write_failures>},
    {"plackett_store_bytes", "Size of the store.", kOf<&ServiceMeters::store_bytes>},
};

constexpr Metric<ProcessFacts> kProcessMetrics[] = {
    {"process_resident_memory_bytes", "Resident memory.", kOf<&ProcessFacts::resident_bytes>},
    {"process_start_time_seconds", "Start of the process, in seconds since 1970.",
     kOf<&ProcessFacts::start_seconds>},
};

class MetricsWriter {
 public:
  explicit MetricsWriter(std::string& out) : out_(out) {}

  // Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view help, std::string_view type = {}) {
    name_ = name;
    if (type.empty()) type = name.ends_with("_total") ? "counter" : "gauge";
    write("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  // `labels`: as `label()` writes them, with commas between.
  template <typename T>
  void sample(T value, const std::string& labels = {}, std::string_view ending = {}) {
    write(labels.empty() ? "{}{}{} {}\n" : "{}{}{{{}}} {}\n", name_, ending, labels, value);
  }
  // Metrics of one value each.
  template <typename Meters, std::size_t kCount>
  void all(const Metric<Meters> (&metrics)[kCount], const Meters& meters) {
    for (const auto& one : metrics) {
      metric(one.name, one.help);
      sample(one.value(meters));
    }
  }

 private:
  template <typename... Values>
  void write(fmt::string_view format, const Values&... values) {
    fmt::vformat_to(std::back_inserter(out_), format, fmt::make_format_args(values...));
  }

  std::string& out_;
  std::string_view name_;
};

std::string label(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}=\"", name);
  for (const char byte : value) {
    if (byte == '"' || byte == '\\' || byte == '\n') text += '\\';
    text += byte == '\n' ? 'n' : byte;
  }
  return text + '"';
}

std::string route_labels(std::size_t at) {
  if (at >= routes().size()) return label("route", "none") + "," + label("method", "none");
  const auto verb = boost::beast::http::to_string(routes()[at].verb);
  return label("route", routes()[at].pattern) + "," + label("method", {verb.data(), verb.size()});
}

void write_requests(MetricsWriter& writer, const ServerCounts& server) {
  writer.metric("plackett_http_requests_total", "Requests answered, by route, method and status.");
  for (std::size_t at = 0; at < server.routes.size(); ++at) {
    for (std::size_t status = 0; status < kStatuses.size(); ++status) {
      const std::uint64_t count = server.routes[at].by_status[status];
      if (count == 0) continue;
      const auto code = kStatuses[status] == 0 ? "other" : fmt::format("{}", kStatuses[status]);
      writer.sample(count, route_labels(at) + "," + label("status", code));
    }
  }
  writer.metric("plackett_http_request_seconds",
                "From a request's last byte to its answer, in seconds.", "histogram");
  for (std::size_t at = 0; at < server.routes.size(); ++at) {
    const RouteCounts& route = server.routes[at];
    const std::uint64_t total =
        std::accumulate(route.by_latency.begin(), route.by_latency.end(), std::uint64_t{0});
    if (total == 0) continue;
    const std::string labels = route_labels(at);
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < kLatencyBuckets.size(); ++bucket) {
      below += route.by_latency[bucket];
      const auto end = fmt::format("{}", kLatencyBuckets[bucket]);
      writer.sample(below, labels + "," + label("le", end), "_bucket");
    }
    writer.sample(total, labels + "," + label("le", "+Inf"), "_bucket");
    writer.sample(route.seconds, labels, "_sum");
    writer.sample(total, labels, "_count");
  }
  writer.metric("plackett_http_connections", "Open connections.");
  writer.sample(server.connections);
  writer.metric("plackett_request_log_lost_total",
                "Lines of the request log that were lost: the log could not be written as fast, or "
                "not at all.");
  writer.sample(server.log_lines_lost);
}

void write_models(MetricsWriter& writer, const std::vector<ModelMeters>& models) {
  for (const auto& one : kModelMetrics) {
    writer.metric(one.name, one.help);
    for (const ModelMeters& model : models) {
      writer.sample(one.value(model), label("model", model.spec.name));
    }
  }
  writer.metric("plackett_impressions_open",
                "Impressions that wait for feedback; not where several nodes serve the store.");
  for (const ModelMeters& model : models) {
    if (model.open) writer.sample(*model.open, label("model", model.spec.name));
  }
  const auto write_by_status = [&](const auto counts) {
    for (const ModelMeters& model : models) {
      for (std::size_t at = 0; at < serving::kFeedbackStatuses; ++at) {
        const auto status = serving::name_of(static_cast<serving::FeedbackStatus>(at));
        writer.sample((model.*counts)[at],
                      label("model", model.spec.name) + "," + label("status", status));
      }
    }
  };
  writer.metric("plackett_feedback_events_total", "Feedback events since the start, by status.");
  write_by_status(&ModelMeters::events);
  writer.metric("plackett_clicks_total",
                "Clicks since the start, by status: accepted ones joined an impression.");
  write_by_status(&ModelMeters::clicks);
}

void write_nodes(MetricsWriter& writer, const serving::NodesInfo& info) {
  const auto name = [](const auto& node) {
    return label("node", fmt::format("{}", node.id)) + "," + label("name", node.name);
  };
  writer.metric("plackett_node", "The number of this node, among those that serve the store.");
  writer.sample(info.node);
  writer.metric("plackett_node_lag_seconds", "How far this node is behind the others.");
  writer.sample(info.lag_seconds);
  writer.metric("plackett_nodes_ranked_total", "Rankings of each node since its start.");
  for (const auto& node : info.nodes) writer.sample(node.meters.ranked, name(node));
  writer.metric("plackett_nodes_events_total", "Feedback events of each node since its start.");
  for (const auto& node : info.nodes) writer.sample(node.meters.events, name(node));
  writer.metric("plackett_nodes_lag_seconds", "How far each node is behind, as it says itself.");
  for (const auto& node : info.nodes) writer.sample(node.meters.lag_seconds, name(node));
  writer.metric("plackett_model_leader", "1 for the node that learns the model.");
  for (const auto& node : info.nodes) {
    for (const std::string& model : node.leads) {
      writer.sample(1, label("model", model) + "," + name(node));
    }
  }
}

// Taken when the program is loaded.
const auto kStart = std::chrono::system_clock::now().time_since_epoch();

}  // namespace

void Meters::count(std::size_t route, unsigned status, double seconds) {
  RouteMeters& meters = routes_[std::min(route, routes_.size() - 1)];
  const auto known = std::find(kStatuses.begin(), kStatuses.end() - 1, status);
  ++meters.by_status[static_cast<std::size_t>(known - kStatuses.begin())];
  const auto bucket = std::lower_bound(kLatencyBuckets.begin(), kLatencyBuckets.end(), seconds);
  ++meters.by_latency[static_cast<std::size_t>(bucket - kLatencyBuckets.begin())];
  meters.seconds.fetch_add(seconds);
}

void Meters::add_to(std::vector<RouteCounts>& counts) const {
  const auto add = [](const auto& more, auto& sums) {
    for (std::size_t at = 0; at < sums.size(); ++at) sums[at] += more[at];
  };
  counts.resize(routes_.size());
  for (std::size_t route = 0; route < routes_.size(); ++route) {
    const RouteMeters& meters = routes_[route];
    RouteCounts& sums = counts[route];
    add(meters.by_status, sums.by_status);
    add(meters.by_latency, sums.by_latency);
    sums.seconds += meters.seconds;
  }
}

ProcessFacts read_process() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  double resident_pages = 0;
  file >> pages >> resident_pages;
  return {resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)),
          std::chrono::duration<double>(kStart).count()};
}

void write_metrics(std::string& out, const ServerCounts& server, const ServiceMeters& service,
                   const ProcessFacts& process) {
  MetricsWriter writer(out);
  write_requests(writer, server);
  write_models(writer, service.models);
  writer.all(kStoreMetrics, service);
  if (service.nodes) write_nodes(writer, *service.nodes);
  writer.all(kProcessMetrics, process);
}

}  // namespace plackett::http
