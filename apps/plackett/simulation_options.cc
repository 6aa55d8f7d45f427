#include "simulation_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command.h"
#include "plackett/method.h"

namespace plackett::command {

void add_simulation_options(CLI::App& command, SimulationOptions& options) {
  SimulationSpec& spec = options.spec;
  options.protocol = name_of(spec.protocol);
  options.activation = name_of(spec.ranker.activation);
  options.no_relevant = name_of(spec.no_relevant);
  command.add_option("--runs", spec.runs, "runs, spread evenly over the folds")
      ->check(whole_number(1, kMaxRuns))
      ->capture_default_str();
  command.add_option("--impressions", spec.impressions, "impressions a run")
      ->check(whole_number(1, kMaxImpressions))
      ->capture_default_str();
  command.add_option("--protocol", options.protocol, protocol_help())->capture_default_str();
  add_seed_option(command, spec.seed, "of all randomness");
  add_threads_option(command, options.threads);
  command.add_option("--shown", spec.shown, "documents shown an impression")
      ->check(whole_number(1, kMaxShown))
      ->capture_default_str();
  command.add_option("--hidden", spec.ranker.hidden, "networks: units of each hidden layer")
      ->delimiter(',')
      ->check(whole_number(1, kMaxUnits))
      ->capture_default_str();
  command.add_option("--activation", options.activation, "networks: sigmoid, relu or tanh")
      ->capture_default_str();
  command.add_option("--eta", spec.eta, "position-based users: examination is 1/rank^eta")
      ->capture_default_str();
  command
      .add_option("--no-relevant", options.no_relevant,
                  "test queries without relevant documents: skip, zero or one")
      ->capture_default_str();
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

SimulationSpec spec_of(const SimulationOptions& options) {
  SimulationSpec spec = options.spec;
  spec.protocol = take(parse_protocol(options.protocol));
  spec.ranker.activation = take(parse_activation(options.activation));
  spec.no_relevant = take(parse_no_relevant(options.no_relevant));
  return spec;
}

}  // namespace plackett::command
