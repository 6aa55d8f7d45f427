#include "http/requests.h"

#include <fmt/format.h>

#include <span>

#include "plackett/feature_view.h"

namespace plackett::http {
namespace {

using serving::ModelSpec;
using serving::RankRequest;
using simdjson::ondemand::json_type;

serving::Mode read_mode(JsonReader& json, JsonValue value) {
  const std::string_view name = json.string(value);
  for (const auto mode :
       {serving::Mode::kExplore, serving::Mode::kExploit, serving::Mode::kGiven}) {
    if (name == serving::name_of(mode)) return mode;
  }
  json.wrong(fmt::format("{}; expected \"explore\", \"exploit\" or \"given\"",
                         JsonReader::excerpt(value)));
}

bool read_missing(JsonReader& json, JsonValue value) {
  const std::string_view name = json.string(value);
  if (name == "skip" || name == "refuse") return name == "skip";
  json.wrong(fmt::format("{}; expected \"skip\" or \"refuse\"", JsonReader::excerpt(value)));
}

// The floats of that many rows. Refuses more than a request may hold.
std::size_t row_floats(JsonReader& json, std::size_t items, const ModelSpec& spec) {
  const std::size_t floats = items * padded_width(spec.ranker.feature_count);
  if (floats > kMaxRowFloats) {
    json.wrong(fmt::format("{} items of {} features; a request may hold {} numbers", items,
                           spec.ranker.feature_count, kMaxRowFloats),
               ErrorCode::kTooLarge);
  }
  return floats;
}

}  // namespace

Result<void> RankRequestReader::read(JsonReader& json, JsonText body, const ModelSpec& spec,
                                     const FeatureNames& names, std::size_t max_items,
                                     RankRequest& request) {
  request.clear();
  ids_.clear();
  pins_.clear();
  blocks_.clear();
  const auto read_items = [&](std::uint32_t, JsonValue value) {
    read_item(json, value, spec, names, request);
  };
  const auto read_pins = [&](std::uint32_t, JsonValue value) {
    NamedPin& pin = pins_.emplace_back();
    json.fields(value, Key{"id", [&](JsonValue inner) { pin.id = read_id(json, inner); }},
                Key{"rank", [&](JsonValue inner) {
                      pin.rank = json.integer(inner, 1, serving::kMaxShown);
                    }});
    if (pin.id.empty() || pin.rank == 0) json.wrong("a pin needs an id and a rank");
  };
  const auto read_blocks = [&](std::uint32_t, JsonValue value) {
    blocks_.push_back(read_id(json, value));
  };
  return json.read(body, [&](JsonValue root) {
    json.fields(
        root, Key{"id", [&](JsonValue value) { request.id = read_id(json, value); }},
        Key{"items", [&](JsonValue value) { json.array(value, max_items, read_items); }},
        Key{"k", [&](JsonValue value) { request.k = json.integer(value, 1, serving::kMaxShown); }},
        Key{"min_version",
            [&](JsonValue value) {
              request.min_version = json.integer<std::uint64_t>(value, 0, serving::kMaxVersion);
            }},
        Key{"mode", [&](JsonValue value) { request.mode = read_mode(json, value); }},
        Key{"missing", [&](JsonValue value) { request.skip_missing = read_missing(json, value); }},
        Key{"unit",
            [&](JsonValue value) {
              if (!json.is_null(value)) request.unit = read_id(json, value);
            }},
        Key{"context",
            [&](JsonValue value) {
              request.context = json.any(value, serving::kMaxContextBytes);
              if (request.context == "null") request.context = {};
            }},
        Key{"pinned", [&](JsonValue value) { json.array(value, serving::kMaxShown, read_pins); }},
        Key{"blocked", [&](JsonValue value) { json.array(value, max_items, read_blocks); }});
    if (request.items.empty()) json.wrong_at("items", "no items; send at least 1");
    resolve(json, request, spec);
  });
}

void RankRequestReader::read_item(JsonReader& json, JsonValue value, const ModelSpec& spec,
                                  const FeatureNames& names, RankRequest& request) {
  std::string_view id;
  bool given = false;
  const std::size_t begin = row_floats(json, request.items.size(), spec);
  const std::size_t end = row_floats(json, request.items.size() + 1, spec);
  const json_type type = json.type(value);
  if (type == json_type::string) {
    id = read_id(json, value);
  } else if (type == json_type::object) {
    json.fields(value, Key{"id", [&](JsonValue inner) { id = read_id(json, inner); }},
                Key{"features", [&](JsonValue inner) {
                      given = true;
                      request.rows.resize(end);
                      read_feature_row(json, inner, spec, names,
                                       std::span(request.rows).subspan(begin));
                    }});
    if (id.empty()) json.wrong("an item without an id");
  } else {
    json.wrong("an item must be an id or an object");
  }
  if (const auto earlier = ids_.add(id)) {
    json.wrong(fmt::format("the id \"{}\" is also that of items[{}]", id, *earlier));
  }
  request.items.push_back(id);
  request.given.push_back(given ? 1 : 0);
  request.blocked.push_back(0);
}

// Turns ids into indices, when all items are known.
void RankRequestReader::resolve(JsonReader& json, RankRequest& request, const ModelSpec& spec) {
  const std::size_t floats = row_floats(json, request.items.size(), spec);
  if (!request.rows.empty()) request.rows.resize(floats);
  // `place`: with {} for the index `at`.
  const auto item_of = [&](std::string_view id, const char* place, std::size_t at) {
    if (const auto item = ids_.find(id)) return *item;
    json.wrong_at(fmt::format(fmt::runtime(place), at),
                  fmt::format("\"{}\" is not one of the items", id));
  };
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    request.blocked[item_of(blocks_[at], "blocked[{}]", at)] = 1;
  }
  for (std::size_t at = 0; at < pins_.size(); ++at) {
    const auto item = item_of(pins_[at].id, "pinned[{}].id", at);
    request.pinned.push_back({item, pins_[at].rank - 1});
  }
}

}  // namespace plackett::http
