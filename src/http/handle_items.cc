#include "http/exchange.h"
#include "http/handlers.h"
#include "http/items_request.h"
#include "http/json_writer.h"

namespace plackett::http {

void put_items(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const serving::ModelSpec& spec = serving::spec_of(*model);
  auto items = read_items_request(exchange.room.json, exchange.request.body, spec,
                                  exchange.room.names.of(model, spec));
  if (!items) return exchange.refuse(items.error());
  const std::size_t count = items->ids.size();
  exchange.site.service.put_items(
      model, std::move(items->ids), std::move(items->rows),
      exchange.later<std::uint64_t>([count](Exchange& later, std::uint64_t stored) {
        JsonWriter json(later.response.body);
        json.begin_object();
        json.field("stored", count);
        json.field("items", stored);
        json.end_object();
      }));
}

void get_item(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const auto features = exchange.site.service.item(*model, exchange.segment(3));
  if (!features) return exchange.refuse(features.error());
  const std::size_t count = serving::spec_of(*model).ranker.feature_count;
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.field("id", exchange.segment(3));
  json.key("features");
  json.begin_array();
  for (std::size_t at = 0; at < std::min(count, features->size()); ++at) {
    json.value((*features)[at]);
  }
  json.end_array();
  json.end_object();
}

void delete_item(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  exchange.site.service.remove_item(
      model, exchange.segment(3),
      exchange.later<void>([](Exchange& later) { later.response.status = 204; }));
}

}  // namespace plackett::http
