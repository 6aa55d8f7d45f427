// SIGHUP, which asks a server to read its files again.
#pragma once

namespace plackett::command {

// While it lives, SIGHUP sets a flag. At most one lives at a time.
class ReloadSignal {
 public:
  ReloadSignal();
  ReloadSignal(const ReloadSignal&) = delete;
  ReloadSignal& operator=(const ReloadSignal&) = delete;
  ~ReloadSignal();

  // What SIGHUP asked for since the last call. The terminal that the process was started from sends
  // it too when it is closed: then the process is to stop.
  enum class Asked { kNothing, kReload, kStop };
  Asked asked();

 private:
  bool had_terminal_;
};

}  // namespace plackett::command
