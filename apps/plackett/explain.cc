#include "command.h"

namespace plackett::command {

void add_explain(CLI::App& /*app*/) {}

}  // namespace plackett::command
