#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "plackett/version.h"

namespace {

// Whether `name` is a command of `parent`; if not, prints the known ones. No name is left to the
// parser.
bool known_command(const CLI::App& parent, const char* name) {
  if (name == nullptr || *name == '-') return true;
  std::vector<std::string> known;
  for (const CLI::App* command : parent.get_subcommands({})) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), name) != known.end()) return true;
  fmt::print(stderr, "plackett: unknown command \"{}\"; known: {}\n", name, fmt::join(known, ", "));
  return false;
}

int run(int argc, const char* const* argv) {
  CLI::App app("plackett learns to rank from clicks", "plackett");
  app.set_version_flag("--version", fmt::format("plackett {} ({}, {})", plackett::version(),
                                                plackett::compiler(), plackett::simd_target()));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("plackett: {}; --help shows the options\n", error.what());
  });
  app.get_formatter()->column_width(34);
  app.option_defaults()->always_capture_default();

  plackett::command::add_compare(app);
  plackett::command::add_report(app);
  plackett::command::add_simulate(app);
  plackett::command::add_explain(app);
  plackett::command::add_audit(app);
  plackett::command::add_evaluate(app);
  plackett::command::add_data(app);
  plackett::command::add_fit(app);
  plackett::command::add_learn(app);
  plackett::command::add_serve(app);
  plackett::command::add_replay(app);
  plackett::command::add_backup(app);
  plackett::command::add_migrate(app);
  plackett::command::add_export(app);

  if (!known_command(app, argc > 1 ? argv[1] : nullptr)) return plackett::command::kFailure;
  if (argc > 1 && argv[1] == std::string_view("data") &&
      !known_command(*app.get_subcommand("data"), argc > 2 ? argv[2] : nullptr)) {
    return plackett::command::kFailure;
  }
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const plackett::command::Exit& exit) {
    if (*exit.what() != '\0') fmt::print(stderr, "plackett: {}\n", exit.what());
    return exit.code();
  } catch (const CLI::ExtrasError&) {
    // CLI11's own message has them backwards.
    fmt::print(stderr, "plackett: unexpected arguments: {}; --help shows the options\n",
               fmt::join(app.remaining(true), " "));
    return plackett::command::kFailure;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : plackett::command::kFailure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file size limit is an error of write(2), not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // A GPU's streams, one for each thread, share 8 queues by default, where one waits for another's
  // work.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  try {
    const int code = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fputs("plackett: standard output: can't write\n", stderr);
      return plackett::command::kFailure;
    }
    return code;
  } catch (const std::exception& error) {
    std::fputs("plackett: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputc('\n', stderr);
    return plackett::command::kFailure;
  }
}
