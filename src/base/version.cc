#include "plackett/version.h"

#include "base/kernels.h"

namespace plackett {

std::string_view version() { return PLACKETT_VERSION; }

std::string_view compiler() {
#if defined(__clang__)
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string_view simd_target() { return kernels().name; }

}  // namespace plackett
