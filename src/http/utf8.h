// UTF-8, as far as requests and answers need it.
#pragma once

#include <cstddef>
#include <string_view>

namespace plackett::http {

// The number of bytes of the character that `text` starts with; 0 if it is not well-formed
// (RFC 3629). Requires: text is not empty.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// The beginning of `text`: at most `most` bytes, no character cut.
std::string_view cut_utf8(std::string_view text, std::size_t most);

}  // namespace plackett::http
