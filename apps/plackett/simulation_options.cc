#include "simulation_options.h"

#include "command.h"

namespace plackett::command {

void add_simulation_options(CLI::App& command, SimulationOptions& options) {
  SimulationSpec& spec = options.spec;
  options.protocol = name_of(spec.protocol);
  options.activation = name_of(spec.ranker.activation);
  options.no_relevant = name(spec.no_relevant);
  command.add_option("--runs", spec.runs, "runs, spread evenly over the folds")
      ->capture_default_str();
  command.add_option("--impressions", spec.impressions, "impressions a run")->capture_default_str();
  command
      .add_option("--protocol", options.protocol,
                  "described (the paper's text) or published (as its numbers were made)")
      ->capture_default_str();
  command.add_option("--seed", spec.seed, "of all randomness")->capture_default_str();
  command.add_option("--threads", options.threads, "0: one a core")->capture_default_str();
  command.add_option("--shown", spec.shown, "documents shown an impression")->capture_default_str();
  command.add_option("--learning-rate", options.learning_rate, "0: the method's own")
      ->capture_default_str();
  command.add_option("--hidden", spec.ranker.hidden, "neural: units of each hidden layer")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--activation", options.activation, "neural: sigmoid, relu or tanh")
      ->capture_default_str();
  command.add_option("--eta", spec.eta, "position-based users: examination is 1/rank^eta")
      ->capture_default_str();
  command
      .add_option("--no-relevant", options.no_relevant,
                  "test queries without relevant documents: skip, zero or one")
      ->capture_default_str();
}

SimulationSpec spec_of(const SimulationOptions& options) {
  SimulationSpec spec = options.spec;
  spec.protocol = take(parse_protocol(options.protocol));
  spec.ranker.activation = take(parse_activation(options.activation));
  spec.no_relevant = take(parse_no_relevant(options.no_relevant));
  if (options.learning_rate != 0) spec.learning_rate = options.learning_rate;
  return spec;
}

}  // namespace plackett::command
