// What the subcommands share. Each lives in a file of its own and adds itself to the app.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "base/parallel.h"  // IWYU pragma: export; thread_count
#include "plackett/result.h"

namespace plackett::command {

// Exit codes: 0 done, 1 done but with a negative answer (a violation, a bad line), 2 bad input
// or a failure; usage errors are 2 as well.
inline constexpr int kNegative = 1;
inline constexpr int kFailure = 2;

// Thrown by a subcommand to end with an exit code; main prints the message, if any, to stderr.
class Exit : public std::runtime_error {
 public:
  Exit(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

// Ends the command with exit code 2, and names the options that do what the error advises.
[[noreturn]] void fail(const Error& error);

// The value, or the end of the command with exit code 2.
template <typename T>
T take(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(result).value();
}
inline void take(const Result<void>& result) {
  if (!result) fail(result.error());
}

// The command as it was called, quoted so that a shell reads it back; main sets it.
const std::string& command_line();
void set_command_line(int argc, const char* const* argv);

// Checks an option's text: a whole number from `least` to `most`, digits only, so that a minus
// sign or a number too large is refused rather than wrapped.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

// Adds `--seed` and `--threads`, which several commands take.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& what);
void add_threads_option(CLI::App& command, unsigned& threads);

// Ends the command with exit code 2 where a file can't be written at `path`: before the work,
// not after it.
void require_writable_file(const std::string& path);

// One line; bytes that are no UTF-8 are replaced.
void print_json(const nlohmann::ordered_json& json);

void add_data(CLI::App& app);
void add_simulate(CLI::App& app);
void add_compare(CLI::App& app);
void add_report(CLI::App& app);
void add_explain(CLI::App& app);
void add_audit(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_serve(CLI::App& app);
void add_replay(CLI::App& app);

}  // namespace plackett::command
