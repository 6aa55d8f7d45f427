// Where data that is not part of the project may be, for tests that use it.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace plackett::testing {

// $PLACKETT_SHARED, or the folder `shared` beside the checkout. It may not exist; then
// such tests are skipped.
inline std::filesystem::path shared_folder() {
  const char* given = std::getenv("PLACKETT_SHARED");
  if (given != nullptr) return given;
  return std::filesystem::path(PLACKETT_SOURCE_DIR) / ".." / "shared";
}

}  // namespace plackett::testing
