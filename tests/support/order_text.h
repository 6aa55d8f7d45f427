// Lists of a present ranking as `plackett fit` reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "support/present_ranking.h"

namespace plackett::testing {

// The items "0", "1", ... of list `number`, best first, with their features.
inline nlohmann::json list_items(const PresentRanking& present, std::uint64_t number,
                                 std::uint32_t docs) {
  const std::vector<float> rows = present.list(number, docs);
  nlohmann::json items = nlohmann::json::array();
  for (std::uint32_t doc = 0; doc < docs; ++doc) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(doc) * present.features();
    items.push_back({{"id", std::to_string(doc)},
                     {"features", std::vector<float>(begin, begin + present.features())}});
  }
  return items;
}

inline std::string order_text(const PresentRanking& present, std::uint32_t lists,
                              std::uint32_t docs, std::uint32_t shown) {
  std::string text;
  for (std::uint32_t number = 0; number < lists; ++number) {
    text += nlohmann::json{{"items", list_items(present, number, docs)}, {"shown", shown}}.dump() +
            "\n";
  }
  return text;
}

}  // namespace plackett::testing
