#include "serving/shown_items.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace plackett::serving {

std::string shown_items_text(const Impression& impression) {
  const std::vector<double> propensities = impression.propensities();
  std::string text;
  text.reserve(impression.shown.size() * 48);
  for (std::size_t rank = 0; rank < impression.shown.size(); ++rank) {
    const ShownItem& item = impression.shown[rank];
    text += rank == 0 ? "[[" : ",[";
    if (item.id.empty()) {
      text += "null";
    } else {
      append_json_string(text, item.id);
    }
    fmt::format_to(std::back_inserter(text), ",{},{}{}]", item.score, propensities[rank],
                   item.pinned ? ",1" : "");
  }
  return text.empty() ? "[]" : text + "]";
}

bool read_shown_ids(std::string_view text, std::vector<ShownItem>& shown) {
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array() || list.size() != shown.size()) return false;
  for (std::size_t rank = 0; rank < shown.size(); ++rank) {
    const auto& item = list[rank];
    if (!item.is_array() || item.empty()) return false;
    if (item[0].is_null()) continue;
    if (!item[0].is_string()) return false;
    shown[rank].id = item[0].get<std::string>();
  }
  return true;
}

}  // namespace plackett::serving
