// What operators call the processes that serve one store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett::serving {

inline constexpr std::size_t kMaxNodeName = 64;  // characters

// The name, which may be empty. Fails unless it is valid UTF-8 of printable characters: it is shown
// in one line of logs, and kept in the store.
Result<std::string> parse_node_name(std::string_view text);

}  // namespace plackett::serving
