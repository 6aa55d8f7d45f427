#include "command.h"

namespace plackett::command {

void add_data(CLI::App& /*app*/) {}

}  // namespace plackett::command
