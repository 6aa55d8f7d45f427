// A plackett command in a child process that a test can send signals to.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
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

  // The exit code, or 128 plus the signal that ended it.
  int wait() {
    reap(0);
    return code_;
  }

  // Like wait() if it has ended; otherwise nullopt, without waiting.
  std::optional<int> ended() {
    reap(WNOHANG);
    return process_ > 0 ? std::nullopt : std::optional<int>(code_);
  }

  [[nodiscard]] pid_t process() const { return process_; }

  // CPU time so far, or in total once it has ended; does not depend on the machine's load.
  [[nodiscard]] double processor_seconds() const {
    if (process_ <= 0) return processor_seconds_;
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process_, &clock) != 0) std::abort();
    if (::clock_gettime(clock, &time) != 0) std::abort();
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

 private:
  void reap(int options) {
    int status = 0;
    rusage used{};
    if (process_ <= 0 || ::wait4(process_, &status, options, &used) != process_) return;
    process_ = -1;
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      processor_seconds_ +=
          static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
    }
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  pid_t process_ = -1;  // until wait()
  int code_ = 0;
  double processor_seconds_ = 0;  // in total, after wait()
};

}  // namespace plackett::testing
