#include "command.h"

namespace plackett::command {

void add_evaluate(CLI::App& /*app*/) {}

}  // namespace plackett::command
