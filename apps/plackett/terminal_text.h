// What is known of a terminal. Text for it is measured and cut by report/text.h.
#pragma once

#include <cstddef>

namespace plackett::command {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The usual size where it is not known.
TerminalSize terminal_size(int descriptor);

}  // namespace plackett::command
