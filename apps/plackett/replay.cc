// plackett replay: rebuilds models from a service's log.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "command.h"
#include "serving/recover.h"
#include "serving/spec_json.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::command {
namespace {

struct ReplayOptions {
  std::string db;
  std::optional<std::string> model;
  std::optional<std::string> save_model;
  bool json = false;
};

struct Replayed {
  serving::ModelRow row;
  serving::ReplayReport report;
  std::shared_ptr<const serving::Version> version;
  std::vector<std::byte> file;
};

Replayed replay_model(const serving::ModelRow& row, serving::StoreReader& store) {
  Replayed replayed;
  replayed.row = row;
  const serving::ModelSpec spec = take(serving::parse_spec(row.spec));
  const serving::Trainer trainer = take(serving::replay(spec, row, store, replayed.report));
  replayed.version = trainer.version();
  replayed.file = serialise_model(trainer.saved());
  return replayed;
}

void print(const Replayed& replayed) {
  const serving::ReplayReport& report = replayed.report;
  fmt::print("{}: {} log entries {}, {} updates, model file {:016x}\n", replayed.row.name,
             report.entries, report.from_snapshot ? "after a snapshot" : "from the beginning",
             replayed.version->learner.updates, checksum(replayed.file));
  fmt::print("  {} of {} snapshots on the way are identical\n", report.compared - report.different,
             report.compared);
  for (const std::string& missing : report.missing) fmt::print("  missing: {}\n", missing);
  if (!replayed.version->learning) fmt::print("  frozen: {}\n", replayed.version->frozen_because);
}

nlohmann::ordered_json to_json(const Replayed& replayed) {
  return {{"model", replayed.row.name},
          {"entries", replayed.report.entries},
          {"from_snapshot", replayed.report.from_snapshot},
          {"version", replayed.version->number},
          {"updates", replayed.version->learner.updates},
          {"learned", replayed.version->learned},
          {"snapshots_compared", replayed.report.compared},
          {"snapshots_different", replayed.report.different},
          {"missing", replayed.report.missing},
          {"file_checksum", fmt::format("{:016x}", checksum(replayed.file))}};
}

void replay(const ReplayOptions& options) {
  const auto store = take(store::read_sqlite(options.db));
  std::vector<serving::ModelRow> rows = take(store->models());
  if (options.model) {
    std::erase_if(rows, [&](const serving::ModelRow& row) { return row.name != *options.model; });
    if (rows.empty()) fail(Error{fmt::format("{}: no model \"{}\"", options.db, *options.model)});
  }
  if (options.save_model) {
    if (rows.size() != 1) {
      fail(Error{
          fmt::format("{}: {} models; name one with --model to save it", options.db, rows.size())});
    }
    require_writable_file(*options.save_model);
  }
  bool same = true;
  bool whole = true;
  for (const serving::ModelRow& row : rows) {
    const Replayed replayed = replay_model(row, *store);
    same = same && replayed.report.different == 0;
    whole = whole && replayed.report.missing.empty();
    if (options.json) {
      print_json(to_json(replayed));
    } else {
      print(replayed);
    }
    if (options.save_model) {
      take(write_file(*options.save_model,
                      {reinterpret_cast<const char*>(replayed.file.data()), replayed.file.size()}));
    }
  }
  if (!whole) throw Exit(kNegative, "the store does not have all that the log needs");
  if (!same) throw Exit(kNegative, "a snapshot differs from what the log gives");
}

}  // namespace

void add_replay(CLI::App& app) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command =
      app.add_subcommand("replay", "Rebuild a service's models from its log, bit by bit");
  command->add_option("--db", options->db, "the service's store")->required();
  command->add_option("--model", options->model, "only this model");
  command->add_option("--save-model", options->save_model, "write the model to this file");
  command->add_flag("--json", options->json, "print one JSON object per model");
  command->callback([options] { replay(*options); });
}

}  // namespace plackett::command
