// What the subcommands share. Each lives in a file of its own and adds itself to the app.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plackett/options.h"
#include "plackett/pairs.h"
#include "plackett/result.h"
#include "plackett/results.h"

namespace plackett::command {

// Exit codes: 0 done, 1 done but with a negative answer (a violation, a bad line), 2 bad input,
// wrong usage or a failure, 130 stopped.
inline constexpr int kNegative = 1;
inline constexpr int kFailure = 2;
inline constexpr int kInterrupted = 130;

// Thrown by a subcommand to end with an exit code; main prints the message, if any, to stderr.
class Exit : public std::runtime_error {
 public:
  Exit(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

// The message with the options that do what the error's hint advises.
std::string with_advice(const Error& error);

// Ends the command with the exit code that belongs to the error's code.
[[noreturn]] void fail(const Error& error);

// The value, or the end of the command.
template <typename T>
T take(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(result).value();
}
inline void take(const Result<void>& result) {
  if (!result) fail(result.error());
}

// The values of an option in all its mentions, each of which may hold several, separated by commas.
// Throws CLI::ValidationError if one is empty, as in "0.1,".
std::vector<std::string> list_values(const std::string& option,
                                     const std::vector<std::string>& mentions);

// Adds an option whose values are list_values; parsing sets `target`, which must outlive the
// command.
template <typename Value>
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<Value>& target,
                      const std::string& help) {
  const auto set = [&target, name](const std::vector<std::string>& mentions) {
    target.clear();
    for (const std::string& text : list_values(name, mentions)) {
      if (!CLI::detail::lexical_cast(text, target.emplace_back())) {
        throw CLI::ConversionError(text, name);
      }
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, set, help)
      ->type_name(CLI::detail::type_name<Value>())
      ->default_str(fmt::format("[{}]", fmt::join(target, ",")));
}

// Adds declared options to a command, all or those named in `only`, with what `target` holds as
// defaults; parsing sets `target`, which must outlive the command.
template <typename Target>
void add_options(CLI::App& command, std::span<const Option<Target>> options, Target& target,
                 std::initializer_list<std::string_view> only = {}) {
  using Kind = OptionKind;
  for (const Option<Target>& option : options) {
    if (only.size() > 0 && std::find(only.begin(), only.end(), option.name) == only.end()) continue;
    const std::string name = fmt::format("--{}", option.name);
    const auto set = [&option, &target, name](const std::string& text) {
      if (auto done = option.set(target, text); !done) {
        throw CLI::ValidationError(name, done.error().message);
      }
    };
    if (option.kind == Kind::kFlag) {
      command.add_flag_callback(
          name, [set] { set("true"); }, option.help);
      continue;
    }
    CLI::Option* added = nullptr;
    if (option.kind == Kind::kIntegers || option.repeats) {
      const auto set_all = [set, name](const std::vector<std::string>& mentions) {
        set(fmt::format("{}", fmt::join(list_values(name, mentions), ",")));
      };
      added = command.add_option_function<std::vector<std::string>>(name, set_all, option.help);
      if (option.repeats) added->expected(1)->take_all();
    } else {
      added = command.add_option_function<std::string>(name, set, option.help);
    }
    added->default_str(option.text(target))
        ->type_name(option.kind == Kind::kNumber ? "FLOAT"
                    : option.kind == Kind::kName ? "TEXT"
                                                 : "UINT");
  }
}

// Sets in `target` the options that were given on the command line, from `given`, which parsing
// set.
template <typename Target>
void copy_given(const CLI::App& command, std::span<const Option<Target>> options,
                const Target& given, Target& target) {
  for (const Option<Target>& option : options) {
    if (command.count(fmt::format("--{}", option.name)) == 0) continue;
    take(option.set(target, option.text(given)));
  }
}

// Which pairs are inferred from clicks, and how they count.
struct PairOptions {
  std::string pairs = "seen";
  double sharpness = PairRules{}.sharpness;

  [[nodiscard]] PairRules rules() const;
};

// Adds --pairs and --sharpness.
void add_pair_options(CLI::App& command, PairOptions& options);

// Which dataset a command reads, and how.
struct DataOptions {
  ComparedDataset dataset = dataset_at("synthetic");
  RunOptions run = {};  // threads and verify_cache
};

// Adds dataset_options(), --trust-cache and --threads.
void add_loading_options(CLI::App& command, DataOptions& options);

// What load_dataset takes.
LoadOptions load_options(const DataOptions& options);

// What a dataset's path may be, and the methods with their settings and defaults, for --help.
inline constexpr const char* kDatasetHelp =
    "a LETOR folder, a cache file, synthetic or synthetic:PRESET";
std::string method_help();

// A file and the option that names it.
struct NamedFile {
  std::string option;
  std::string path;
};

// Ends the command if an output can't be written, or if it is the same file as another one or as an
// input: before the work, not after it.
void require_outputs(const std::vector<NamedFile>& outputs,
                     const std::vector<NamedFile>& inputs = {});

// SQLite rewrites files beside this one: /tmp may be small or read-only. SQLITE_TMPDIR, if it is
// set, says otherwise. Before the first thread.
void rewrite_beside(const std::filesystem::path& file);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// "1 run", "1,000 runs".
std::string counted(std::uint64_t count, std::string_view what);

// NaN and infinities become null.
nlohmann::ordered_json json_number(double value);

// One line; bytes that are not UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& json);

// Prints tables and, if the paper ran the same, the scorecard; then writes the report into
// `folder`, if one is given, so that a full disk hides no result. Ends the command if that fails,
// and says that the runs are safe. Requires: at least one run.
void report_results(const StoredResults& stored,
                    const std::optional<std::filesystem::path>& folder);

// Adds report_options() and --baselines; parsing sets `given`, which must outlive the command.
void add_report_options(CLI::App& command, ComparisonSpec& given);
// Sets in `spec` those of them that were given on the command line.
void copy_report_options(const CLI::App& command, const ComparisonSpec& given,
                         ComparisonSpec& spec);

// How fast each method was, over all threads and with evaluation, if that is known.
void print_speeds(const StoredResults& stored);

// "37 of 225 runs are in results/mq2008".
std::string runs_kept(const StoredResults& stored, const std::filesystem::path& folder);

// Warns on standard error of records that were damaged.
void warn_of_damage(const StoredResults& stored, const std::string& consequence);

void add_compare(CLI::App& app);
void add_report(CLI::App& app);
void add_simulate(CLI::App& app);
void add_explain(CLI::App& app);
void add_audit(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_data(CLI::App& app);
void add_fit(CLI::App& app);
void add_learn(CLI::App& app);
void add_serve(CLI::App& app);
void add_replay(CLI::App& app);
void add_backup(CLI::App& app);
void add_migrate(CLI::App& app);
void add_export(CLI::App& app);

}  // namespace plackett::command
