// Text for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plackett::command {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// The defaults if it is not known.
TerminalSize terminal_size(int descriptor);

struct OutputStyle {
  bool terminal = false;      // otherwise a pipe or a file
  std::size_t columns = 100;  // of the terminal
  bool ascii = false;         // a terminal whose locale isn't UTF-8
};

// How to print on standard output.
OutputStyle standard_output();

struct TableCell {
  std::string text;
  bool bold = false;
};

struct TableFit {
  TerminalSize size;
  std::size_t names = 1;  // leading columns that are aligned left and may be shortened
};

// Lines of a table whose first row is its header: names to the left, the rest to the right. To fit,
// names are shortened, the first column first, then columns are dropped from the right and rows
// from the bottom. Control characters are replaced. Empty if not even a header and one row fit.
std::vector<std::string> table_lines(const std::vector<std::vector<TableCell>>& rows,
                                     const TableFit& fit);

// Prints all rows of a table with two columns of names on standard output.
void print_table(const std::vector<std::vector<TableCell>>& rows, std::size_t columns);

}  // namespace plackett::command
