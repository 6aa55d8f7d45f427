#include "http/rank_request.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "http/feature_row.h"
#include "plackett/feature_view.h"

namespace plackett::http {
namespace {

using serving::RankRequest;
using simdjson::ondemand::json_type;

constexpr std::array<std::string_view, 7> kKeys = {"id",      "items",  "k",      "mode",
                                                   "context", "pinned", "blocked"};
enum Key : std::size_t { kId, kItems, kK, kMode, kContext, kPinned, kBlocked };

bool read_exploit(JsonReader& json, JsonValue value) {
  const std::string_view mode = json.string(value);
  if (mode == "exploit") return true;
  if (mode != "explore") {
    json.wrong(
        fmt::format("{}; it must be \"explore\" or \"exploit\"", JsonReader::excerpt(value)));
  }
  return false;
}

}  // namespace

std::optional<Error> RankRequestReader::read(JsonReader& json, const PaddedText& body,
                                             const serving::ModelSpec& spec,
                                             const FeatureNames& names, const RankLimits& limits,
                                             RankRequest& request) {
  request.clear();
  ids_.clear(128);
  pins_.clear();
  blocks_.clear();
  return json.read(body, [&](JsonValue root) {
    std::uint32_t seen = 0;
    json.object(root, [&](std::string_view key, JsonValue value) {
      switch (json.one_of(key, kKeys, seen)) {
        case kId:
          request.id = read_id(json, value);
          break;
        case kItems:
          json.array(value, [&](std::uint32_t item, JsonValue inner) {
            if (item >= limits.items) {
              json.wrong(
                  fmt::format("more than {} items; that is the server's limit", limits.items),
                  ErrorCode::kTooLarge);
            }
            read_item(json, inner, spec, names, request);
          });
          break;
        case kK:
          request.k = static_cast<std::uint32_t>(json.whole(value, 1, serving::kMaxShown));
          break;
        case kMode:
          request.exploit = read_exploit(json, value);
          break;
        case kContext:
          request.context = json.any(value, serving::kMaxContextBytes);
          if (request.context == "null") request.context = {};
          break;
        case kPinned:
          read_pins(json, value);
          break;
        case kBlocked:
          json.array(value, [&](std::uint32_t, JsonValue inner) {
            if (blocks_.size() >= limits.items) {
              json.wrong(fmt::format("more than {} blocked", limits.items), ErrorCode::kTooLarge);
            }
            blocks_.push_back(read_id(json, inner));
          });
          break;
      }
    });
    if (request.items.empty()) JsonReader::wrong_at("items", "no items; send at least 1");
    resolve(request, spec);
  });
}

void RankRequestReader::read_item(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                                  const FeatureNames& names, RankRequest& request) {
  std::string_view id;
  bool given = false;
  const std::size_t item = request.items.size();
  const std::size_t width = padded_width(spec.ranker.feature_count);
  if (json.type(value) == json_type::string) {
    id = read_id(json, value);
  } else {
    static constexpr std::array<std::string_view, 2> kItemKeys = {"id", "features"};
    std::uint32_t seen = 0;
    if (json.type(value) != json_type::object) json.wrong("an item is its id, or an object");
    json.object(value, [&](std::string_view key, JsonValue inner) {
      if (json.one_of(key, kItemKeys, seen) == 0) {
        id = read_id(json, inner);
        return;
      }
      given = true;
      if ((item + 1) * width > kMaxRowFloats) {
        json.wrong(fmt::format("{} items of {} features; a request holds at most {} numbers",
                               item + 1, spec.ranker.feature_count, kMaxRowFloats),
                   ErrorCode::kTooLarge);
      }
      request.rows.resize((item + 1) * width);
      read_feature_row(json, inner, spec, names, std::span(request.rows).subspan(item * width));
    });
    if ((seen & 1U) == 0) json.wrong("an item without an id");
  }
  if (const auto earlier = ids_.add(id)) {
    json.wrong(
        fmt::format("the id \"{}\" is that of items[{}] too; ids are distinct", id, *earlier));
  }
  request.items.push_back(id);
  request.given.push_back(given ? 1 : 0);
  request.blocked.push_back(0);
}

void RankRequestReader::read_pins(JsonReader& json, JsonValue value) {
  json.array(value, [&](std::uint32_t, JsonValue inner) {
    if (pins_.size() >= serving::kMaxShown) {
      json.wrong(fmt::format("more than {} pinned", serving::kMaxShown), ErrorCode::kTooLarge);
    }
    static constexpr std::array<std::string_view, 2> kPinKeys = {"id", "rank"};
    std::uint32_t seen = 0;
    NamedPin pin;
    json.object(inner, [&](std::string_view key, JsonValue part) {
      if (json.one_of(key, kPinKeys, seen) == 0) {
        pin.id = read_id(json, part);
      } else {
        pin.rank = static_cast<std::uint32_t>(json.whole(part, 1, serving::kMaxShown));
      }
    });
    if (seen != 3) json.wrong("a pin has an id and a rank");
    pins_.push_back(pin);
  });
}

void RankRequestReader::resolve(RankRequest& request, const serving::ModelSpec& spec) {
  const std::size_t width = padded_width(spec.ranker.feature_count);
  if (request.items.size() * width > kMaxRowFloats) {
    throw WrongJson{{ErrorCode::kTooLarge,
                     fmt::format("{} items of {} features; a request holds at most {} numbers",
                                 request.items.size(), spec.ranker.feature_count, kMaxRowFloats),
                     "items"}};
  }
  if (!request.rows.empty()) request.rows.resize(request.items.size() * width);
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    const auto item = ids_.find(blocks_[at]);
    if (!item) {
      JsonReader::wrong_at(fmt::format("blocked[{}]", at),
                           fmt::format("\"{}\" is none of the items", blocks_[at]));
    }
    request.blocked[*item] = 1;
  }
  for (std::size_t at = 0; at < pins_.size(); ++at) {
    const auto item = ids_.find(pins_[at].id);
    if (!item) {
      JsonReader::wrong_at(fmt::format("pinned[{}].id", at),
                           fmt::format("\"{}\" is none of the items", pins_[at].id));
    }
    request.pinned.push_back({*item, pins_[at].rank - 1});
  }
}

}  // namespace plackett::http
