// The options with which every command that reads data names and prepares it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "plackett/dataset.h"

namespace plackett::command {

struct DataOptions {
  std::string where = "synthetic";
  std::string scaling = std::string(name_of(Scaling::kQueryMinMax));
  bool keep_constant_features = false;
  bool trust_cache = false;
  LoadOptions load;
};

// How data is prepared; what data it is stays with the caller.
void add_loading_options(CLI::App& command, DataOptions& options);

// `--data` as well.
void add_data_options(CLI::App& command, DataOptions& options);

// What load_dataset takes; ends the command with exit code 2 on an unknown scaling.
LoadOptions load_options(const DataOptions& options, unsigned threads);

// Loads what the options name, over `threads` threads, or ends the command with exit code 2.
Dataset load(const DataOptions& options, unsigned threads);

}  // namespace plackett::command
