// A plackett server in a child process, with its own database.
#pragma once

#include <csignal>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/child.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/run_command.h"

namespace plackett::testing {

class Server {
 public:
  // Starts it with additional arguments; `tokens` is the content of its tokens file, if any. Throws
  // if it does not get ready.
  explicit Server(std::vector<std::string> arguments = {}, const std::string& tokens = "")
      : arguments_(std::move(arguments)) {
    if (!tokens.empty()) {
      std::ofstream(folder_ / "tokens") << tokens;
      arguments_.insert(arguments_.end(), {"--tokens", folder_ / "tokens"});
    }
    start();
  }

  // Starts it again on the same database.
  // Requires: it was stopped or killed.
  void start() {
    launch();
    const std::string before = "plackett serves ";
    const std::string host = "://127.0.0.1:";
    std::string line;
    const bool started = eventually([&] {
      line = slurp(folder_ / "out");
      if (child_->ended().has_value()) throw std::runtime_error("serve ended: " + error_output());
      return line.starts_with(before) && line.ends_with('\n');
    });
    if (!started) throw std::runtime_error("serve does not say its port: " + error_output());
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.find(host) + host.size())));
    if (line.starts_with(before + "https")) return;  // only TLS clients can ask
    HttpClient client = this->client();
    if (!eventually([&] { return client.get("/ready").status == 200; })) {
      throw std::runtime_error("serve does not get ready: " + error_output());
    }
  }

  // Like start(), without waiting until it is ready.
  void launch() {
    std::vector<std::string> whole = {"serve", "--db", db(), "--port", "0"};
    whole.insert(whole.end(), arguments_.begin(), arguments_.end());
    std::filesystem::remove(folder_ / "out");  // the previous output
    child_ = std::make_unique<Child>(whole, folder_ / "out", folder_ / "err");
  }

  // Asks it to stop; its exit code, or nullopt if it does not stop in time.
  std::optional<int> stop() {
    child_->signal(SIGTERM);
    std::optional<int> code;
    eventually([&] { return (code = child_->ended()).has_value(); });
    return code;
  }

  // Has it read its files again, and waits until it has; what it says about that.
  std::string reload() {
    const std::size_t before = error_output().size();
    child_->signal(SIGHUP);
    std::string said;
    const bool done = eventually([&] {
      said = error_output().substr(before);
      return said.find("certificate") != std::string::npos && said.ends_with('\n');
    });
    if (!done) throw std::runtime_error("serve does not reload: " + error_output());
    return said;
  }

  // Kills it with SIGKILL.
  void kill() {
    child_->signal(SIGKILL);
    child_->wait();
  }

  [[nodiscard]] std::string db() const { return folder_ / "plackett.db"; }
  // Where `tokens` was written.
  [[nodiscard]] std::string tokens_file() const { return folder_ / "tokens"; }
  [[nodiscard]] bool runs() { return !child_->ended().has_value(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] pid_t process() const { return child_->process(); }
  [[nodiscard]] HttpClient client(const std::string& token = "") const {
    return HttpClient(port_, token);
  }
  [[nodiscard]] std::string error_output() const { return slurp(folder_ / "err"); }

  // A value of /proc/PID/status, such as "VmRSS"; memory is in KiB.
  [[nodiscard]] long status(const std::string& name) const {
    std::ifstream file("/proc/" + std::to_string(child_->process()) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
    }
    throw std::runtime_error("no " + name + " of the server");
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> arguments_;
  std::unique_ptr<Child> child_;
  std::uint16_t port_ = 0;
};

}  // namespace plackett::testing
