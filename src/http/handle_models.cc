#include <fmt/format.h>

#include "http/exchange.h"
#include "http/handlers.h"
#include "http/model_request.h"
#include "http/model_text.h"

namespace plackett::http {
namespace {

using serving::ModelInfo;
using serving::Service;

void answer_model(Exchange& exchange, const ModelInfo& info) {
  JsonWriter json(exchange.response.body());
  write_model(json, info);
}

Awaitable<void> set_learning(Exchange& exchange, bool on) {
  const auto model = exchange.model();
  const auto info = co_await exchange.ask<ModelInfo>(&Service::set_learning, model, on);
  answer_model(exchange, info);
}

}  // namespace

void get_models(Exchange& exchange) {
  const auto models = exchange.site.service.models();
  JsonWriter json(exchange.response.body());
  const auto write = [&](const ModelInfo& info) { write_model(json, info); };
  json.object("models", [&] { json.array(models, write); });
}

void get_model(Exchange& exchange) {
  answer_model(exchange, exchange.site.service.info(*exchange.model()));
}

Awaitable<void> put_model(Exchange& exchange) {
  auto spec = take(read_model_request(exchange.scratch.json, exchange.body(), exchange.segment(1)));
  const auto created = co_await exchange.ask<serving::Created>(&Service::create, std::move(spec));
  exchange.status(created.is_new ? 201 : 200);
  answer_model(exchange, created.info);
}

Awaitable<void> delete_model(Exchange& exchange) {
  const auto model = exchange.model();
  co_await exchange.ask<void>(&Service::remove, model);
  exchange.status(204);
}

void get_weights(Exchange& exchange) {
  const auto model = exchange.model();
  JsonWriter json(exchange.response.body());
  write_weights(json, exchange.site.service.weights(*model),
                name_of(serving::spec_of(*model).ranker.kind));
}

void get_export(Exchange& exchange) {
  const auto file = exchange.site.service.export_file(*exchange.model());
  Response& response = exchange.response;
  response.set(Field::content_type, "application/octet-stream");
  response.set(Field::content_disposition,
               fmt::format("attachment; filename=\"{}.model\"", exchange.segment(1)));
  response.body().assign(reinterpret_cast<const char*>(file.data()), file.size());
}

Awaitable<void> post_import(Exchange& exchange) {
  const std::string_view body = exchange.body();
  const auto* bytes = reinterpret_cast<const std::byte*>(body.data());
  std::vector<std::byte> file(bytes, bytes + body.size());
  const auto info =
      co_await exchange.ask<ModelInfo>(&Service::import_file, exchange.segment(1), std::move(file));
  answer_model(exchange, info);
}

void get_snapshots(Exchange& exchange) {
  const auto snapshots = take(exchange.site.service.snapshots(*exchange.model()));
  JsonWriter json(exchange.response.body());
  const auto write = [&](const serving::SnapshotInfo& one) { write_snapshot(json, one); };
  json.object("snapshots", [&] { json.array(snapshots, write); });
}

Awaitable<void> post_snapshot(Exchange& exchange) {
  const auto model = exchange.model();
  auto note = take(read_snapshot_request(exchange.scratch.json, exchange.body()));
  const auto snapshot =
      co_await exchange.ask<serving::SnapshotInfo>(&Service::take_snapshot, model, std::move(note));
  exchange.status(201);
  JsonWriter json(exchange.response.body());
  write_snapshot(json, snapshot);
}

Awaitable<void> post_rollback(Exchange& exchange) {
  const auto model = exchange.model();
  const auto snapshot = take(read_rollback_request(exchange.scratch.json, exchange.body()));
  const auto info = co_await exchange.ask<ModelInfo>(&Service::roll_back, model, snapshot);
  answer_model(exchange, info);
}

Awaitable<void> post_freeze(Exchange& exchange) { return set_learning(exchange, false); }
Awaitable<void> post_resume(Exchange& exchange) { return set_learning(exchange, true); }

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
