// The query of an address, read strictly.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "http/target.h"
#include "plackett/result.h"

namespace plackett::http {

// Refuses keys that are not among `known`, and those given twice.
Result<void> check_query(const Target& target, std::initializer_list<std::string_view> known);

// A whole number from `least` to `most`, or `fallback` where the key is not there.
struct WholeRange {
  std::uint32_t fallback = 0;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
};
Result<std::uint32_t> query_whole(const Target& target, std::string_view key,
                                  const WholeRange& range);

// "true" or "false"; false where the key is not there.
Result<bool> query_flag(const Target& target, std::string_view key);

}  // namespace plackett::http
