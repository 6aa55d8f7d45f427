// Integers in what the store keeps as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/attempt.h"

namespace plackett::serving {

// Throws Failed if it is none, since a number such as 1e300 has no integer.
template <typename Json>
std::int64_t integer_of(const Json& value) {
  if (!value.is_number_integer()) throw Failed{{ErrorCode::kInvalid, "expected an integer"}};
  return value.template get<std::int64_t>();
}

}  // namespace plackett::serving
