// Observed orders as text: JSON lines, one list each (docs/start_from_your_ranking.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "plackett/observed_orders.h"
#include "plackett/result.h"
#include "plackett/scaling.h"

namespace plackett::command {

// A longer line is refused as a mistake.
inline constexpr std::size_t kMaxOrderLineBytes = std::size_t{64} << 20;

// Reads lines {"items": [{"id": "a", "features": [1, 2]}, ...], "shown": 10}: the items in the
// order shown, best first. An item may also be its array of features alone; "id" is optional;
// without "shown" all were shown. Blank lines are skipped. Each list's features are scaled. Fails
// at the first line that breaks a rule, with "name:line: ", or if there is no list.
Result<ObservedOrders> parse_orders(std::string_view text, std::string_view name, Scaling scaling);

// The same of a file.
Result<ObservedOrders> read_orders(const std::filesystem::path& path, Scaling scaling);

}  // namespace plackett::command
