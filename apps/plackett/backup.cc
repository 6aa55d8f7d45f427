// plackett backup: a copy of a store that is being served.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "stop_signal.h"
#include "store/open.h"
#include "store/sqlite/backup.h"

namespace plackett::command {
namespace {

struct BackupCommand {
  std::string db;
  std::string to;
  bool force = false;
  bool json = false;
};

void back_up(const BackupCommand& options) {
  take(store::check_name(options.db));
  if (store::is_postgres(options.db)) {
    fail(Error{fmt::format("{}: PostgreSQL copies its databases itself; use pg_dump",
                           store::shown_name(options.db))});
  }
  rewrite_beside(options.to);
  StopSignal signal("stopped at once; the temporary file beside the copy can be removed");
  signal.begin_work();
  const auto start = Clock::now();
  const store::Backup made = take(store::back_up_sqlite({.from = options.db,
                                                         .to = options.to,
                                                         .replace = options.force,
                                                         .stop_requested = stop_requested}));
  const double seconds = seconds_since(start);
  if (options.json) {
    return print_json({{"to", options.to},
                       {"bytes", made.bytes},
                       {"models", made.models},
                       {"impressions", made.impressions},
                       {"seconds", seconds}});
  }
  fmt::print("{}: {}, {}, {:.1f} MB in {:.1f} s\n", options.to, counted(made.models, "model"),
             counted(made.impressions, "impression"), static_cast<double>(made.bytes) / 1e6,
             seconds);
}

}  // namespace

void add_backup(CLI::App& app) {
  auto options = std::make_shared<BackupCommand>();
  CLI::App* command =
      app.add_subcommand("backup", "Copy a service's store, which may be served meanwhile");
  command->add_option("--db", options->db, "the service's store")->required();
  command->add_option("--to", options->to, "the copy, a new file")->required();
  command->add_flag("--force", options->force, "replace the file if it exists");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { back_up(*options); });
}

}  // namespace plackett::command
