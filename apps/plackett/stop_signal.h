// Ctrl-C and SIGTERM, as a flag that long work polls.
#pragma once

#include <string>

namespace plackett::command {

// While it lives, the first SIGINT or SIGTERM during work that polls stop_requested() only sets
// that flag; a second one half a second later, or one outside of such work, ends the process at
// once with kInterrupted and `message` on standard error. At most one lives at a time.
class StopSignal {
 public:
  explicit StopSignal(const std::string& message);
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  // Between these two calls, work polls stop_requested().
  void begin_work();
  void end_work();

 private:
  std::string farewell_;
};

// Safe from any thread, and cheap.
bool stop_requested();

}  // namespace plackett::command
