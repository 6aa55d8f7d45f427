#include "command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "base/file.h"

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

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {
      [least, most](std::string& text) {
        std::uint64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        const bool sound = error == std::errc() && stop == end && number >= least && number <= most;
        return sound ? std::string()
                     : fmt::format("{}; it takes a whole number from {} to {}", text, least, most);
      },
      ""};
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& what) {
  command.add_option("--seed", seed, what)
      ->check(whole_number(0, ~std::uint64_t{0}))
      ->capture_default_str();
}

void add_threads_option(CLI::App& command, unsigned& threads) {
  constexpr std::uint64_t kMostThreads = 1024;
  command.add_option("--threads", threads, "0: one a core")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str();
}

void require_writable_file(const std::string& path) {
  if (path.empty()) fail(Error{"an empty file name"});
  if (std::filesystem::is_directory(path)) {
    fail(Error{fmt::format("{}: is a folder; give the name of a file", path)});
  }
  // Creates a temporary beside it, and takes it away again.
  take(AtomicFile::create(path));
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace plackett::command
