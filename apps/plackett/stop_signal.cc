#include "stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "command.h"

namespace plackett::command {
namespace {

// What the handler reads: lock-free, and the text does not change while handlers are installed.
std::atomic<bool> polled{false};
std::atomic<std::int64_t> requested_ns{0};  // when; 0: not yet
std::atomic<const char*> farewell{nullptr};

// Some programs signal both a command and its process group: that is one request.
constexpr std::int64_t kOneRequestNs = 500'000'000;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int /*number*/) {
  if (polled) {
    std::int64_t first = 0;
    const std::int64_t now = now_ns();
    if (requested_ns.compare_exchange_strong(first, now) || now - first < kOneRequestNs) return;
  }
  const char* const text = farewell;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(kInterrupted);
}

}  // namespace

StopSignal::StopSignal(const std::string& message) : farewell_("\nplackett: " + message + "\n") {
  requested_ns = 0;
  polled = false;
  farewell = farewell_.c_str();
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

StopSignal::~StopSignal() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void StopSignal::begin_work() { polled = true; }
void StopSignal::end_work() { polled = false; }

bool stop_requested() { return requested_ns.load(std::memory_order_relaxed) != 0; }

}  // namespace plackett::command
