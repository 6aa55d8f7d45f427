#include "command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file.h"
#include "experiment/results_folder.h"
#include "experiment/spec_parts.h"

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

// What the library advises, and how the command is told to do it; the first that fits.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kHints{{
    {kOrBeginAnew, " (--out gives another folder, --fresh begins anew)"},
    {kGiveAnotherFolder, " (--out)"},
    {kGiveAnotherName, " (--data NAME=PATH)"},
}};

std::string with_hint(std::string message) {
  for (const auto& [advice, hint] : kHints) {
    const std::size_t place = message.find(advice);
    if (place != std::string::npos) return message.insert(place + advice.size(), hint);
  }
  return message;
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

void fail(const Error& error) { throw Exit(kFailure, with_hint(error.message)); }

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
