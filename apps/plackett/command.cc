#include "command.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "plackett/method.h"
#include "report/numbers.h"

namespace plackett::command {

std::string with_advice(const Error& error) {
  switch (error.hint) {
    case Hint::kOtherFolder:
      return error.message + " (--out)";
    case Hint::kOtherFolderOrFresh:
      return error.message + " (--out gives another folder, --fresh starts over)";
    case Hint::kOtherName:
      return error.message + " (--data NAME=PATH)";
    case Hint::kNone:
      break;
  }
  return error.message;
}

void fail(const Error& error) {
  throw Exit(error.code == ErrorCode::kStopped ? kInterrupted : kFailure, with_advice(error));
}

void add_loading_options(CLI::App& command, DataOptions& options) {
  add_options(command, dataset_options(), options.dataset);
  command.add_flag_callback(
      "--trust-cache", [&options] { options.run.verify_cache = false; },
      "skip the checksums of a cache's feature data (default: check them)");
  add_options(command, run_options(), options.run, {"threads"});
}

LoadOptions load_options(const DataOptions& options) {
  LoadOptions load = plackett::load_options(options.dataset);
  load.verify_cache = options.run.verify_cache;
  load.threads = options.run.threads > 0 ? options.run.threads
                                         : std::max(1U, std::thread::hardware_concurrency());
  return load;
}

std::string method_help() {
  std::string help = "method[:ranker][:setting=value]...;";
  for (const Method* method : methods()) {
    help += fmt::format("\n{}: {}", method->name, method->summary);
    for (const Setting& setting : method->settings) {
      help += fmt::format("\n    {}={}: {}", setting.name, setting.text(setting.fallback),
                          setting.help);
      if (!setting.names.empty()) help += fmt::format(" ({})", fmt::join(setting.names, ", "));
    }
  }
  return help;
}

void require_writable_file(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) fail(Error{"an empty file name"});
  if (fs::is_directory(path)) {
    fail(Error{fmt::format("{}: is a folder; give the name of a file", path)});
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) != 0) {
    fail(Error{fmt::format("{}: can't create: {}", path, std::strerror(errno))});
  }
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", report::grouped(count), what, count == 1 ? "" : "s");
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace plackett::command
