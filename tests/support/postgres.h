// A real PostgreSQL server in a temporary folder, for tests of what runs over one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/run_command.h"

namespace plackett::testing {

class PostgresServer {
 public:
  struct Options {
    bool fsync = true;
    std::vector<std::string> settings{};  // such as "max_connections=20"
  };

  // Whether the server's programs are on this machine; tests skip without them.
  static bool is_installed();
  static constexpr const char* kMissing = "PostgreSQL is not installed (package postgresql)";

  // One for all tests of this process, started by the first call. Without fsync.
  // Requires: is_installed().
  static PostgresServer& shared();

  // Starts it: on a Unix socket in a folder of its own, without a password, and on a free port of
  // the loopback interface, with one. Throws if it does not start. It ends with this object, or
  // with the thread that made it.
  explicit PostgresServer(Options options);
  PostgresServer() : PostgresServer(Options{}) {}
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() { kill(); }

  // Kills it as a loss of power would.
  void kill();
  // Starts it again. Requires: it was killed.
  void start();

  // The URL of a database over the socket. Creates it if there is none.
  std::string database(const std::string& name);
  // The URL of a new database.
  std::string new_database();
  // The same database over TCP, for user postgres and this password.
  [[nodiscard]] std::string tcp_url(const std::string& name, const std::string& password) const;
  static constexpr const char* kPassword = "open sesame";

  // Runs SQL as a user would; the rows as text, "NULL" for NULL. Throws if it fails.
  using Rows = std::vector<std::vector<std::string>>;
  static Rows query(const std::string& url, const std::string& sql);

 private:
  void run_as_owner(const std::vector<std::string>& arguments);

  Options options_;
  TemporaryFolder folder_;
  std::uint16_t port_ = 0;
  pid_t process_ = -1;
  int databases_ = 0;
};

}  // namespace plackett::testing
