// The target of a request: its path in decoded segments, and its query.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/result.h"

namespace plackett::http {

struct Target {
  std::vector<std::string> segments;  // of "/models/a%2Fb": "models", "a/b"; of "/": none
  std::vector<std::pair<std::string, std::string>> query;

  // Null where the query has no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
};

// Reads "/path?query" or, as proxies send it, "http://host/path?query". Refuses percent signs
// without two hex digits behind them and bytes that decode to no UTF-8. Reuses `target`'s memory.
Result<void> parse_target(std::string_view text, Target& target);

}  // namespace plackett::http
