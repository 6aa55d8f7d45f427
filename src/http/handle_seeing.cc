#include "http/exchange.h"
#include "http/handlers.h"
#include "http/model_text.h"
#include "http/query.h"

namespace plackett::http {
namespace {

constexpr WholeRange kPoints = {.fallback = 200, .least = 1, .most = 5000};
// Each is unpacked while others of the thread wait.
constexpr WholeRange kLimit = {.fallback = 20, .least = 1, .most = 100};

}  // namespace

void get_stats(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const Target& target = exchange.request.target;
  if (const auto known = check_query(target, {"points"}); !known) {
    return exchange.refuse(known.error());
  }
  const auto points = query_whole(target, "points", kPoints);
  if (!points) return exchange.refuse(points.error());
  const auto stats = exchange.site.service.stats(*model, *points);
  if (!stats) return exchange.refuse(stats.error());
  JsonWriter json(exchange.response.body);
  write_stats(json, *stats);
}

void get_impressions(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const Target& target = exchange.request.target;
  if (const auto known = check_query(target, {"limit", "clicked"}); !known) {
    return exchange.refuse(known.error());
  }
  const auto limit = query_whole(target, "limit", kLimit);
  if (!limit) return exchange.refuse(limit.error());
  const auto clicked = query_flag(target, "clicked");
  if (!clicked) return exchange.refuse(clicked.error());
  const auto impressions = exchange.site.service.impressions(*model, *limit, *clicked);
  if (!impressions) return exchange.refuse(impressions.error());
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.key("impressions");
  json.begin_array();
  for (const serving::SeenImpression& one : *impressions) write_impression(json, one);
  json.end_array();
  json.end_object();
}

void get_impression(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const auto impression = exchange.site.service.impression(*model, exchange.segment(3));
  if (!impression) return exchange.refuse(impression.error());
  JsonWriter json(exchange.response.body);
  write_impression(json, *impression);
}

}  // namespace plackett::http
