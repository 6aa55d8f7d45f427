// Text as a terminal shows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plackett::command {

// Columns, where every code point takes one.
std::size_t width(std::string_view text);

// At most so many columns, with an ellipsis where something was left out.
std::string cut(std::string_view text, std::size_t columns);

// Without control characters, which could move the cursor.
std::string printable(std::string_view text);

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The usual size where it is not known.
TerminalSize terminal_size(int descriptor);

}  // namespace plackett::command
