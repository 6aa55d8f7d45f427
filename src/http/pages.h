// The files that the command carries in itself: those of web/, and the API's description.
#pragma once

#include <span>
#include <string_view>

#include "base/embedded_file.h"

namespace plackett::http {

// What the build found; made by cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

}  // namespace plackett::http
