#include "http/metrics_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

#include "http/router.h"

namespace plackett::http {
namespace {

using serving::ModelMeters;
using serving::ServiceMeters;

constexpr const char* kCounter = "counter";
constexpr const char* kGauge = "gauge";

template <typename Meters>
struct Metric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  double (*value)(const Meters& meters);
};

template <auto kMember>
constexpr auto kValue = [](const auto& meters) { return static_cast<double>(meters.*kMember); };

constexpr Metric<ModelMeters> kModelMetrics[] = {
    {"plackett_impressions_total", kCounter,
     "Rankings shown since the model was created, over restarts too.",
     kValue<&ModelMeters::impressions>},
    {"plackett_impressions_open", kGauge, "Impressions that wait for feedback.",
     kValue<&ModelMeters::open>},
    {"plackett_updates", kGauge,
     "Updates behind the parameters; a rollback or an import may lower them.",
     kValue<&ModelMeters::updates>},
    {"plackett_update_norm", kGauge, "Norm of the last update.", kValue<&ModelMeters::update_norm>},
    {"plackett_entropy", kGauge, "Entropy in nats of the first rank, of the last ranking.",
     kValue<&ModelMeters::entropy>},
    {"plackett_model_version", kGauge, "The version that ranks now.",
     kValue<&ModelMeters::version>},
    {"plackett_items", kGauge, "Items stored.", kValue<&ModelMeters::items>},
    {"plackett_learning", kGauge, "1 if the model learns, 0 if it is frozen.",
     kValue<&ModelMeters::learning>},
};

constexpr Metric<ServiceMeters> kStoreMetrics[] = {
    {"plackett_learning_queue", kGauge, "Log entries committed and not yet learned.",
     kValue<&ServiceMeters::learning_queue>},
    {"plackett_learning_lag_seconds", kGauge, "Age of the oldest of them.",
     kValue<&ServiceMeters::learning_lag_seconds>},
    {"plackett_store_queue", kGauge, "Requests that wait to be written.",
     kValue<&ServiceMeters::writer_queue>},
    {"plackett_store_lag_seconds", kGauge, "Age of the oldest of them.",
     kValue<&ServiceMeters::store_lag_seconds>},
    {"plackett_store_commits_total", kCounter, "Commits of the store.",
     kValue<&ServiceMeters::commits>},
    {"plackett_store_commit_seconds_total", kCounter, "Time spent in them, in seconds.",
     kValue<&ServiceMeters::commit_seconds>},
    {"plackett_store_syncs_total", kCounter, "Syncs of the store to the disk.",
     kValue<&ServiceMeters::syncs>},
    {"plackett_store_sync_seconds_total", kCounter, "Time spent in them, in seconds.",
     kValue<&ServiceMeters::sync_seconds>},
    {"plackett_store_write_failures_total", kCounter, "Writes that failed.",
     kValue<&ServiceMeters::write_failures>},
    {"plackett_store_bytes", kGauge, "Size of the store.", kValue<&ServiceMeters::store_bytes>},
};

constexpr Metric<ProcessFacts> kProcessMetrics[] = {
    {"process_resident_memory_bytes", kGauge, "Resident memory.",
     kValue<&ProcessFacts::resident_bytes>},
    {"process_start_time_seconds", kGauge, "Start of the process, in seconds since 1970.",
     kValue<&ProcessFacts::start_seconds>},
};

class MetricsWriter {
 public:
  explicit MetricsWriter(std::string& out) : out_(out) {}

  // Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
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
      metric(one.name, one.type, one.help);
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
  writer.metric("plackett_http_requests_total", kCounter,
                "Requests answered, by route, method and status.");
  for (std::size_t at = 0; at < server.routes.size(); ++at) {
    for (std::size_t status = 0; status < kStatuses.size(); ++status) {
      const std::uint64_t count = server.routes[at].by_status[status];
      if (count == 0) continue;
      const auto code = kStatuses[status] == 0 ? "other" : fmt::format("{}", kStatuses[status]);
      writer.sample(count, route_labels(at) + "," + label("status", code));
    }
  }
  writer.metric("plackett_http_request_seconds", "histogram",
                "From a request's last byte to its answer, in seconds.");
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
  writer.metric("plackett_http_connections", kGauge, "Open connections.");
  writer.sample(server.connections);
}

void write_models(MetricsWriter& writer, const std::vector<ModelMeters>& models) {
  for (const auto& one : kModelMetrics) {
    writer.metric(one.name, one.type, one.help);
    for (const ModelMeters& model : models) {
      writer.sample(one.value(model), label("model", model.name));
    }
  }
  const auto write_by_status = [&](const auto counts) {
    for (const ModelMeters& model : models) {
      for (std::size_t at = 0; at < serving::kFeedbackStatuses; ++at) {
        const auto status = serving::name_of(static_cast<serving::FeedbackStatus>(at));
        writer.sample((model.*counts)[at],
                      label("model", model.name) + "," + label("status", status));
      }
    }
  };
  writer.metric("plackett_feedback_events_total", kCounter,
                "Feedback events since the start, by status.");
  write_by_status(&ModelMeters::events);
  writer.metric("plackett_clicks_total", kCounter,
                "Clicks since the start, by status: accepted ones joined an impression.");
  write_by_status(&ModelMeters::clicks);
}

double seconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

const double kStartSeconds = seconds_since_1970();  // taken when the program is loaded

}  // namespace

ProcessFacts read_process() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  double resident_pages = 0;
  file >> pages >> resident_pages;
  return {resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)), kStartSeconds};
}

void write_metrics(std::string& out, const ServerCounts& server, const ServiceMeters& service,
                   const ProcessFacts& process) {
  MetricsWriter writer(out);
  write_requests(writer, server);
  write_models(writer, service.models);
  writer.all(kStoreMetrics, service);
  writer.all(kProcessMetrics, process);
}

}  // namespace plackett::http
