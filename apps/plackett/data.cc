// plackett data: look at datasets, convert them, make them up.
#include "command.h"
#include "data_commands.h"

namespace plackett::command {

void add_data(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Look at a dataset, convert it, or make one up");
  data->require_subcommand(1);
  add_data_info(*data);
  add_data_convert(*data);
  add_data_synth(*data);
}

}  // namespace plackett::command
