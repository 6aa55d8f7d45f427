#include "terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace plackett::command {
namespace {

// Whether the locale says UTF-8; yes where it says nothing.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale(value);
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return true;
}

}  // namespace

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  TerminalSize result;
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return result;
  if (size.ws_col > 0) result.columns = size.ws_col;
  if (size.ws_row > 0) result.rows = size.ws_row;
  return result;
}

OutputStyle standard_output() {
  if (::isatty(STDOUT_FILENO) != 1) return {};
  return {.terminal = true,
          .columns = terminal_size(STDOUT_FILENO).columns,
          .ascii = !locale_is_utf8()};
}

}  // namespace plackett::command
