// Strings of JSON.
#pragma once

#include <string>
#include <string_view>

namespace plackett {

// Appends the text in quotes, escaped. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace plackett
