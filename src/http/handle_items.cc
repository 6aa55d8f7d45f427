#include "http/exchange.h"
#include "http/handlers.h"
#include "http/json_writer.h"
#include "http/model_request.h"

namespace plackett::http {

using serving::Service;

Awaitable<void> put_items(Exchange& exchange) {
  const auto model = exchange.model();
  const serving::ModelSpec& spec = serving::spec_of(*model);
  auto items = take(read_items_request(exchange.scratch.json, exchange.body(), spec,
                                       exchange.scratch.names.of(model)));
  const std::size_t count = items.ids.size();
  const auto stored = co_await exchange.ask<std::uint64_t>(
      &Service::put_items, model, std::move(items.ids), std::move(items.rows));
  JsonWriter(exchange.response.body()).object("stored", count, "items", stored);
}

void get_item(Exchange& exchange) {
  const auto model = exchange.model();
  auto features = take(exchange.site.service.item(*model, exchange.segment(3)));
  features.resize(serving::spec_of(*model).ranker.feature_count);  // without padding
  JsonWriter(exchange.response.body()).object("id", exchange.segment(3), "features", features);
}

Awaitable<void> delete_item(Exchange& exchange) {
  const auto model = exchange.model();
  co_await exchange.ask<void>(&Service::remove_item, model, exchange.segment(3));
  exchange.status(204);
}

}  // namespace plackett::http
