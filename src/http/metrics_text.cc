#include "http/metrics_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>

namespace plackett::http {
namespace {

using serving::ModelMeters;

struct Label {
  std::string_view name;
  std::string_view value;
};

class MetricsWriter {
 public:
  explicit MetricsWriter(std::string& out) : out_(out) {}

  // Begins a metric; its samples follow.
  void metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }

  template <typename T>
  void sample(T value, std::initializer_list<Label> labels = {}, std::string_view ending = {}) {
    out_ += name_;
    out_ += ending;
    char separator = '{';
    for (const Label& label : labels) {
      out_ += separator;
      out_ += label.name;
      out_ += "=\"";
      append_escaped(label.value);
      out_ += '"';
      separator = ',';
    }
    if (separator == ',') out_ += '}';
    fmt::format_to(std::back_inserter(out_), " {}\n", value);
  }

 private:
  void append_escaped(std::string_view text) {
    for (const char byte : text) {
      if (byte == '\n') {
        out_ += "\\n";
        continue;
      }
      if (byte == '"' || byte == '\\') out_ += '\\';
      out_ += byte;
    }
  }

  std::string& out_;
  std::string_view name_;
};

void write_requests(MetricsWriter& writer, std::span<const Route> routes,
                    const ServerCounts& server) {
  const auto labels_of = [&](std::size_t at) {
    const bool routed = at < routes.size();
    const auto verb =
        routed ? boost::beast::http::to_string(routes[at].verb) : boost::beast::string_view("none");
    return std::pair<std::string_view, std::string_view>(
        routed ? routes[at].pattern : std::string_view("none"), {verb.data(), verb.size()});
  };
  writer.metric("plackett_http_requests_total", "counter",
                "Requests answered, by route, method and status.");
  for (std::size_t at = 0; at < server.routes.size(); ++at) {
    const auto [pattern, verb] = labels_of(at);
    for (std::size_t status = 0; status < kStatuses.size(); ++status) {
      const std::uint64_t count = server.routes[at].by_status[status];
      if (count == 0) continue;
      const std::string code =
          kStatuses[status] == 0 ? std::string("other") : fmt::format("{}", kStatuses[status]);
      writer.sample(count, {{"route", pattern}, {"method", verb}, {"status", code}});
    }
  }
  writer.metric("plackett_http_request_seconds", "histogram",
                "From a request's last byte to its answer, in seconds.");
  for (std::size_t at = 0; at < server.routes.size(); ++at) {
    const auto [pattern, verb] = labels_of(at);
    const RouteCounts& route = server.routes[at];
    if (std::accumulate(route.by_latency.begin(), route.by_latency.end(), std::uint64_t{0}) == 0) {
      continue;
    }
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < route.by_latency.size(); ++bucket) {
      below += route.by_latency[bucket];
      const std::string end = bucket < kLatencyBuckets.size()
                                  ? fmt::format("{}", kLatencyBuckets[bucket])
                                  : std::string("+Inf");
      writer.sample(below, {{"route", pattern}, {"method", verb}, {"le", end}}, "_bucket");
    }
    writer.sample(route.seconds, {{"route", pattern}, {"method", verb}}, "_sum");
    writer.sample(below, {{"route", pattern}, {"method", verb}}, "_count");
  }
  writer.metric("plackett_http_connections", "gauge", "Connections that are open.");
  writer.sample(server.connections);
}

// One sample a model.
template <typename Value>
void write_by_model(MetricsWriter& writer, const std::vector<ModelMeters>& models,
                    std::array<std::string_view, 3> metric, Value&& value) {
  writer.metric(metric[0], metric[1], metric[2]);
  for (const ModelMeters& model : models) writer.sample(value(model), {{"model", model.name}});
}

template <typename Counts>
void write_by_status(MetricsWriter& writer, const std::vector<ModelMeters>& models,
                     std::array<std::string_view, 3> metric, Counts&& counts) {
  writer.metric(metric[0], metric[1], metric[2]);
  for (const ModelMeters& model : models) {
    for (std::size_t at = 0; at < serving::kFeedbackStatuses; ++at) {
      const auto status = serving::name_of(static_cast<serving::FeedbackStatus>(at));
      writer.sample(counts(model)[at], {{"model", model.name}, {"status", status}});
    }
  }
}

