// The options that say what to simulate, shared by the commands that do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "plackett/simulation.h"

namespace plackett::command {

struct SimulationOptions {
  SimulationSpec spec;
  std::string protocol;
  std::string activation;
  std::string no_relevant;
  unsigned threads = 0;  // 0: one a core
};

// Everything but method, ranker and click model, which some commands take several of.
void add_simulation_options(CLI::App& command, SimulationOptions& options);

// The methods with their settings and defaults, for --help.
std::string method_help();

// The spec as asked for; ends the command where a name is unknown.
SimulationSpec spec_of(const SimulationOptions& options);

}  // namespace plackett::command
