// Gzip files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "plackett/result.h"

namespace plackett {

// Decompresses gzip data: one or more members, then only zero bytes. `path` comes first in errors.
Result<std::string> unpack_gzip(std::span<const std::byte> packed, const std::string& path);

}  // namespace plackett
