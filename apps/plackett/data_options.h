// The options with which every command that reads data names and prepares it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "dataset/dataset.h"

namespace plackett::command {

struct DataOptions {
  std::string where = "synthetic";
  std::string scaling;
  bool keep_constant_features = false;
  LoadOptions load;
};

void add_data_options(CLI::App& command, DataOptions& options);

// Loads what the options name, over `threads` threads, or ends the command with exit code 2.
Dataset load(const DataOptions& options, unsigned threads);

}  // namespace plackett::command
