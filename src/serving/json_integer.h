// What the store keeps as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/attempt.h"

namespace plackett::serving {

// Throws Failed if it is none, since a number such as 1e300 has no integer.
template <typename Json>
std::int64_t integer_of(const Json& value) {
  if (!value.is_number_integer()) throw Failed{{ErrorCode::kInvalid, "expected an integer"}};
  return value.template get<std::int64_t>();
}

// What is wrong, without the library's own mark, as in "[json.exception.parse_error.101] ".
inline std::string fault_of(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

}  // namespace plackett::serving
