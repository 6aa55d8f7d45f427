#include <fmt/format.h>

#include <cstring>

#include "http/exchange.h"
#include "http/handlers.h"
#include "http/model_request.h"
#include "http/model_text.h"

namespace plackett::http {
namespace {

void answer_model(Exchange& exchange, const serving::ModelInfo& info) {
  JsonWriter json(exchange.response.body);
  write_model(json, info);
}

void set_learning(Exchange& exchange, bool on) {
  const auto model = exchange.model();
  if (!model) return;
  exchange.site.service.set_learning(model, on, exchange.later<serving::ModelInfo>(answer_model));
}

}  // namespace

void get_snapshots(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const auto snapshots = exchange.site.service.snapshots(*model);
  if (!snapshots) return exchange.refuse(snapshots.error());
  JsonWriter json(exchange.response.body);
  json.begin_object();
  json.key("snapshots");
  json.begin_array();
  for (const serving::SnapshotInfo& snapshot : *snapshots) write_snapshot(json, snapshot);
  json.end_array();
  json.end_object();
}

void post_snapshot(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  auto note = read_snapshot_request(exchange.room.json, exchange.request.body);
  if (!note) return exchange.refuse(note.error());
  exchange.site.service.take_snapshot(
      model, std::move(*note),
      exchange.later<serving::SnapshotInfo>(
          [](Exchange& later, const serving::SnapshotInfo& snapshot) {
            later.response.status = 201;
            JsonWriter json(later.response.body);
            write_snapshot(json, snapshot);
          }));
}

void post_rollback(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const auto snapshot = read_rollback_request(exchange.room.json, exchange.request.body);
  if (!snapshot) return exchange.refuse(snapshot.error());
  exchange.site.service.roll_back(model, *snapshot,
                                  exchange.later<serving::ModelInfo>(answer_model));
}

void post_freeze(Exchange& exchange) { set_learning(exchange, false); }
void post_resume(Exchange& exchange) { set_learning(exchange, true); }

void get_weights(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  JsonWriter json(exchange.response.body);
  write_weights(json, exchange.site.service.weights(*model),
                name_of(serving::spec_of(*model).ranker.kind));
}

void get_export(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  const auto file = exchange.site.service.export_file(*model);
  Response& response = exchange.response;
  response.type = "application/octet-stream";
  response.headers += fmt::format("Content-Disposition: attachment; filename=\"{}.model\"\r\n",
                                  exchange.segment(1));
  response.body.assign(reinterpret_cast<const char*>(file.data()), file.size());
}

void post_import(Exchange& exchange) {
  const std::string_view body = exchange.request.body.view();
  std::vector<std::byte> file(body.size());
  if (!body.empty()) std::memcpy(file.data(), body.data(), body.size());
  exchange.site.service.import_file(exchange.segment(1), std::move(file),
                                    exchange.later<serving::ModelInfo>(answer_model));
}

}  // namespace plackett::http
