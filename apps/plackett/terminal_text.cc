#include "terminal_text.h"

#include <sys/ioctl.h>

namespace plackett::command {

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  TerminalSize result;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col > 0) result.columns = size.ws_col;
  if (size.ws_row > 0) result.rows = size.ws_row;
  return result;
}

}  // namespace plackett::command
