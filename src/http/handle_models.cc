#include <fmt/format.h>

#include <optional>

#include "http/exchange.h"
#include "http/model_text.h"
#include "http/requests.h"
#include "http/router.h"

namespace plackett::http {
namespace {

using serving::ModelInfo;
using serving::ModelSpec;
using serving::Service;

Awaitable<void> set_learning(Exchange& exchange, bool on) {
  const auto model = exchange.model();
  exchange.json().value(co_await exchange.ask<ModelInfo>(&Service::set_learning, model, on));
}

}  // namespace

void get_models(Exchange& exchange) {
  auto models = exchange.site.service.models();
  if (const std::string& only = exchange.grant.model; !only.empty()) {
    std::erase_if(models, [&](const ModelInfo& model) { return model.spec.name != only; });
  }
  // Without tokens everyone may do everything.
  const Role role = exchange.credentials->tokens.empty() ? Role::kAdmin : exchange.grant.role;
  exchange.json().object("models", models, "role", name_of(role));
}

void get_model(Exchange& exchange) {
  exchange.json().value(exchange.site.service.info(*exchange.model()));
}

Awaitable<void> put_model(Exchange& exchange) {
  const auto existing = exchange.site.service.find(exchange.segment(1));
  std::optional<ModelSpec> now;
  if (existing != nullptr) now = exchange.site.service.info(*existing).spec;
  auto wanted = take(read_model_request(exchange.scratch.json, exchange.body(), exchange.segment(1),
                                        now ? &*now : nullptr));
  const auto created = co_await exchange.ask<serving::Created>(&Service::create, std::move(wanted));
  exchange.status(created.is_new ? 201 : 200);
  exchange.json().value(created.info);
}

Awaitable<void> delete_model(Exchange& exchange) {
  const auto model = exchange.model();
  co_await exchange.ask<void>(&Service::remove, model);
  exchange.status(204);
}

void get_weights(Exchange& exchange) {
  const auto model = exchange.model();
  const auto weights = exchange.site.service.weights(*model);
  exchange.json().object("version", weights.version, "ranker",
                         name_of(serving::spec_of(*model).ranker.kind), "weights",
                         weights.features);
}

Awaitable<void> put_weights(Exchange& exchange) {
  const auto model = exchange.model();
  auto weights = take(read_weights_request(exchange.scratch.json, exchange.body(),
                                           serving::spec_of(*model), serving::names_of(*model)));
  exchange.json().value(
      co_await exchange.ask<ModelInfo>(&Service::set_weights, model, std::move(weights)));
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
  take(check_query(exchange.target, {"learner", "scaling"}));
  const serving::ImportOptions options{.learner = query_text(exchange.target, "learner"),
                                       .scaling = query_text(exchange.target, "scaling")};
  const auto info = co_await exchange.ask<ModelInfo>(&Service::import_file, exchange.segment(1),
                                                     std::move(file), options);
  exchange.json().value(info);
}

Awaitable<void> get_snapshots(Exchange& exchange) {
  using Snapshots = std::vector<serving::SnapshotRow>;
  const auto read = [&service = exchange.site.service, model = exchange.model()] {
    return service.snapshots(*model);
  };
  exchange.json().object("snapshots", co_await exchange.read<Snapshots>(read));
}

Awaitable<void> post_snapshot(Exchange& exchange) {
  const auto model = exchange.model();
  auto note = take(read_snapshot_request(exchange.scratch.json, exchange.body()));
  const auto snapshot =
      co_await exchange.ask<serving::SnapshotRow>(&Service::take_snapshot, model, std::move(note));
  exchange.status(201);
  exchange.json().value(snapshot);
}

Awaitable<void> post_rollback(Exchange& exchange) {
  const auto model = exchange.model();
  const auto snapshot = take(read_rollback_request(exchange.scratch.json, exchange.body()));
  exchange.json().value(co_await exchange.ask<ModelInfo>(&Service::roll_back, model, snapshot));
}

Awaitable<void> post_freeze(Exchange& exchange) { return set_learning(exchange, false); }
Awaitable<void> post_resume(Exchange& exchange) { return set_learning(exchange, true); }

Awaitable<void> put_items(Exchange& exchange) {
  const auto model = exchange.model();
  auto items = take(read_items_request(exchange.scratch.json, exchange.body(),
                                       serving::spec_of(*model), serving::names_of(*model)));
  const std::size_t count = items.ids.size();
  const auto stored = co_await exchange.ask<std::uint64_t>(
      &Service::put_items, model, std::move(items.ids), std::move(items.rows));
  exchange.json().object("stored", count, "items", stored);
}

void get_item(Exchange& exchange) {
  const auto model = exchange.model();
  auto features = take(exchange.site.service.item(*model, exchange.segment(3)));
  features.resize(serving::spec_of(*model).ranker.feature_count);  // without padding
  exchange.json().object("id", exchange.segment(3), "features", features);
}

Awaitable<void> delete_unit(Exchange& exchange) {
  const auto model = exchange.model();
  take(check_query(exchange.target, {"impressions"}));
  const std::string wanted = query_text(exchange.target, "impressions");
  if (!wanted.empty() && wanted != "keep" && wanted != "drop") {
    throw Failed{
        {ErrorCode::kInvalid, fmt::format("\"{}\"; expected keep or drop", wanted), "impressions"}};
  }
  const std::string& unit = exchange.segment(3);
  if (unit.size() > serving::kMaxIdBytes || unit.find('\0') != std::string::npos) {
    throw Failed{
        {ErrorCode::kInvalid,
         fmt::format("a unit has 1 to {} bytes, and no character U+0000", serving::kMaxIdBytes)}};
  }
  const auto count =
      co_await exchange.ask<std::uint64_t>(&Service::forget_unit, model, unit, wanted == "drop");
  exchange.json().object("impressions", count);
}

Awaitable<void> post_vacuum(Exchange& exchange) {
  co_await exchange.ask<void>(&Service::vacuum);
  exchange.json().object("store_bytes", exchange.site.service.meters().store_bytes);
}

Awaitable<void> delete_item(Exchange& exchange) {
  const auto model = exchange.model();
  co_await exchange.ask<void>(&Service::remove_item, model, exchange.segment(3));
  exchange.status(204);
}

}  // namespace plackett::http
