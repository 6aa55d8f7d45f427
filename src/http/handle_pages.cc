#include <fmt/format.h>

#include "http/exchange.h"
#include "http/handlers.h"
#include "http/json_writer.h"
#include "http/metrics_text.h"
#include "plackett/version.h"

namespace plackett::http {
namespace {

void answer_status(Exchange& exchange, std::string_view status) {
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.field("status", status);
  json.end_object();
}

void answer_page(Exchange& exchange, std::string_view name) {
  const Page* page = exchange.site.pages.find(name);
  if (page == nullptr) return exchange.fail(404, fmt::format("no file \"{}\"", name));
  Response& response = exchange.response;
  response.cacheable = true;
  response.headers += fmt::format("ETag: {}\r\nCache-Control: no-cache\r\n", page->etag);
  response.type = page->type;
  response.is_page = page->type.starts_with("text/html") || page->type == "image/svg+xml";
  if (exchange.request.if_none_match.find(page->etag) != std::string::npos ||
      exchange.request.if_none_match == "*") {
    response.status = 304;
    return;
  }
  response.page = page->bytes;
}

}  // namespace

void get_health(Exchange& exchange) {
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.field("status", "ok");
  json.field("version", version());
  json.field("demo", exchange.site.options.demo);
  json.end_object();
}

void get_ready(Exchange& exchange) {
  const std::string why = exchange.site.stopping.load() ? std::string("the server is stopping")
                                                        : exchange.site.service.not_ready();
  if (!why.empty()) exchange.response.status = 503;
  answer_status(exchange, why.empty() ? "ready" : why);
}

void get_dashboard(Exchange& exchange) { answer_page(exchange, "dashboard.html"); }

void get_demo(Exchange& exchange) {
  if (!exchange.site.options.demo) return exchange.fail(404, "no demo; serve it with --demo");
  answer_page(exchange, "demo.html");
}

void get_web_file(Exchange& exchange) { answer_page(exchange, exchange.segment(1)); }
void get_openapi(Exchange& exchange) { answer_page(exchange, "openapi.json"); }

void get_metrics(Exchange& exchange) {
  ServerCounts counts;
  counts.connections = exchange.site.connections.load();
  for (const Meters* meters : exchange.site.meters) add(*meters, counts.routes);
  exchange.response.type = "text/plain; version=0.0.4; charset=utf-8";
  write_metrics(exchange.response.body, exchange.site.router.routes(), counts,
                exchange.site.service.meters(), read_process());
}

}  // namespace plackett::http
