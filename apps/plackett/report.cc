// plackett report: the tables, curves and pages of a results folder again.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "command.h"
#include "experiment/results_folder.h"
#include "print_results.h"

namespace plackett::command {
namespace {

void report(const std::string& folder) {
  const auto stored = take(read_results(folder));
  if (!stored) fail(Error{fmt::format("{}: no results; plackett compare makes them", folder)});
  warn_of_damage(*stored, folder, "left out");
  if (stored->runs.empty()) fail(Error{fmt::format("{}: no run is finished yet", folder)});
  report_results(*stored, folder);
  if (stored->runs.size() < run_count(stored->spec)) {
    fmt::print("unfinished: {}\n", runs_kept(*stored, folder));
  }
  fmt::print("report: {}/report.html\n", folder);
}

}  // namespace

void add_report(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("report", "Tables, curves and report of a results folder again");
  command->add_option("folder", *folder, "what plackett compare wrote, finished or not")
      ->required();
  command->callback([folder] { report(*folder); });
}

}  // namespace plackett::command
