#include "command.h"

namespace plackett::command {

void add_audit(CLI::App& /*app*/) {}

}  // namespace plackett::command
