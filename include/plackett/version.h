// Which plackett this is.
#pragma once

#include <string_view>

#include "plackett/export.h"

namespace plackett {

// "0.1.0": semantic, of the library that is linked. Lasts for ever, as do the others.
PLACKETT_EXPORT std::string_view version();

// What compiled it: "g++ 12.2.0".
PLACKETT_EXPORT std::string_view compiler();

// The instructions that the inner loops use on this machine: "scalar", "sse4", "avx2" or "avx512".
PLACKETT_EXPORT std::string_view simd_target();

}  // namespace plackett
