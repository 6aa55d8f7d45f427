#include "http/utf8.h"

#include <simdjson.h>
#include <utf8proc.h>

#include <algorithm>

namespace plackett::http {

std::size_t utf8_length(std::string_view text) {
  utf8proc_int32_t character = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &character);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::string_view cut_utf8(std::string_view text, std::size_t most) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t next = end + std::max<std::size_t>(utf8_length(text.substr(end)), 1);
    if (next > most) break;
    end = next;
  }
  return text.substr(0, end);
}

}  // namespace plackett::http
