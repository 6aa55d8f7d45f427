#include "command.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string_view>
#include <thread>

#include "base/file.h"
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
    case Hint::kRefresh:
      break;
  }
  return error.message;
}

void fail(const Error& error) {
  throw Exit(error.code == ErrorCode::kStopped ? kInterrupted : kFailure, with_advice(error));
}

std::vector<std::string> list_values(const std::string& option,
                                     const std::vector<std::string>& mentions) {
  std::vector<std::string> values;
  for (const std::string& mention : mentions) {
    for (const auto part : std::string_view(mention) | std::views::split(',')) {
      values.emplace_back(part.begin(), part.end());
      if (!values.back().empty()) continue;
      throw CLI::ValidationError(option, fmt::format("\"{}\"; a value is empty", mention));
    }
    if (mention.empty()) throw CLI::ValidationError(option, "an empty value");
  }
  return values;
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

namespace {

const Setting& pdgd_setting(std::string_view name) {
  return *find_setting(find_method("pdgd").value()->settings, name);
}

}  // namespace

PairRules PairOptions::rules() const {
  const auto names = pdgd_setting("pairs").names;
  return {static_cast<PairKind>(std::ranges::find(names, pairs) - names.begin()), sharpness};
}

void add_pair_options(CLI::App& command, PairOptions& options) {
  const Setting& kind = pdgd_setting("pairs");
  const Setting& sharpness = pdgd_setting("sharpness");
  command.add_option("--pairs", options.pairs, std::string(kind.help))
      ->check(CLI::IsMember(std::vector<std::string>(kind.names.begin(), kind.names.end())));
  command.add_option("--sharpness", options.sharpness, std::string(sharpness.help))
      ->check(CLI::Range(sharpness.least, sharpness.most));
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

void require_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  namespace fs = std::filesystem;
  std::map<fs::path, std::string> used;  // the option of each file
  const auto target = [](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(written_path(path)));
  };
  for (const auto& [option, path] : inputs) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) used.emplace(target(path), option);
  }
  for (const auto& [option, path] : outputs) {
    take(check_writable(path));
    if (written_directly(path)) continue;
    const auto [other, is_new] = used.emplace(target(path), option);
    if (!is_new) {
      fail(Error{
          fmt::format("{}: {} and {} are the same file; give two", path, other->second, option)});
    }
  }
}

void rewrite_beside(const std::filesystem::path& file) {
  std::error_code error;  // of an empty name, which others refuse
  const auto folder = std::filesystem::absolute(file, error).parent_path();
  if (!error) ::setenv("SQLITE_TMPDIR", folder.c_str(), /*overwrite=*/0);
}

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", report::grouped(count), what, count == 1 ? "" : "s");
}

nlohmann::ordered_json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return value;
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace plackett::command
