#include "reload_signal.h"

#include <fcntl.h>

#include <atomic>
#include <csignal>

#include "base/file.h"

namespace plackett::command {
namespace {

std::atomic<bool> hung_up{false};

void on_hang_up(int /*number*/) { hung_up = true; }

bool has_terminal() { return Descriptor(::open("/dev/tty", O_RDONLY | O_CLOEXEC)).valid(); }

}  // namespace

ReloadSignal::ReloadSignal() : had_terminal_(has_terminal()) {
  hung_up = false;
  std::signal(SIGHUP, on_hang_up);
}

ReloadSignal::~ReloadSignal() { std::signal(SIGHUP, SIG_DFL); }

ReloadSignal::Asked ReloadSignal::asked() {
  if (!hung_up.exchange(false)) return Asked::kNothing;
  return had_terminal_ && !has_terminal() ? Asked::kStop : Asked::kReload;
}

}  // namespace plackett::command
