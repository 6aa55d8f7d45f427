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

struct OutputStyle {
  bool terminal = false;      // otherwise a pipe or a file
  std::size_t columns = 100;  // the terminal's, where it is one
  bool ascii = false;         // a terminal whose locale doesn't say UTF-8
};

// How to print on standard output.
OutputStyle standard_output();

}  // namespace plackett::command
