#include "stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "command.h"

namespace plackett::command {
namespace {

// What the handler reads: lock-free, and the text does not change while handlers are installed.
std::atomic<bool> asking{false};
std::atomic<bool> requested{false};
std::atomic<std::int64_t> requested_ns{0};
std::string& farewell() {
  static std::string text;
  return text;
}
std::atomic<const char*> farewell_bytes{nullptr};
std::atomic<std::size_t> farewell_size{0};

// Some programs signal both a command and its process group: that is one request.
constexpr std::int64_t kOneRequestNs = 500'000'000;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int /*number*/) {
  if (asking.load()) {
    if (!requested.load()) requested_ns = now_ns();
    if (!requested.exchange(true) || now_ns() - requested_ns.load() < kOneRequestNs) return;
  }
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, farewell_bytes.load(), farewell_size.load());
  ::_exit(kInterrupted);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

StopSignal::StopSignal(const std::string& message) {
  requested = false;
  asking = false;
  farewell() = "\nplackett: " + message + "\n";
  farewell_bytes = farewell().data();
  farewell_size = farewell().size();
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
}

StopSignal::~StopSignal() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

void StopSignal::begin_work() { asking = true; }
void StopSignal::end_work() { asking = false; }

bool stop_requested() { return requested.load(std::memory_order_relaxed); }

}  // namespace plackett::command
