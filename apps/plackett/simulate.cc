#include "command.h"

namespace plackett::command {

void add_simulate(CLI::App& /*app*/) {}

}  // namespace plackett::command
