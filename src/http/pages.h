// The files that the command carries in itself: those of web/, and the API's description.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"

namespace plackett::http {

// What the build found; made by cmake/embed.cmake.
std::span<const EmbeddedFile> embedded_files();

struct Page {
  std::string_view name;
  std::string_view bytes;
  std::string_view type;
  std::string etag;  // with its quotes
};

// Never changes once made.
class Pages {
 public:
  Pages();
  // Null where there is none.
  [[nodiscard]] const Page* find(std::string_view name) const;

 private:
  std::vector<Page> pages_;
};

}  // namespace plackett::http
