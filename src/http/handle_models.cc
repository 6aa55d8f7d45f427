#include "http/exchange.h"
#include "http/handlers.h"
#include "http/model_request.h"
#include "http/model_text.h"
#include "http/query.h"

namespace plackett::http {

void get_models(Exchange& exchange) {
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.key("models");
  json.begin_array();
  for (const serving::ModelInfo& info : exchange.site.service.models()) write_model(json, info);
  json.end_array();
  json.end_object();
}

void get_model(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  JsonWriter json(exchange.response.body);
  write_model(json, exchange.site.service.info(*model));
}

void put_model(Exchange& exchange) {
  auto spec = read_model_request(exchange.room.json, exchange.request.body, exchange.segment(1));
  if (!spec) return exchange.refuse(spec.error());
  exchange.site.service.create(
      std::move(*spec),
      exchange.later<serving::Created>([](Exchange& later, const serving::Created& created) {
        later.response.status = created.is_new ? 201 : 200;
        JsonWriter json(later.response.body);
        write_model(json, created.info);
      }));
}

void delete_model(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  exchange.site.service.remove(
      model, exchange.later<void>([](Exchange& later) { later.response.status = 204; }));
}

}  // namespace plackett::http
