#include "http/json_writer.h"

#include <cmath>

#include "http/utf8.h"

namespace plackett::http {
namespace {

// Whether it stands in a JSON string as it is, and is one byte long.
bool is_plain(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code >= 0x20 && code < 0x7F && byte != '"' && byte != '\\';
}

void append_escaped(std::string& out, unsigned char code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (code) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[code >> 4U];
      out += kHex[code & 0xFU];
  }
}

}  // namespace

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  comma();
  char digits[32];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void JsonWriter::append_string(std::string_view text) {
  out_ += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto code = static_cast<unsigned char>(text[0]);
    if (code < 0x80) {
      append_escaped(out_, code);
      text.remove_prefix(1);
    } else if (const std::size_t length = utf8_length(text); length > 0) {
      out_.append(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      out_ += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    }
  }
  out_ += '"';
}

}  // namespace plackett::http
