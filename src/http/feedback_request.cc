#include "http/feedback_request.h"

#include <fmt/format.h>

#include <array>

#include "http/feature_row.h"

namespace plackett::http {
namespace {

using serving::EventKind;
using serving::FeedbackEvent;
using simdjson::ondemand::json_type;

constexpr std::array<std::string_view, 4> kKeys = {"impression", "item", "event", "event_id"};
enum Key : std::size_t { kImpression, kItem, kEvent, kEventId };

EventKind read_kind(JsonReader& json, JsonValue value) {
  const std::string_view name = json.string(value);
  if (name == "click") return EventKind::kClick;
  if (name == "view") return EventKind::kView;
  if (name == "close") return EventKind::kClose;
  json.wrong(
      fmt::format("{}; it must be \"click\", \"view\" or \"close\"", JsonReader::excerpt(value)));
}

// What an event is made of, key by key.
class EventReader {
 public:
  explicit EventReader(JsonReader& json) : json_(json) {}

  void read(std::string_view key, JsonValue value) {
    switch (json_.one_of(key, kKeys, seen_)) {
      case kImpression:
        event_.impression = read_id(json_, value);
        break;
      case kItem:
        if (!json_.is_null(value)) event_.item = read_id(json_, value);
        break;
      case kEvent:
        event_.kind = read_kind(json_, value);
        break;
      case kEventId:
        if (!json_.is_null(value)) event_.event_id = read_id(json_, value);
        break;
    }
  }

  [[nodiscard]] bool empty() const { return seen_ == 0; }

  FeedbackEvent finish() {
    require(kImpression);
    require(kEvent);
    if (event_.kind == EventKind::kClose) {
      event_.item.clear();
    } else if (event_.item.empty()) {
      JsonReader::wrong_at(json_.place_of("item"), "no item; clicks and views are of one");
    }
    return std::move(event_);
  }

 private:
  void require(Key key) const {
    if ((seen_ >> key & 1U) != 0) return;
    JsonReader::wrong_at(json_.place_of(kKeys[key]), fmt::format("no {}", kKeys[key]));
  }

  JsonReader& json_;
  FeedbackEvent event_;
  std::uint32_t seen_ = 0;
};

void read_events(JsonReader& json, JsonValue value, std::vector<FeedbackEvent>& events) {
  json.array(value, [&](std::uint32_t index, JsonValue inner) {
    if (index >= kMaxEvents) {
      json.wrong(fmt::format("more than {} events; send them in parts", kMaxEvents),
                 ErrorCode::kTooLarge);
    }
    EventReader event(json);
    json.object(inner, [&](std::string_view key, JsonValue part) { event.read(key, part); });
    events.push_back(event.finish());
  });
}

}  // namespace

Result<std::vector<FeedbackEvent>> read_feedback_request(JsonReader& json, const PaddedText& body) {
  std::vector<FeedbackEvent> events;
  auto refused = json.read(body, [&](JsonValue root) {
    if (json.type(root) == json_type::array) {
      read_events(json, root, events);
    } else {
      EventReader event(json);
      bool batch = false;
      json.object(root, [&](std::string_view key, JsonValue value) {
        if (key != "events") return event.read(key, value);
        if (batch) json.wrong("the key \"events\" is there twice");
        batch = true;
        read_events(json, value, events);
      });
      if (batch && !event.empty()) json.wrong("one event, or \"events\"; not both");
      if (!batch) events.push_back(event.finish());
    }
    if (events.empty()) json.wrong("no events; send at least 1");
  });
  if (refused) return std::move(*refused);
  return events;
}

}  // namespace plackett::http
