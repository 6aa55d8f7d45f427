#include "support/postgres.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "support/eventually.h"

namespace plackett::testing {
namespace {

namespace fs = std::filesystem;

// Where the newest version's programs are; empty if there are none.
fs::path programs() {
  const fs::path root = "/usr/lib/postgresql";
  int newest = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored)) {
    if (!fs::exists(entry.path() / "bin/initdb")) continue;
    newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
  }
  return newest == 0 ? fs::path() : root / std::to_string(newest) / "bin";
}

// PostgreSQL does not run as root.
const passwd* owner() {
  if (::geteuid() != 0) return nullptr;
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* found = ::getpwnam(name)) return found;
  }
  throw std::runtime_error("no user to run PostgreSQL as");
}

pid_t start_as_owner(std::vector<std::string> arguments, const std::string& output) {
  const passwd* user = owner();
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("can't fork");
  if (process > 0) return process;
  const int log = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                          ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  // After the change of user, which clears it. A test that dies leaves nothing behind.
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent) ::_exit(126);
  if (::chdir("/") != 0) ::_exit(126);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

std::uint16_t free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(listener);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char letter : text) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      encoded += letter;
    } else {
      constexpr const char* kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(letter);
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return encoded;
}

using Connected = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Answered = std::unique_ptr<PGresult, decltype(&PQclear)>;

}  // namespace

bool PostgresServer::is_installed() { return !programs().empty(); }

PostgresServer& PostgresServer::shared() {
  static PostgresServer server({.fsync = false});
  return server;
}

PostgresServer::PostgresServer(Options options) : options_(std::move(options)) {
  if (const passwd* user = owner();
      user != nullptr && ::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("can't give a folder to " + std::string(user->pw_name));
  }
  std::ofstream(folder_ / "password") << kPassword << '\n';
  run_as_owner({programs() / "initdb", "--pgdata", folder_ / "data", "--username", "postgres",
                "--auth-local", "trust", "--auth-host", "scram-sha-256", "--pwfile",
                folder_ / "password", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"});
  start();
}

void PostgresServer::run_as_owner(const std::vector<std::string>& arguments) {
  const std::string output = folder_ / "log";
  int status = 0;
  ::waitpid(start_as_owner(arguments, output), &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error(arguments[0] + ": " + slurp(output));
  }
}

void PostgresServer::start() {
  if (port_ == 0) port_ = free_port();
  std::vector<std::string> arguments = {programs() / "postgres",
                                        "-D",
                                        folder_ / "data",
                                        "-k",
                                        folder_.path(),
                                        "-p",
                                        std::to_string(port_),
                                        "-c",
                                        "listen_addresses=127.0.0.1",
                                        "-c",
                                        std::string("fsync=") + (options_.fsync ? "on" : "off")};
  for (const std::string& setting : options_.settings) {
    arguments.insert(arguments.end(), {"-c", setting});
  }
  process_ = start_as_owner(arguments, folder_ / "log");
  const std::string url =
      "postgresql:///postgres?user=postgres&host=" + percent_encoded(folder_.path()) +
      "&port=" + std::to_string(port_);
  const bool started = eventually([&] {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
    return process_ < 0 || PQping(url.c_str()) == PQPING_OK;
  });
  if (!started || process_ < 0) {
    throw std::runtime_error("PostgreSQL does not start: " + slurp(folder_ / "log"));
  }
}

void PostgresServer::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGQUIT);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

std::string PostgresServer::database(const std::string& name) {
  const auto url = [&](const std::string& of) {
    return "postgresql:///" + percent_encoded(of) +
           "?user=postgres&host=" + percent_encoded(folder_.path()) +
           "&port=" + std::to_string(port_);
  };
  if (query(url("postgres"), "SELECT 1 FROM pg_database WHERE datname = '" + name + "'").empty()) {
    query(url("postgres"), "CREATE DATABASE \"" + name + "\"");
  }
  return url(name);
}

std::string PostgresServer::new_database() {
  return database("test" + std::to_string(++databases_));
}

std::string PostgresServer::tcp_url(const std::string& name, const std::string& password) const {
  return "postgresql://postgres:" + percent_encoded(password) +
         "@127.0.0.1:" + std::to_string(port_) + "/" + percent_encoded(name);
}

PostgresServer::Rows PostgresServer::query(const std::string& url, const std::string& sql) {
  const Connected connection(PQconnectdb(url.c_str()), PQfinish);
  const Answered answer(PQexec(connection.get(), sql.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(answer.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection.get()));
  }
  Rows rows;
  for (int row = 0; row < PQntuples(answer.get()); ++row) {
    rows.emplace_back();
    for (int column = 0; column < PQnfields(answer.get()); ++column) {
      rows.back().emplace_back(PQgetisnull(answer.get(), row, column) != 0
                                   ? "NULL"
                                   : PQgetvalue(answer.get(), row, column));
    }
  }
  return rows;
}

}  // namespace plackett::testing
