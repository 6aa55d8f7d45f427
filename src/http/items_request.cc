#include "http/items_request.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "http/feature_row.h"
#include "http/id_table.h"
#include "plackett/feature_view.h"

namespace plackett::http {

Result<ItemsRequest> read_items_request(JsonReader& json, const PaddedText& body,
                                        const serving::ModelSpec& spec, const FeatureNames& names) {
  static constexpr std::array<std::string_view, 1> kKeys = {"items"};
  static constexpr std::array<std::string_view, 2> kItemKeys = {"id", "features"};
  const std::size_t width = padded_width(spec.ranker.feature_count);
  ItemsRequest request;
  IdTable ids;
  ids.clear(128);
  const auto read_item = [&](std::uint32_t item, JsonValue value) {
    if ((item + 1) * width > kMaxRowFloats) {
      json.wrong(fmt::format("more than {} items of {} features; send them in parts", item,
                             spec.ranker.feature_count),
                 ErrorCode::kTooLarge);
    }
    request.rows.resize((item + 1) * width);
    std::string_view id;
    std::uint32_t seen = 0;
    json.object(value, [&](std::string_view key, JsonValue inner) {
      if (json.one_of(key, kItemKeys, seen) == 0) {
        id = read_id(json, inner);
      } else {
        read_feature_row(json, inner, spec, names, std::span(request.rows).subspan(item * width));
      }
    });
    if (seen != 3) json.wrong("an item to store has an id and features");
    if (const auto earlier = ids.add(id)) {
      json.wrong(
          fmt::format("the id \"{}\" is that of items[{}] too; ids are distinct", id, *earlier));
    }
    request.ids.emplace_back(id);
  };
  std::uint32_t seen = 0;
  auto refused = json.read(body, [&](JsonValue root) {
    json.object(root, [&](std::string_view key, JsonValue value) {
      json.one_of(key, kKeys, seen);
      json.array(value, read_item);
    });
    if (request.ids.empty()) JsonReader::wrong_at("items", "no items; send at least 1");
  });
  if (refused) return std::move(*refused);
  return request;
}

}  // namespace plackett::http
