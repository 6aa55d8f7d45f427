#include "command.h"

#include <algorithm>
#include <thread>

namespace plackett::command {

void fail(const Error& error) { throw Exit(kFailure, error.message); }

unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace plackett::command
