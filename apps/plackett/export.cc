// plackett export: a service's impressions as CSV or JSON lines.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "command.h"
#include "evaluate_log.h"
#include "plackett/feature_view.h"
#include "report/text.h"
#include "serving/logged.h"
#include "serving/model.h"
#include "store/open.h"

namespace plackett::command {
namespace {

using serving::Impression;
using serving::LoggedImpression;
using serving::LoggedModel;

struct ExportOptions {
  std::string db;
  std::string model;
  std::string format = "csv";
  std::string out = "/dev/stdout";
  std::string from;
  bool candidates = false;
  bool features = false;
};

// "2026-11-18T09:30:00.125Z"
std::string utc(std::int64_t ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(ms)};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", seconds, (time - seconds).count());
}

// One row of the export. Of a candidate that was not shown, what is known of shown ones is absent.
struct Row {
  const LoggedModel& model;
  const LoggedImpression& logged;
  std::string_view experiment{};      // its name; empty if in none, or if that was deleted
  std::string_view item{};            // empty if it was removed
  std::optional<std::size_t> rank{};  // from 0
  float score = 0;
  std::optional<double> propensity{};
  const float* features = nullptr;  // null if they were not kept
};

// Calls field(name, value) for each column but features and context; values are texts, numbers,
// bools or empty optionals.
template <typename Field>
void each_field(const Row& row, const Field& field) {
  const serving::StoredImpression& kept = row.logged.kept;
  const auto at_rank = [&](const auto& values) {
    return row.rank ? std::optional(values[*row.rank] != std::byte{0}) : std::nullopt;
  };
  const auto text = [](std::string_view value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  field("model", text(row.model.row.name));
  field("impression", text(row.logged.name));
  field("time", text(utc(kept.shown_at)));
  field("version", std::optional(kept.version));
  field("arm", text(kept.in.arm.empty() ? name_of(kept.impression.mode) : kept.in.arm));
  field("experiment", text(row.experiment));
  field("unit", text(kept.unit));
  field("item", text(row.item));
  field("rank", row.rank ? std::optional(*row.rank + 1) : std::nullopt);
  field("score", std::optional(row.score));
  field("propensity", row.propensity);
  field("pinned", row.rank ? std::optional(kept.impression.shown[*row.rank].pinned) : std::nullopt);
  field("clicked", at_rank(row.logged.response.clicked));
  field("viewed", at_rank(row.logged.response.viewed));
  field("reward", row.rank ? std::optional(row.logged.rewards[*row.rank]) : std::nullopt);
  field("keep", std::optional(kept.impression.keep));
  field("kept", std::optional(kept.impression.kept));
}

std::vector<std::string> column_names(const serving::ModelSpec& spec) {
  if (!spec.feature_names.empty()) return spec.feature_names;
  std::vector<std::string> names;
  for (const std::uint32_t id : spec.feature_ids) names.push_back(fmt::format("feature_{}", id));
  return names;
}

// Data for programs: every byte stays as it is.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return '"' + report::replaced(std::string(text), "\"", "\"\"") + '"';
}

std::string csv_line(const Row& row, bool features) {
  std::string line;
  const auto add = [&](const auto& value) {
    if (!line.empty()) line += ',';
    if (!value) return;
    if constexpr (std::is_same_v<decltype(*value), const bool&>) {
      line += *value ? '1' : '0';
    } else if constexpr (std::is_arithmetic_v<std::decay_t<decltype(*value)>>) {
      line += fmt::format("{}", *value);
    } else {
      line += csv_field(*value);
    }
  };
  each_field(row, [&](const char*, const auto& value) { add(value); });
  const std::string& context = row.logged.kept.impression.context;
  add(context.empty() ? std::nullopt : std::optional(std::string_view(context)));
  for (std::uint32_t at = 0; features && at < row.model.spec.ranker.feature_count; ++at) {
    add(row.features != nullptr ? std::optional(row.features[at]) : std::nullopt);
  }
  return line + '\n';
}

std::string json_line(const Row& row, bool features) {
  nlohmann::ordered_json object;
  each_field(row, [&](const char* name, const auto& value) {
    object[name] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  });
  const std::string& context = row.logged.kept.impression.context;
  object["context"] = nlohmann::ordered_json::parse(context.empty() ? "null" : context, nullptr,
                                                    /*allow_exceptions=*/false);
  if (features) {
    auto& list = object["features"];
    if (row.features != nullptr) {
      list = std::vector<float>(row.features, row.features + row.model.spec.ranker.feature_count);
    }
  }
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

class Exporter {
 public:
  Exporter(const ExportOptions& options, serving::StoreReader& store, AtomicFile& out)
      : options_(options), out_(out) {
    for (auto& row : take(store.experiments())) experiments_[row.id] = std::move(row.name);
    // Deleted ones: "#12", as in the store's views.
    for (const auto& model : take(store.models())) {
      for (auto& row : take(store.retired_experiments(model.id))) {
        experiments_[row.id] = std::move(row.name);
      }
    }
  }

  void header(const LoggedModel& model) {
    std::string line;
    const LoggedImpression none;
    each_field({model, none}, [&](const char* name, const auto&) {
      line += line.empty() ? name : "," + std::string(name);
    });
    line += ",context";
    if (options_.features) {
      for (const std::string& name : column_names(model.spec)) {
        line += "," + csv_field(name);
      }
    }
    take(out_.append(line + '\n'));
  }

  Result<void> add(const LoggedModel& model, const LoggedImpression& logged) {
    const Impression& impression = logged.kept.impression;
    const std::size_t stride = padded_width(impression.feature_count);
    const auto propensities = impression.propensities();
    const auto experiment = experiments_.find(logged.kept.in.experiment);
    std::string_view name;
    if (experiment != experiments_.end()) name = experiment->second;
    // Rows of shown items: those that are not pinned come first.
    const std::size_t rows = impression.rows.size() / stride;
    std::size_t next[] = {0, impression.sampled_count()};
    for (std::size_t rank = 0; rank < impression.shown.size(); ++rank) {
      const serving::ShownItem& item = impression.shown[rank];
      const std::size_t at = next[item.pinned ? 1 : 0]++;
      if (auto done =
              write({.model = model,
                     .logged = logged,
                     .experiment = name,
                     .item = item.id,
                     .rank = rank,
                     .score = item.score,
                     .propensity = propensities[rank],
                     .features = at < rows ? impression.rows.data() + at * stride : nullptr});
          !done) {
        return done;
      }
    }
    for (std::size_t at = 0; options_.candidates && at < impression.others.size(); ++at) {
      const serving::OtherItem& item = impression.others[at];
      if (auto done = write({.model = model,
                             .logged = logged,
                             .experiment = name,
                             .item = item.id,
                             .score = item.score,
                             .features = impression.other_rows.data() + at * stride});
          !done) {
        return done;
      }
    }
    return {};
  }

 private:
  Result<void> write(const Row& row) {
    return out_.append(options_.format == "csv" ? csv_line(row, options_.features)
                                                : json_line(row, options_.features));
  }

  const ExportOptions& options_;
  AtomicFile& out_;
  std::map<std::int64_t, std::string> experiments_;  // names by id
};

// Where the next export is to start, for callers that export what is new.
void say_where_to_continue(const ExportOptions& options, const LoggedModel& model,
                           std::uint64_t from, const serving::Settled& settled) {
  if (from > model.row.next_number) {
    fmt::print(stderr,
               "{}: no list was ever shown with a number from {} on; is {} of another store?\n",
               model.row.name, serving::impression_name(model.row.next_number),
               serving::impression_name(from));
  }
  if (options.from.empty() && !settled.more) return;
  fmt::print(stderr, "{}: continue with --from {}{}\n", model.row.name,
             serving::impression_name(settled.end),
             settled.more ? "; the lists behind it wait for one that may still be on its way" : "");
}

void export_log(const ExportOptions& options) {
  const std::uint64_t from = first_impression(options.from);
  require_outputs({{"--out", options.out}}, {{"--db", options.db}});
  const auto store = take(store::read_store(options.db));
  auto found = serving::logged_models(*store, options.model);
  if (!found) fail(found.error().in(store::shown_name(options.db)));
  const std::vector<LoggedModel>& models = *found;
  if (options.features && options.format == "csv" && models.size() != 1) {
    fail(
        Error{fmt::format("{}: {} models, whose features differ; name one with --model, or use "
                          "--format jsonl",
                          store::shown_name(options.db), models.size())});
  }
  AtomicFile out = take(AtomicFile::create(options.out));
  Exporter exporter(options, *store, out);
  if (options.format == "csv") {
    exporter.header(models.empty() ? LoggedModel{} : models.front());
  }
  std::uint64_t damaged = 0;
  const auto rows =
      options.features || options.candidates ? serving::Rows::kRead : serving::Rows::kSkip;
  std::vector<serving::Settled> settled;
  for (const LoggedModel& model : models) {
    settled.push_back(take(serving::settled(*store, model.row.id, from, serving::system_ms())));
    damaged += take(serving::each_logged(
        *store, model, {.from = from, .to = settled.back().end, .rows = rows},
        [&](const LoggedImpression& logged) { return exporter.add(model, logged); }));
  }
  take(out.finish());
  for (std::size_t at = 0; at < models.size(); ++at) {
    say_where_to_continue(options, models[at], from, settled[at]);
  }
  if (damaged > 0) {
    throw Exit(kNegative,
               fmt::format("{} in {} can't be read and {} left out", counted(damaged, "impression"),
                           store::shown_name(options.db), damaged == 1 ? "is" : "are"));
  }
}

}  // namespace

void add_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command =
      app.add_subcommand("export", "Write a service's impressions, one row per shown item");
  command->add_option("--db", options->db, "the service's store")->required();
  command->add_option("--model", options->model, "only this model");
  command->add_option("--format", options->format, "csv or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  command->add_option("--out", options->out, "write to this file");
  command->add_option("--from", options->from,
                      "start with this impression, as in i-41, and say where to continue");
  command->add_flag("--candidates", options->candidates,
                    "a row for each candidate that was kept and not shown, too");
  command->add_flag("--features", options->features,
                    "the features that were kept, as the model saw them");
  command->callback([options] { export_log(*options); });
}

}  // namespace plackett::command
