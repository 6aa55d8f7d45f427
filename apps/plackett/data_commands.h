// The subcommands of `plackett data`, a file each.
#pragma once

#include <CLI/CLI.hpp>

namespace plackett::command {

void add_data_info(CLI::App& data);
void add_data_convert(CLI::App& data);
void add_data_synth(CLI::App& data);

}  // namespace plackett::command
