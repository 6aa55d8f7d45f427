// The target of a request: its path in decoded segments, and its query.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plackett/result.h"

namespace plackett::http {

struct Target {
  std::string_view authority{};         // of "http://host/path": "host"; a view of the text
  std::vector<std::string> segments{};  // of "/models/a%2Fb": "models", "a/b"; of "/": none
  std::vector<std::pair<std::string, std::string>> query{};
};

// Reads "/path?query" or, as proxies send it, "http://host/path?query". Refuses percent signs
// without two hex digits behind them and bytes that do not decode to UTF-8. Reuses `target`'s
// memory.
Result<void> parse_target(std::string_view text, Target& target);

// Refuses query keys that are not among `known`, and those given twice.
Result<void> check_query(const Target& target, std::initializer_list<std::string_view> known);

// An integer of the query from `least` to `most`; `fallback` if the key is absent.
struct QueryRange {
  std::uint32_t fallback = 0;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};
Result<std::uint32_t> query_number(const Target& target, std::string_view key,
                                   const QueryRange& range);

// Empty if the key is absent.
std::string query_text(const Target& target, std::string_view key);
// Whether the query has the key, with a value or without.
bool has_query(const Target& target, std::string_view key);

// "true" or "false"; false if the key is absent.
Result<bool> query_flag(const Target& target, std::string_view key);

}  // namespace plackett::http
