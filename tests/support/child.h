// A plackett command that runs beside the test, to be signalled.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace plackett::testing {

class Child {
 public:
  // Standard output and error go to the two files.
  Child(std::vector<std::string> arguments, const std::string& out, const std::string& err) {
    arguments.insert(arguments.begin(), PLACKETT_COMMAND);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0) std::abort();
    if (process_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies leaves nothing behind
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    ::dup2(::open(out.c_str(), kFlags, 0644), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), kFlags, 0644), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }

  void signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }

  // The exit code, or 128 and the signal that ended it.
  int wait() {
    reap(0);
    return code_;
  }

  // As wait() where it has ended; else nothing, at once.
  std::optional<int> ended() {
    reap(WNOHANG);
    return process_ > 0 ? std::nullopt : std::optional<int>(code_);
  }

  [[nodiscard]] pid_t process() const { return process_; }

 private:
  void reap(int options) {
    int status = 0;
    if (process_ <= 0 || ::waitpid(process_, &status, options) != process_) return;
    process_ = -1;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  pid_t process_ = -1;  // until it was waited for
  int code_ = 0;
};

// Waits until `holds`, for ten seconds at most; whether it does.
template <typename Condition>
bool eventually(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace plackett::testing
