// What is known of a dataset before it is loaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plackett/result.h"

namespace plackett {

// Whether `where` means generated data: "synthetic" or "synthetic:PRESET".
bool is_synthetic(std::string_view where);

// The number of grades if it is cheap to find, otherwise 0. Fails if there is no dataset.
Result<std::uint32_t> known_grades(const std::string& where);

}  // namespace plackett
