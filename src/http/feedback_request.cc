#include "http/requests.h"

#include <fmt/format.h>

namespace plackett::http {
namespace {

using serving::EventKind;
using serving::FeedbackEvent;
using simdjson::ondemand::json_type;

// Which names a model knows besides is left to the service.
void read_kind(JsonReader& json, JsonValue value, FeedbackEvent& event) {
  const std::string_view name = json.string(value);
  if (name == "click") {
    event.kind = EventKind::kClick;
  } else if (name == "view") {
    event.kind = EventKind::kView;
  } else if (name == "close") {
    event.kind = EventKind::kClose;
  } else if (serving::is_event_name(name)) {
    event.kind = EventKind::kNamed;
    event.name = name;
  } else {
    json.wrong(fmt::format("{}; expected \"click\", \"view\", \"close\" or an event of the model",
                           JsonReader::excerpt(value)));
  }
}

// Adds the event, unless it has only the fields of `more`: those of a batch.
template <typename... More>
void read_event(JsonReader& json, JsonValue value, std::vector<FeedbackEvent>& events,
                More&&... more) {
  constexpr std::uint32_t kEventBits = 0b1111;
  FeedbackEvent event;
  const auto text = [&](std::string& out) {
    return [&](JsonValue inner) {
      if (!json.is_null(inner)) out = read_id(json, inner);
    };
  };
  bool has_kind = false;
  const std::uint32_t seen = json.fields(
      value, Key{"impression", [&](JsonValue inner) { event.impression = read_id(json, inner); }},
      Key{"item", text(event.item)}, Key{"event_id", text(event.event_id)},
      Key{"event",
          [&](JsonValue inner) {
            read_kind(json, inner, event);
            has_kind = true;
          }},
      more...);
  if (seen > kEventBits) {
    if ((seen & kEventBits) != 0) json.wrong("one event, or \"events\"; not both");
    return;
  }
  if (event.impression.empty()) json.wrong_at("impression", "no impression");
  if (!has_kind) json.wrong_at("event", "no event");
  if (event.kind == EventKind::kClose) event.item.clear();
  if (event.kind != EventKind::kClose && event.item.empty()) {
    json.wrong_at("item", "no item; all events but close need one");
  }
  events.push_back(std::move(event));
}

}  // namespace

Result<std::vector<FeedbackEvent>> read_feedback_request(JsonReader& json, JsonText body) {
  return json.read(body, [&](JsonValue root) {
    std::vector<FeedbackEvent> events;
    const auto read_batch = [&](JsonValue value) {
      json.array(value, kMaxEvents,
                 [&](std::uint32_t, JsonValue inner) { read_event(json, inner, events); });
    };
    if (json.type(root) == json_type::array) {
      read_batch(root);
    } else {
      read_event(json, root, events, Key{"events", read_batch});
    }
    if (events.empty()) json.wrong("no events; send at least 1");
    return events;
  });
}

}  // namespace plackett::http
