// The shown items of an impression as the store keeps them for SQL: a JSON array with one array per
// rank, [id, score, propensity], and 1 as a fourth element if the item is pinned. An id that was
// removed is null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serving/impression.h"

namespace plackett::serving {

std::string shown_items_text(const Impression& impression);

// Sets the id of every item. False if the text is not of this form or has another number of items.
bool read_shown_ids(std::string_view text, std::vector<ShownItem>& shown);

}  // namespace plackett::serving
