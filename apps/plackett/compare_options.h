// What to compare: a spec file, options, or options over a spec file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data_options.h"
#include "plackett/comparison_spec.h"
#include "simulation_options.h"

namespace plackett::command {

struct CompareOptions {
  std::optional<std::string> spec_file;
  std::vector<std::string> data;
  std::vector<std::string> datasets;
  std::string data_root;
  DataOptions loading;
  SimulationOptions simulation;
  std::vector<std::string> methods;
  std::vector<std::string> click_models;
  std::optional<std::string> out;
  bool fresh = false;
  bool dry_run = false;
};

void add_compare_options(CLI::App& command, CompareOptions& options);

// The spec as asked for: the file's, or the default one, with each option that was given in place
// of what stands there. Ends the command where something is unknown; whether it can run is for
// check() to say.
ComparisonSpec comparison_spec(const CLI::App& command, const CompareOptions& options);

// `--out`, or a folder under results/ that is named after the spec file and what is asked for: the
// same command finds its results again, and another one does not meet them.
std::string results_folder(const CompareOptions& options, const ComparisonSpec& spec);

}  // namespace plackett::command
