// plackett migrate: a service's store from SQLite to PostgreSQL, or back.
#include "store/migrate.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command.h"
#include "progress.h"
#include "stop_signal.h"
#include "store/open.h"

namespace plackett::command {
namespace {

struct MigrateCommand {
  std::string from;
  std::string to;
  bool json = false;
};

void migrate(const MigrateCommand& options) {
  StopSignal signal("stopped at once; nothing was kept");
  signal.begin_work();
  const auto start = Clock::now();
  const store::Migrated made = [&] {
    const StatusLine line;
    auto next = start;
    const auto show = [&](std::string_view table, std::uint64_t done, std::uint64_t total) {
      if (Clock::now() < next) return;
      next = Clock::now() + std::chrono::milliseconds(100);
      const double seconds = seconds_since(start);
      const double left =
          done == 0 ? 0 : seconds * (static_cast<double>(total) / static_cast<double>(done) - 1);
      line.show(fmt::format("{}, {} {:.0f} s left", counted(done, "row"), table, left));
    };
    return take(store::migrate({.from = options.from,
                                .to = options.to,
                                .progress = show,
                                .stop_requested = stop_requested}));
  }();
  const double seconds = seconds_since(start);
  const std::string to = store::shown_name(options.to);
  if (options.json) {
    return print_json({{"to", to},
                       {"models", made.models},
                       {"impressions", made.impressions},
                       {"rows", made.rows},
                       {"seconds", seconds}});
  }
  fmt::print("{}: {}, {}, {} in {:.1f} s\n", to, counted(made.models, "model"),
             counted(made.impressions, "impression"), counted(made.rows, "row"), seconds);
}

}  // namespace

void add_migrate(CLI::App& app) {
  auto options = std::make_shared<MigrateCommand>();
  CLI::App* command = app.add_subcommand(
      "migrate", "Copy a service's store from SQLite to PostgreSQL, or back, with all ids");
  command->add_option("--from", options->from, "the store, which must not be served")->required();
  command->add_option("--to", options->to, "a new file, or postgresql://... of an empty database")
      ->required();
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { migrate(*options); });
}

}  // namespace plackett::command
