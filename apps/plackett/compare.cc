// plackett compare: methods and rankers side by side under several click models.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "data_options.h"
#include "experiment/simulation.h"
#include "report/table.h"
#include "report/write.h"
#include "simulation_options.h"
#include "watched_run.h"

namespace plackett::command {
namespace {

struct CompareOptions {
  DataOptions data;
  SimulationOptions simulation;
  std::vector<std::string> methods{"pdgd"};
  std::vector<std::string> rankers{"linear", "neural"};
  std::vector<std::string> click_models{"perfect", "navigational", "informational"};
  std::string out = "results/compare";
};

void compare(const CompareOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const unsigned threads = thread_count(options.simulation.threads);
  const SimulationSpec common = spec_of(options.simulation);
  const Dataset dataset = load(options.data, threads);
  std::vector<Simulation> simulations;
  for (const std::string& click_model : options.click_models) {
    for (const std::string& method : options.methods) {
      for (const std::string& ranker : options.rankers) {
        SimulationSpec spec = common;
        spec.method = method;
        spec.ranker.kind = take(parse_ranker_kind(ranker));
        spec.click_model = click_model;
        simulations.push_back(take(Simulation::prepare(dataset, spec)));
      }
    }
  }

  Comparison comparison;
  comparison.title = fmt::format("Learning to rank from clicks on {}", dataset.name);
  comparison.threads = threads;
  comparison.version = PLACKETT_VERSION;
  comparison.cells = take(run_watched(simulations, threads));
  take(write_report(comparison, options.out, {.command = command_line()}));

  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  TableStyle style;
  style.ansi = ::isatty(STDOUT_FILENO) == 1;
  fmt::print("{}\n", terminal_table(comparison, style));
  fmt::print("{:.1f} million impressions in {:.1f} s on {} threads\n",
             static_cast<double>(common.impressions) * common.runs *
                 static_cast<double>(simulations.size()) / 1e6,
             seconds, threads);
  fmt::print("report: {}/report.html\n", options.out);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Methods and rankers side by side: tables, curves, a report");
  add_data_options(*command, options->data);
  command->add_option("--methods", options->methods, "pdgd")->delimiter(',')->capture_default_str();
  command->add_option("--rankers", options->rankers, "linear, neural")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--click-models", options->click_models, "names, or .toml files")
      ->delimiter(',')
      ->capture_default_str();
  add_simulation_options(*command, options->simulation);
  command->add_option("--out", options->out, "folder for report, curves and tables")
      ->capture_default_str();
  command->callback([options] { compare(*options); });
}

}  // namespace plackett::command
