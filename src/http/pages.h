// The files that the command carries in itself: those of web/, and the API's description.
#pragma once

#include <span>
#include <string_view>

namespace plackett::http {

struct EmbeddedFile {
  std::string_view name;  // "dashboard.html"
  std::string_view bytes;
};
// What the build found; made by cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

}  // namespace plackett::http
