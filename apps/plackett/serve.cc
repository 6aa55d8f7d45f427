// plackett serve: the learning service over HTTP.
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/file_lock.h"
#include "command.h"
#include "http/server.h"
#include "notify.h"
#include "reload_signal.h"
#include "serving/service.h"
#include "stop_signal.h"
#include "store/open.h"

namespace plackett::command {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kGrace{10};

// Memory that is given up when an allocation fails, so that small ones that must not fail, such as
// those of an answer, still succeed.
std::atomic<void*> memory_reserve{nullptr};

void refill_memory_reserve() {
  constexpr std::size_t kBytes = std::size_t{8} << 20;
  if (memory_reserve == nullptr) std::free(memory_reserve.exchange(std::malloc(kBytes)));
}

// Called by operator new after a failure, which it then tries again.
void give_up_memory_reserve() {
  void* kept = memory_reserve.exchange(nullptr);
  if (kept == nullptr) throw std::bad_alloc();
  std::free(kept);
}

struct ServeOptions {
  std::string db = "plackett.db";
  serving::ServiceOptions service;
  http::ServerOptions server;
};

// A new folder that goes with its path.
std::shared_ptr<const fs::path> temporary_folder() {
  std::string pattern = (fs::temp_directory_path() / "plackett-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail({fmt::format("{}: can't create", pattern)});
  return {new fs::path(pattern), [](const fs::path* path) {
            std::error_code ignored;
            fs::remove_all(*path, ignored);
            delete path;
          }};
}

// Raises the limit of open files to what the connections need, as far as the system allows.
void allow_connections(std::size_t connections) {
  constexpr std::size_t kOthers = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// That the log is appended to no file that the server needs.
void check_request_log(const ServeOptions& options) {
  const FileId log = FileId::of(options.server.request_log);
  if (log == FileId{}) return;
  const std::string db = store::is_postgres(options.db) ? "" : options.db;
  for (const auto& [option, path] : {std::pair<const char*, fs::path>{"--db", db},
                                     {"--tokens", options.server.tokens},
                                     {"--tls-cert", options.server.tls_cert},
                                     {"--tls-key", options.server.tls_key}}) {
    for (const char* ending : {"", "-wal", "-shm"}) {
      if (path.empty() || FileId::of(path.string() + ending) != log) continue;
      fail(Error{fmt::format("{}: {} and --request-log are the same file; give two",
                             options.server.request_log.string(), option)});
    }
  }
}

// A line on standard error. A server outlives the reader of its standard error, and a full disk
// that it lies on: what can't be written is dropped.
void say(std::string_view line) {
  const std::string text = fmt::format("plackett: {}\n", line);
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Reads the server's files again; what is wrong with them is said, and what was is kept.
void reload(http::Server& server, bool has_log) {
  const auto read_again = [](const auto& work, std::string_view done, std::string_view kept) {
    Result<void> result;
    try {
      result = work();
    } catch (const std::bad_alloc&) {
      result = Error{"not enough memory; send SIGHUP again"};
    }
    say(result ? std::string(done) : fmt::format("{}: {}", kept, result.error().message));
  };
  if (has_log) {
    read_again([&] { return server.reopen_log(); }, "the request log was opened again",
               "kept the request log");
  }
  read_again([&] { return server.reload(); }, "tokens and certificate were read again",
             "kept the tokens and the certificate");
}

void serve(ServeOptions options, bool db_given) {
  if (auto sound = store::check_name(options.db); !sound) fail(sound.error().in("--db"));
  if (options.server.tls_cert.empty() != options.server.tls_key.empty()) {
    fail(Error{"--tls-cert and --tls-key go together"});
  }
  constexpr std::uint64_t kSpare = std::uint64_t{128} << 10;
  if (options.server.limits.all_bodies_bytes < options.server.limits.body_bytes + kSpare) {
    fail(Error{"--max-bodies must exceed --max-body by 128K, or no such body could be taken"});
  }
  check_request_log(options);
  StopSignal signal("stopped at once; everything that was answered is in the store");
  signal.begin_work();
  ReloadSignal reload_signal;
  const auto temporary = options.server.demo && !db_given ? temporary_folder() : nullptr;
  const std::string db = temporary ? (*temporary / "demo.db").string() : options.db;
  allow_connections(options.server.limits.connections);
  refill_memory_reserve();
  std::set_new_handler(give_up_memory_reserve);
  std::signal(SIGPIPE, SIG_IGN);  // a pipe whose reader is gone is an error of the write
  options.service.log = say;
  options.server.log = options.service.log;
  if (!store::is_postgres(db)) rewrite_beside(db);
  const auto service = take(serving::Service::open(take(store::open_store(db)), options.service));
  const auto server = take(http::Server::start(*service, options.server));
  if (!server->is_local() && options.server.tokens.empty()) {
    say(
        fmt::format("{} can be reached from other machines and there are no tokens: anyone may "
                    "change the models; --tokens FILE says who may",
                    options.server.host));
  }
  const bool v6 = options.server.host.find(':') != std::string::npos;
  fmt::print("plackett serves {}://{}{}{}:{}\n", options.server.tls_cert.empty() ? "http" : "https",
             v6 ? "[" : "", options.server.host, v6 ? "]" : "", server->port());
  if (std::fflush(stdout) != 0) throw Exit(kFailure, "standard output: can't write");
  notify_supervisor("READY=1");
  std::string beyond_repair;
  while (!stop_requested()) {
    beyond_repair = service->beyond_repair();
    if (!beyond_repair.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    refill_memory_reserve();
    const auto asked = reload_signal.asked();
    if (asked == ReloadSignal::Asked::kStop) break;
    if (asked == ReloadSignal::Asked::kReload) reload(*server, !options.server.request_log.empty());
  }
  notify_supervisor("STOPPING=1");
  server->stop(kGrace);
  service->stop();
  // Who supervises it starts it again.
  if (!beyond_repair.empty()) throw Exit(kFailure, beyond_repair);
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "The learning service over HTTP, with dashboard and demo");
  CLI::Option* db = command->add_option(
      "--db", options->db, "the store: a file, created if it does not exist, or postgresql://...");
  add_options(*command, http::server_options(), options->server);
  add_options(*command, serving::service_options(), options->service);
  command->callback([options, db, command] {
    // An empty value is a variable that was not set: without --tokens anyone could do anything.
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& value : option->results()) {
        if (value.empty()) fail(Error{fmt::format("{}: the value is empty", option->get_name())});
      }
    }
    serve(*options, db->count() > 0);
  });
}

}  // namespace plackett::command
