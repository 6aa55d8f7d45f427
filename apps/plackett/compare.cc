#include "command.h"

namespace plackett::command {

void add_compare(CLI::App& /*app*/) {}

}  // namespace plackett::command
