#include "http/pages.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

namespace plackett::http {
namespace {

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
  };
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

}  // namespace

Pages::Pages() {
  for (const EmbeddedFile& file : embedded_files()) {
    pages_.push_back(
        {file.name, file.bytes, type_of(file.name),
         fmt::format("\"{:016x}\"", XXH3_64bits(file.bytes.data(), file.bytes.size()))});
  }
}

const Page* Pages::find(std::string_view name) const {
  for (const Page& page : pages_) {
    if (page.name == name) return &page;
  }
  return nullptr;
}

}  // namespace plackett::http
