#include "http/exchange.h"
#include "http/handlers.h"
#include "http/json_writer.h"

namespace plackett::http {
namespace {

void write_ranking(std::string& out, const serving::Ranked& ranked,
                   const serving::RankRequest& request) {
  JsonWriter json(out);
  json.begin_object();
  json.field("impression", ranked.impression);
  json.field("model_version", ranked.model_version);
  json.key("items");
  json.begin_array();
  for (std::size_t rank = 0; rank < ranked.items.size(); ++rank) {
    const serving::RankedItem& item = ranked.items[rank];
    json.begin_object();
    json.field("id", request.items[item.item]);
    json.field("score", item.score);
    json.field("rank", rank + 1);
    if (item.pinned) json.field("pinned", true);
    json.end_object();
  }
  json.end_array();
  json.field("log_probability", ranked.log_probability);
  json.field("entropy", ranked.entropy);
  json.end_object();
}

}  // namespace

void post_rank(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  ThreadRoom& room = exchange.room;
  serving::RankRequest& request = room.rank_request;
  const serving::ModelSpec& spec = serving::spec_of(*model);
  if (const auto refused =
          room.rank_reader.read(room.json, exchange.request.body, spec, room.names.of(model, spec),
                                {.items = exchange.site.options.limits.items}, request)) {
    return exchange.refuse(*refused);
  }
  auto ranked = exchange.site.service.rank(*model, request, *room.ranking);
  if (!ranked) return exchange.refuse(ranked.error());
  // The request's memory is the next one's when the store has answered: the answer is made now.
  write_ranking(exchange.response.body, *ranked, request);
  exchange.site.service.keep(model, std::move(ranked->record),
                             exchange.later<void>([](Exchange&) {}));
}

}  // namespace plackett::http
