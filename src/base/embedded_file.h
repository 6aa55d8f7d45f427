// A file that the build put into the program (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace plackett {

struct EmbeddedFile {
  std::string_view name;  // "dashboard.html"
  std::string_view bytes;
};

}  // namespace plackett
