// How much memory there is.
#pragma once

#include <filesystem>

namespace plackett {

// The part of the memory that is available, of the machine's or of the container's if that has a
// limit, whichever is less. 0 if it can't be known. `root`: where /proc and /sys are.
double available_memory(const std::filesystem::path& root = "/");

}  // namespace plackett
