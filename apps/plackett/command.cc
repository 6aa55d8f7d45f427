#include "command.h"

#include <algorithm>
#include <string_view>
#include <thread>

namespace plackett::command {
namespace {

std::string& stored_command_line() {
  static std::string line;
  return line;
}

// The word as a shell reads it back.
std::string quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string result = "'";
  for (const char character : word) {
    if (character == '\'') {
      result += "'\\''";
    } else {
      result += character;
    }
  }
  result += '\'';
  return result;
}

}  // namespace

const std::string& command_line() { return stored_command_line(); }

void set_command_line(int argc, const char* const* argv) {
  std::string& line = stored_command_line();
  line = "plackett";
  for (int at = 1; at < argc; ++at) {
    line += ' ';
    line += quoted(argv[at]);
  }
}

void fail(const Error& error) { throw Exit(kFailure, error.message); }

unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace plackett::command
