#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/embedded_file.h"
#include "http/exchange.h"
#include "http/metrics_text.h"
#include "http/router.h"
#include "plackett/version.h"

namespace plackett::http {

// Those of web/, and the API's description; made by cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

namespace {

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
  };
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

void answer_page(Exchange& exchange, std::string_view name) {
  const auto files = embedded_files();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const EmbeddedFile& one) { return one.name == name; });
  if (file == files.end()) {
    throw Failed{{ErrorCode::kNotFound, fmt::format("no file \"{}\"", name)}};
  }
  const std::string etag =
      fmt::format("\"{:016x}\"", XXH3_64bits(file->bytes.data(), file->bytes.size()));
  const std::string_view type = type_of(name);
  Response& response = exchange.response;
  response.set(Field::etag, etag);
  response.set(Field::cache_control, "no-cache");
  response.set(Field::content_type, {type.data(), type.size()});
  if (type.starts_with("text/html") || type == "image/svg+xml") {
    response.set("Content-Security-Policy",
                 "default-src 'self'; img-src 'self' data:; base-uri 'none'; "
                 "frame-ancestors 'none'");
  }
  const std::string_view known = exchange.header(Field::if_none_match);
  if (known == "*" || known.find(etag) != std::string_view::npos) {
    exchange.status(304);
  } else {
    response.body() = file->bytes;
  }
}

}  // namespace

void get_health(Exchange& exchange) {
  exchange.json().object("status", "ok", "version", version(), "demo", exchange.site.options.demo);
}

void get_ready(Exchange& exchange) {
  const std::string why =
      exchange.site.stopping ? "the server is stopping" : exchange.site.service.not_ready();
  if (!why.empty()) exchange.status(503);
  JsonWriter json = exchange.json();
  json.object([&] {
    json.fields("status", why.empty() ? "ready" : why);
    const auto faults = exchange.site.service.faults();
    if (faults.empty()) return;
    const auto write_reasons = [&] {
      for (const auto& [model, reason] : faults) json.fields(model, reason);
    };
    json.fields("frozen", [&] { json.object(write_reasons); });
  });
}

void get_nodes(Exchange& exchange) {
  const auto info = exchange.site.service.nodes();
  JsonWriter json = exchange.json();
  if (!info) return json.object("node", std::optional<double>(), "nodes", std::vector<double>());
  const auto write_node = [&](const serving::NodesInfo::Node& node) {
    json.object("id", node.id, "name", node.name, "started_at", node.started_at,  //
                "seen_at", node.seen_at, "ranked", node.meters.ranked,            //
                "events", node.meters.events, "lag_seconds", node.meters.lag_seconds, "leads",
                node.leads);
  };
  json.object("node", info->node, "nodes", [&] { json.array(info->nodes, write_node); });
}

void get_dashboard(Exchange& exchange) { answer_page(exchange, "dashboard.html"); }

void get_demo(Exchange& exchange) {
  if (!exchange.site.options.demo) {
    throw Failed{{ErrorCode::kNotFound, "no demo; start the server with --demo"}};
  }
  answer_page(exchange, "demo.html");
}

void get_web_file(Exchange& exchange) { answer_page(exchange, exchange.segment(1)); }
void get_openapi(Exchange& exchange) { answer_page(exchange, "openapi.json"); }

void get_metrics(Exchange& exchange) {
  ServerCounts counts;
  counts.connections = exchange.site.connections;
  if (const auto& log = exchange.site.request_log) counts.log_lines_lost = log->lost();
  for (const Meters* meters : exchange.site.meters) meters->add_to(counts.routes);
  exchange.response.set(Field::content_type, "text/plain; version=0.0.4; charset=utf-8");
  write_metrics(exchange.response.body(), counts, exchange.site.service.meters(), read_process());
}

}  // namespace plackett::http
