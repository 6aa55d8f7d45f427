#include "http/json_writer.h"

#include <fmt/format.h>

#include "http/utf8.h"

namespace plackett::http {

void JsonWriter::string(std::string_view text) {
  comma();
  out_ += '"';
  while (!text.empty()) {
    // Most text is ASCII that needs no escape.
    std::size_t plain = 0;
    while (plain < text.size() && text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\') {
      ++plain;
    }
    out_ += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = 1;
    if (text[0] == '"' || text[0] == '\\') {
      out_ += '\\';
      out_ += text[0];
    } else if (static_cast<unsigned char>(text[0]) < ' ') {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", text[0]);
    } else if ((length = utf8_length(text)) > 0) {
      out_ += text.substr(0, length);
    } else {
      out_ += "\xEF\xBF\xBD";
      length = 1;
    }
    text.remove_prefix(length);
  }
  out_ += '"';
}

}  // namespace plackett::http
