#include "terminal_text.h"

#include <sys/ioctl.h>

#include <algorithm>

namespace plackett::command {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::string out;
  std::size_t used = 0;
  for (const char byte : text) {
    if ((byte & 0xC0) != 0x80 && ++used >= columns) break;
    out += byte;
  }
  return columns == 0 ? "" : out + "…";
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& character : out) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == 0x7F) character = '?';
  }
  return out;
}

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  TerminalSize result;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col > 0) result.columns = size.ws_col;
  if (size.ws_row > 0) result.rows = size.ws_row;
  return result;
}

}  // namespace plackett::command
