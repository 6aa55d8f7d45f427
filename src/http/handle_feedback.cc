#include "http/exchange.h"
#include "http/feedback_request.h"
#include "http/handlers.h"
#include "http/json_writer.h"

namespace plackett::http {
namespace {

using serving::FeedbackStatus;

void write_statuses(std::string& out, const std::vector<FeedbackStatus>& statuses) {
  std::uint64_t counts[serving::kFeedbackStatuses] = {};
  JsonWriter json(out);
  json.begin_object();
  json.key("results");
  json.begin_array();
  for (const FeedbackStatus status : statuses) {
    ++counts[static_cast<std::size_t>(status)];
    json.begin_object();
    json.field("status", serving::name_of(status));
    json.end_object();
  }
  json.end_array();
  for (std::size_t at = 0; at < serving::kFeedbackStatuses; ++at) {
    json.field(serving::name_of(static_cast<FeedbackStatus>(at)), counts[at]);
  }
  json.end_object();
}

}  // namespace

void post_feedback(Exchange& exchange) {
  const auto model = exchange.model();
  if (!model) return;
  auto events = read_feedback_request(exchange.room.json, exchange.request.body);
  if (!events) return exchange.refuse(events.error());
  exchange.site.service.feedback(
      model, std::move(*events),
      exchange.later<std::vector<FeedbackStatus>>(
          [](Exchange& later, const std::vector<FeedbackStatus>& statuses) {
            write_statuses(later.response.body, statuses);
          }));
}

}  // namespace plackett::http
