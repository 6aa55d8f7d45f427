#include "serving/node_name.h"

#include <fmt/format.h>
#include <utf8proc.h>

namespace plackett::serving {
namespace {

bool is_printable(utf8proc_int32_t character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_CN:  // not assigned
    case UTF8PROC_CATEGORY_CC:  // control
    case UTF8PROC_CATEGORY_CF:  // turns the direction of writing, joins
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:  // ends a line or a paragraph
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

}  // namespace

Result<std::string> parse_node_name(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    utf8proc_int32_t character = 0;
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &character);
    if (length <= 0 || !is_printable(character)) {
      const auto byte = static_cast<unsigned char>(text[at]);
      return Error{
          fmt::format("byte {:#04x} at {}; a name has 1 to {} printable characters of UTF-8", byte,
                      at, kMaxNodeName)};
    }
    at += static_cast<std::size_t>(length);
  }
  if (count > kMaxNodeName) {
    return Error{fmt::format("{} characters; a name has 1 to {} printable characters of UTF-8",
                             count, kMaxNodeName)};
  }
  return std::string(text);
}

}  // namespace plackett::serving