void write_models(MetricsWriter& writer, const std::vector<ModelMeters>& models) {
  write_by_model(writer, models,
                 {"plackett_impressions_total", "counter",
                  "Rankings shown since the model was made, over restarts too."},
                 [](const ModelMeters& model) { return model.impressions; });
  write_by_model(writer, models,
                 {"plackett_impressions_open", "gauge", "Impressions that wait for feedback."},
                 [](const ModelMeters& model) { return model.open; });
  write_by_status(writer, models,
                  {"plackett_feedback_events_total", "counter",
                   "Feedback events since the start, by what became of them."},
                  [](const ModelMeters& model) -> const std::uint64_t* { return model.events; });
  write_by_status(
      writer, models,
      {"plackett_clicks_total", "counter",
       "Clicks since the start, by what became of them: accepted ones joined an impression."},
      [](const ModelMeters& model) -> const std::uint64_t* { return model.clicks; });
  write_by_model(writer, models,
                 {"plackett_updates", "gauge",
                  "Updates behind the parameters; a rollback or an import may lower them."},
                 [](const ModelMeters& model) { return model.updates; });
  write_by_model(writer, models,
                 {"plackett_update_norm", "gauge", "Norm of the last update's change."},
                 [](const ModelMeters& model) { return model.update_norm; });
  write_by_model(
      writer, models,
      {"plackett_entropy", "gauge", "Entropy in nats of who comes first, of the last ranking."},
      [](const ModelMeters& model) { return model.entropy; });
  write_by_model(writer, models, {"plackett_model_version", "gauge", "The version that ranks now."},
                 [](const ModelMeters& model) { return model.version; });
  write_by_model(writer, models, {"plackett_items", "gauge", "Items stored."},
                 [](const ModelMeters& model) { return model.items; });
  write_by_model(writer, models,
                 {"plackett_learning", "gauge", "1 where the model learns, 0 where it is frozen."},
                 [](const ModelMeters& model) { return model.learning ? 1 : 0; });
}

template <typename T>
void write_one(MetricsWriter& writer, std::array<std::string_view, 3> metric, T value) {
  writer.metric(metric[0], metric[1], metric[2]);
  writer.sample(value);
}

void write_store(MetricsWriter& writer, const serving::ServiceMeters& service) {
  write_one(writer,
            {"plackett_learning_queue", "gauge", "Log entries committed and not yet learned."},
            service.learning_queue);
  write_one(writer, {"plackett_learning_lag_seconds", "gauge", "Age of the oldest of them."},
            service.learning_lag_seconds);
  write_one(writer, {"plackett_store_queue", "gauge", "Requests that wait to be written."},
            service.writer_queue);
  write_one(writer, {"plackett_store_lag_seconds", "gauge", "Age of the oldest of them."},
            service.store_lag_seconds);
  write_one(writer, {"plackett_store_commits_total", "counter", "Commits of the store."},
            service.commits);
  write_one(writer,
            {"plackett_store_commit_seconds_total", "counter", "Time spent in them, in seconds."},
            service.commit_seconds);
  write_one(writer, {"plackett_store_syncs_total", "counter", "Syncs of the store to the disk."},
            service.syncs);
  write_one(writer,
            {"plackett_store_sync_seconds_total", "counter", "Time spent in them, in seconds."},
            service.sync_seconds);
  write_one(writer, {"plackett_store_write_failures_total", "counter", "Writes that failed."},
            service.write_failures);
  write_one(writer, {"plackett_store_bytes", "gauge", "Size of the store."}, service.store_bytes);
}

// Field `number` of /proc/self/stat, from 1, as proc(5) counts; 0 where it can't be read.
std::uint64_t process_stat(int number) {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // The second field is a name in parentheses, which may hold blanks.
  std::size_t at = text.rfind(')');
  for (int field = 2; field < number && at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
  }
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

double boot_seconds() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  }
  return 0;
}

}  // namespace

ProcessFacts read_process() {
  constexpr int kStartTime = 22;
  constexpr int kResidentPages = 24;
  static const double kStart = boot_seconds() + static_cast<double>(process_stat(kStartTime)) /
                                                    static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {process_stat(kResidentPages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
          kStart};
}

void write_metrics(std::string& out, std::span<const Route> routes, const ServerCounts& server,
                   const serving::ServiceMeters& service, const ProcessFacts& process) {
  MetricsWriter writer(out);
  write_requests(writer, routes, server);
  write_models(writer, service.models);
  write_store(writer, service);
  write_one(writer, {"process_resident_memory_bytes", "gauge", "Resident memory."},
            process.resident_bytes);
  write_one(writer,
            {"process_start_time_seconds", "gauge", "When the process started, since 1970."},
            process.start_seconds);
}

}  // namespace plackett::http
