// The subcommands of plackett data that have a file of their own.
#pragma once

#include <CLI/CLI.hpp>

namespace plackett::command {

void add_check(CLI::App& data);

}  // namespace plackett::command
