// plackett replay: rebuilds models from a service's log.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/hash.h"
#include "command.h"
#include "plackett/model_file.h"
#include "serving/model_spec.h"
#include "serving/recover.h"
#include "store/open.h"

namespace plackett::command {
namespace {

struct ReplayOptions {
  std::string db;
  std::optional<std::string> model;
  std::optional<std::string> save_model;
  bool json = false;
};

void print(const std::string& name, const serving::ReplayReport& report,
           const serving::Version& version, std::uint64_t file_checksum, bool json) {
  if (json) {
    return print_json({{"model", name},
                       {"entries", report.entries},
                       {"from_snapshot", report.from_snapshot},
                       {"version", version.number},
                       {"updates", version.learner.updates},
                       {"learned", version.learned},
                       {"serves", serving::name_of(version.serves)},
                       {"snapshots_compared", report.compared},
                       {"snapshots_different", report.different},
                       {"missing", report.missing},
                       {"file_checksum", fmt::format("{:016x}", file_checksum)}});
  }
  fmt::print("{}: {} log entries {}, {} updates, model file {:016x}\n", name, report.entries,
             report.from_snapshot ? "after a snapshot" : "from the beginning",
             version.learner.updates, file_checksum);
  fmt::print("  {} of {} snapshots on the way are identical\n", report.compared - report.different,
             report.compared);
  for (const std::string& missing : report.missing) fmt::print("  missing: {}\n", missing);
  fmt::print("  serves: {}\n", serving::name_of(version.serves));
  if (!version.learning) fmt::print("  frozen: {}\n", version.frozen_because);
}

void replay(const ReplayOptions& options) {
  const auto store = take(store::read_store(options.db));
  std::vector<serving::ModelRow> rows = take(store->models());
  if (options.model) {
    std::erase_if(rows, [&](const serving::ModelRow& row) { return row.name != *options.model; });
    if (rows.empty())
      fail(
          Error{fmt::format("{}: no model \"{}\"", store::shown_name(options.db), *options.model)});
  }
  if (options.save_model) {
    if (rows.size() != 1) {
      fail(Error{fmt::format("{}: {} models; name one with --model to save it",
                             store::shown_name(options.db), rows.size())});
    }
    require_outputs({{"--save-model", *options.save_model}}, {{"--db", options.db}});
  }
  bool same = true;
  bool whole = true;
  for (const serving::ModelRow& row : rows) {
    serving::ReplayReport report;
    const serving::Trainer trainer =
        take(serving::replay(take(serving::parse_spec(row.spec)), row, *store, report));
    const SavedModel model = trainer.saved();
    print(row.name, report, *trainer.version(), checksum(serialise_model(model)), options.json);
    same = same && report.different == 0;
    whole = whole && report.missing.empty();
    if (options.save_model) take(save_model(model, *options.save_model));
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
