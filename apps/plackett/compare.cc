// plackett compare: methods and rankers side by side under several click models.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command.h"
#include "data_options.h"
#include "experiment/method_entry.h"
#include "experiment/simulation.h"
#include "report/numbers.h"
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

// Two cells of one name would stand as one in tables and curves.
void require_new(const Simulation& simulation, const std::vector<Simulation>& others) {
  const SimulationSpec& spec = simulation.spec();
  for (const Simulation& other : others) {
    if (other.spec().method == spec.method && other.spec().ranker.kind == spec.ranker.kind &&
        other.spec().click_model == spec.click_model) {
      fail(Error{fmt::format("{} ({}) under \"{}\" is asked for twice; each may come once",
                             spec.method, name_of(spec.ranker.kind), spec.click_model)});
    }
  }
}

// Made now, so that a folder that can't be written to is found before the work.
void require_writable_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(Error{fmt::format("{}: can't create: {}", folder, error.message())});
  require_writable_file((std::filesystem::path(folder) / "report.html").string());
}

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
        apply(take(parse_method_entry(method)), spec);
        spec.ranker.kind = take(parse_ranker_kind(ranker));
        spec.click_model = click_model;
        Simulation simulation = take(Simulation::prepare(dataset, spec));
        require_new(simulation, simulations);
        simulations.push_back(std::move(simulation));
      }
    }
  }

  require_writable_folder(options.out);
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
  fmt::print("{} impressions in {:.1f} s on {} thread{}\n",
             report::grouped(common.impressions * common.runs * simulations.size()), seconds,
             threads, threads == 1 ? "" : "s");
  fmt::print("report: {}/report.html\n", options.out);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Methods and rankers side by side: tables, curves, a report");
  add_data_options(*command, options->data);
  command->add_option("--methods", options->methods, "how to learn: pdgd")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--rankers", options->rankers, ranker_names())
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
