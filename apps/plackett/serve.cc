// plackett serve: the learning service over HTTP.
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX's
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/memory_reserve.h"
#include "command.h"
#include "http/server.h"
#include "serving/service.h"
#include "stop_signal.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::command {
namespace {

constexpr std::chrono::seconds kGrace{10};
constexpr std::size_t kMemoryReserve = std::size_t{8} << 20;

struct ServeOptions {
  std::string db = "plackett.db";
  std::string tokens;
  std::string tls_cert;
  std::string tls_key;
  std::string max_body = "16M";
  std::string max_bodies = "256M";
  std::string keep_bytes = "0";
  std::uint64_t keep_days = 0;
  serving::ServiceOptions service;
  http::ServerOptions server;
};

// "1500", "64K", "500M", "20G": bytes, in powers of 1024.
std::uint64_t parse_bytes(const std::string& option, std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  constexpr std::string_view kUnits = "KMGT";
  unsigned shift = 0;
  if (error == std::errc() && stop + 1 == end) {
    const std::size_t unit = kUnits.find(*stop);
    if (unit != std::string_view::npos) shift = static_cast<unsigned>(10 * (unit + 1));
  }
  const bool sound = error == std::errc() && (stop == end || shift > 0) &&
                     number <= std::numeric_limits<std::uint64_t>::max() >> shift;
  if (!sound) {
    fail(Error{fmt::format("{} {}; expected bytes as 1500, 64K, 500M or 20G", option, text)});
  }
  return number << shift;
}

// A folder that is removed on destruction.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "plackett-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      fail(Error{fmt::format("{}: can't create", pattern)});
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void require_positive_seconds(const std::string& option, double seconds) {
  if (std::isfinite(seconds) && seconds > 0 && seconds <= 86'400) return;
  fail(Error{fmt::format("{} {}; expected seconds, above 0 and at most 86400", option, seconds)});
}

void check(ServeOptions& options) {
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    fail(Error{"--tls-cert and --tls-key go together"});
  }
  options.server.limits.body_bytes = parse_bytes("--max-body", options.max_body);
  options.server.limits.all_bodies_bytes = parse_bytes("--max-bodies", options.max_bodies);
  if (options.server.limits.all_bodies_bytes < options.server.limits.body_bytes) {
    fail(Error{fmt::format("--max-bodies {}; expected at least --max-body, {}", options.max_bodies,
                           options.max_body)});
  }
  constexpr std::uint64_t kLeastBody = 1024;
  if (options.server.limits.body_bytes < kLeastBody) {
    fail(Error{fmt::format("--max-body {}; expected at least 1K", options.max_body)});
  }
  options.service.keep_bytes = parse_bytes("--keep-bytes", options.keep_bytes);
  options.service.keep_seconds = options.keep_days * 24 * 3600;
  require_positive_seconds("--request-seconds", options.server.limits.request_seconds);
  require_positive_seconds("--idle-seconds", options.server.limits.idle_seconds);
  options.server.tokens = options.tokens;
  options.server.tls_cert = options.tls_cert;
  options.server.tls_key = options.tls_key;
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

void serve(ServeOptions options, bool db_given) {
  check(options);
  if (options.db.empty()) fail(Error{"--db: expected the name of a file"});
  StopSignal signal("stopped at once; everything that was answered is in the store");
  signal.begin_work();
  std::unique_ptr<TemporaryFolder> temporary;
  std::filesystem::path db = options.db;
  if (options.server.demo && !db_given) {
    temporary = std::make_unique<TemporaryFolder>();
    db = temporary->path() / "demo.db";
  }
  allow_connections(options.server.limits.connections);
  install_memory_reserve(kMemoryReserve);
  options.service.log = [](const std::string& line) { fmt::print(stderr, "plackett: {}\n", line); };
  const auto service =
      take(serving::Service::open(take(store::open_sqlite({.path = db})), options.service));
  const auto server = take(http::Server::start(*service, options.server));
  if (!server->is_local() && options.tokens.empty()) {
    fmt::print(stderr,
               "plackett: {} can be reached from other machines and there are no tokens: anyone "
               "may change the models; --tokens FILE says who may\n",
               options.server.host);
  }
  const bool v6 = options.server.host.find(':') != std::string::npos;
  fmt::print("plackett serves {}://{}{}{}:{}\n", options.tls_cert.empty() ? "http" : "https",
             v6 ? "[" : "", options.server.host, v6 ? "]" : "", server->port());
  if (std::fflush(stdout) != 0) throw Exit(kFailure, "standard output: can't write");
  while (!stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    refill_memory_reserve();
  }
  server->stop(kGrace);
  service->stop();
}

void add_limits(CLI::App& command, ServeOptions& options) {
  constexpr std::uint64_t kMost = 1'000'000;
  http::Limits& limits = options.server.limits;
  command.add_option("--max-body", options.max_body, "largest body of a request (64K, 16M, 1G)");
  command.add_option("--max-bodies", options.max_bodies,
                     "most memory for the bodies of all requests (256M, 1G)");
  command.add_option("--max-items", limits.items, "most items per rank request")
      ->check(integer(1, kMost));
  command.add_option("--max-connections", limits.connections, "most simultaneous connections")
      ->check(integer(1, kMost));
  command.add_option("--request-seconds", limits.request_seconds,
                     "time in which a request must arrive");
  command.add_option("--idle-seconds", limits.idle_seconds,
                     "time that a connection may be idle between requests");
}

void add_store(CLI::App& command, ServeOptions& options) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  command.add_option("--queue", options.service.queue_limit, "most requests waiting for the store")
      ->check(integer(1, kMost));
  command
      .add_option("--snapshot-every", options.service.snapshot_every,
                  "log entries between automatic snapshots")
      ->check(integer(1, kMost));
  command
      .add_option("--keep-days", options.keep_days,
                  "drop impressions older than this many days; 0: keep all")
      ->check(integer(0, 36'500));
  command.add_option("--keep-bytes", options.keep_bytes,
                     "drop the oldest impressions above this many bytes (500M, 20G); 0: keep all");
}

}  // namespace

void add_serve(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "The learning service over HTTP, with dashboard and demo");
  CLI::Option* db =
      command->add_option("--db", options->db, "the store, one file; created if it does not exist");
  command->add_option("--host", options->server.host, "address to listen on; 0.0.0.0: all");
  command
      ->add_option("--allow-host", options->server.allow_hosts,
                   "a name that Host may have besides localhost, 127.x.x.x and [::1], if there are "
                   "no tokens on loopback: a proxy's; may be repeated")
      ->type_name("NAME")
      ->default_str("")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--port", options->server.port, "0: a free one")->check(integer(0, 65'535));
  command
      ->add_option("--threads", options->server.threads,
                   "that answer requests; 0: one per core, at least 2")
      ->check(integer(0, 1024));
  command->add_option(
      "--tokens", options->tokens,
      "file of lines ROLE TOKEN (read, feedback or admin); without it everything is allowed");
  command->add_option("--tls-cert", options->tls_cert, "certificate chain, PEM: serves https");
  command->add_option("--tls-key", options->tls_key, "its private key, PEM");
  add_limits(*command, *options);
  add_store(*command, *options);
  command->add_flag("--demo", options->server.demo,
                    "also serve /demo; without --db its store is temporary");
  command->callback([options, db] { serve(*options, db->count() > 0); });
}

}  // namespace plackett::command
