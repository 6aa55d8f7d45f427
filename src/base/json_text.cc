#include "base/json_text.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <iterator>

namespace plackett {
namespace {

// The bytes of the character that the text starts with; 0 or below if it is not well-formed.
utf8proc_ssize_t character_length(std::string_view text) {
  utf8proc_int32_t character = 0;
  return utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                          static_cast<utf8proc_ssize_t>(text.size()), &character);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    // Most text is ASCII that needs no escape.
    std::size_t plain = 0;
    while (plain < text.size() && text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\') {
      ++plain;
    }
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = 1;
    if (text[0] == '"' || text[0] == '\\') {
      out += '\\';
      out += text[0];
    } else if (static_cast<unsigned char>(text[0]) < ' ') {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", text[0]);
    } else if (const auto bytes = character_length(text); bytes > 0) {
      length = static_cast<std::size_t>(bytes);
      out += text.substr(0, length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace plackett
