// What to compare: a spec file, options, or options over a spec file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "plackett/comparison_spec.h"

namespace plackett::command {

struct CompareOptions {
  std::optional<std::string> spec_file;
  std::vector<std::string> data;
  std::vector<std::string> datasets;
  std::string data_root;
  DataOptions loading;  // its path is not read
  SimulationSpec common;
  std::vector<std::string> methods;
  std::vector<std::string> click_models;
  std::optional<std::string> out;
  bool fresh = false;
  bool dry_run = false;
};

void add_compare_options(CLI::App& command, CompareOptions& options);

// The spec of the file, or the default one, with each given option in place of its value. Ends the
// command on unknown names; check() says whether the spec can run.
ComparisonSpec comparison_spec(const CLI::App& command, const CompareOptions& options);

// --out, or a folder under results/ named after the spec file and the spec's identity: the same
// command finds its results again, and another one uses another folder.
std::string results_folder(const CompareOptions& options, const ComparisonSpec& spec);

// The methods with their settings and defaults, for --help.
std::string method_help();

}  // namespace plackett::command
