#include "store/reader.h"

#include <fmt/format.h>

#include "store/schema.h"

namespace plackett::store {
namespace {

std::vector<std::byte> copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

Result<std::vector<std::int64_t>> first_column(Statement& rows) {
  std::vector<std::int64_t> values;
  for (;;) {
    auto row = rows.step();
    if (!row) return row.error();
    if (!*row) return values;
    values.push_back(rows.whole(0));
  }
}

SnapshotRow snapshot_of(const Statement& row) {
  SnapshotRow snapshot;
  snapshot.id = row.whole(0);
  snapshot.model = row.whole(1);
  snapshot.log = row.whole(2);
  snapshot.created_at = row.whole(3);
  snapshot.kind = static_cast<SnapshotKind>(row.whole(4));
  snapshot.note = row.text(5);
  snapshot.version = static_cast<std::uint64_t>(row.whole(6));
  snapshot.updates = static_cast<std::uint64_t>(row.whole(7));
  snapshot.learned = static_cast<std::uint64_t>(row.whole(8));
  snapshot.learning = row.whole(9) != 0;
  snapshot.frozen_because = row.text(10);
  return snapshot;
}

constexpr std::string_view kSnapshotColumns =
    "id, model, log, created_at, kind, note, version, updates, learned, learning, frozen_because";

SeriesRow series_of(const Statement& row) {
  SeriesRow sums;
  sums.at = row.whole(0);
  sums.impressions = static_cast<std::uint64_t>(row.whole(1));
  sums.clicked = static_cast<std::uint64_t>(row.whole(2));
  sums.clicks = static_cast<std::uint64_t>(row.whole(3));
  sums.reciprocal_ranks = row.real(4);
  sums.entropies = row.real(5);
  sums.updates = static_cast<std::uint64_t>(row.whole(6));
  sums.update_norms = row.real(7);
  return sums;
}

constexpr std::string_view kSeriesSums =
    "sum(impressions), sum(clicked), sum(clicks), total(reciprocal_ranks), total(entropies), "
    "sum(updates), total(update_norms)";

}  // namespace

Result<Reader> Reader::open(const std::filesystem::path& path, const std::string& vfs) {
  auto database = Database::open(path, Database::Access::kRead, vfs);
  if (!database) return database.error();
  if (auto sound = check_schema(*database); !sound) return sound.error();
  return over(std::make_shared<Database>(std::move(database).value()));
}

Result<Reader> Reader::over(std::shared_ptr<Database> database) {
  Reader reader;
  reader.database_ = std::move(database);
  const std::pair<Statement*, std::string_view> statements[] = {
      {&reader.impression_,
       "SELECT id, shown_at, version, given, data FROM impressions WHERE id = ?"},
      {&reader.given_, "SELECT impression FROM given_ids WHERE model = ? AND given = ?"},
      {&reader.response_, "SELECT clicked, viewed, closed FROM responses WHERE impression = ?"},
      {&reader.event_,
       "SELECT 1 FROM events WHERE impression >> 40 = ? AND event_id = ? AND event_id IS NOT NULL"},
      {&reader.shown_from_,
       "SELECT id, shown_at FROM impressions WHERE id >= ? AND id < ? ORDER BY id LIMIT 1"},
  };
  for (const auto& [statement, sql] : statements) {
    auto made = reader.database_->prepare(sql);
    if (!made) return made.error();
    *statement = std::move(made).value();
  }
  return reader;
}

Result<std::vector<ModelRow>> Reader::models() {
  auto rows = database_->prepare(
      "SELECT id, name, created_at, spec, next_number, expired, dropped_log FROM models "
      "ORDER BY id");
  if (!rows) return rows.error();
  std::vector<ModelRow> models;
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return models;
    ModelRow model;
    model.id = rows->whole(0);
    model.name = rows->text(1);
    model.created_at = rows->whole(2);
    model.spec = rows->text(3);
    model.next_number = static_cast<std::uint64_t>(rows->whole(4));
    model.expired = static_cast<std::uint64_t>(rows->whole(5));
    model.dropped_log = rows->whole(6);
    models.push_back(std::move(model));
  }
}

Result<void> Reader::items(
    std::int64_t model,
    const std::function<Result<void>(std::string_view, std::span<const std::byte>)>& each) {
  auto rows = database_->prepare("SELECT id, features FROM items WHERE model = ?");
  if (!rows) return rows.error();
  rows->bind(model);
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return {};
    if (auto taken = each(rows->text(0), rows->blob(1)); !taken) return taken.error();
  }
}

Result<std::optional<KeptImpression>> Reader::impression(std::int64_t id, Rows rows) {
  auto row = impression_.bind(id).step();
  if (!row) return row.error();
  if (!*row) return std::optional<KeptImpression>();
  KeptImpression kept;
  kept.id = impression_.whole(0);
  kept.shown_at = impression_.whole(1);
  kept.version = static_cast<std::uint64_t>(impression_.whole(2));
  kept.given = impression_.text(3);
  auto unpacked = unpack(impression_.blob(4), rows);
  impression_.reset();
  if (!unpacked) return std::optional<KeptImpression>();
  kept.impression = std::move(unpacked).value();
  return std::optional(std::move(kept));
}

Result<std::optional<std::int64_t>> Reader::given_id(std::int64_t model, std::string_view given) {
  auto row = given_.bind(model).bind(given).step();
  if (!row) return row.error();
  if (!*row) return std::optional<std::int64_t>();
  const std::int64_t id = given_.whole(0);
  given_.reset();
  return std::optional(id);
}

Result<std::optional<ResponseRow>> Reader::response(std::int64_t impression) {
  auto row = response_.bind(impression).step();
  if (!row) return row.error();
  if (!*row) return std::optional<ResponseRow>();
  ResponseRow response{copy(response_.blob(0)), copy(response_.blob(1)),
                       static_cast<Closed>(response_.whole(2))};
  response_.reset();
  return std::optional(std::move(response));
}

Result<std::vector<std::int64_t>> Reader::recent(std::int64_t model, std::uint32_t limit,
                                                 bool clicked_only) {
  auto rows = database_->prepare(
      clicked_only
          ? "SELECT impression FROM (SELECT impression, clicked FROM responses WHERE "
            "impression >= ? AND impression < ? ORDER BY impression DESC LIMIT 5000) "
            "WHERE instr(clicked, x'01') > 0 ORDER BY impression DESC LIMIT ?"
          : "SELECT id FROM impressions WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?");
  if (!rows) return rows.error();
  rows->bind(ImpressionKey{model, 0}.id())
      .bind(ImpressionKey{model + 1, 0}.id())
      .bind(std::int64_t{limit});
  return first_column(*rows);
}

Result<std::uint64_t> Reader::closed_within(std::int64_t model, std::uint64_t from,
                                            std::uint64_t to) {
  auto rows = database_->prepare(
      "SELECT count(*) FROM responses WHERE impression >= ? AND impression < ? AND closed <> 0");
  if (!rows) return rows.error();
  rows->bind(ImpressionKey{model, from}.id()).bind(ImpressionKey{model, to}.id());
  auto row = rows->step();
  if (!row) return row.error();
  return static_cast<std::uint64_t>(rows->whole(0));
}

Result<std::optional<std::pair<std::uint64_t, std::int64_t>>> Reader::shown_from(
    std::int64_t model, std::uint64_t number) {
  using Found = std::optional<std::pair<std::uint64_t, std::int64_t>>;
  auto row = shown_from_.bind(ImpressionKey{model, number}.id())
                 .bind(ImpressionKey{model + 1, 0}.id())
                 .step();
  if (!row) return row.error();
  if (!*row) return Found();
  const Found found({ImpressionKey::of(shown_from_.whole(0)).number, shown_from_.whole(1)});
  shown_from_.reset();
  return found;
}

Result<std::vector<std::int64_t>> Reader::waiting(std::int64_t model, std::uint64_t end,
                                                  std::uint32_t limit) {
  auto rows = database_->prepare(
      "SELECT impression FROM responses INDEXED BY waiting WHERE closed = 0 AND impression >= ? "
      "AND impression < ? ORDER BY impression LIMIT ?");
  if (!rows) return rows.error();
  rows->bind(ImpressionKey{model, 0}.id())
      .bind(ImpressionKey{model, end}.id())
      .bind(std::int64_t{limit});
  return first_column(*rows);
}

Result<bool> Reader::event_seen(std::int64_t model, std::string_view event_id) {
  auto row = event_.bind(model).bind(event_id).step();
  if (!row) return row.error();
  const bool seen = *row;
  event_.reset();
  return seen;
}

Result<std::uint64_t> Reader::numbers_end(std::int64_t model) {
  auto newest = recent(model, 1, false);
  if (!newest) return newest.error();
  if (newest->empty()) return std::uint64_t{0};
  return ImpressionKey::of(newest->front()).number + 1;
}

Result<std::vector<LogEntry>> Reader::log(std::int64_t model, std::int64_t after,
                                          std::uint32_t limit) {
  auto rows = database_->prepare(
      "SELECT seq, model, kind, argument FROM log WHERE model = ? AND seq > ? ORDER BY seq "
      "LIMIT ?");
  if (!rows) return rows.error();
  rows->bind(model).bind(after).bind(std::int64_t{limit});
  std::vector<LogEntry> entries;
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return entries;
    entries.push_back(
        {rows->whole(0), rows->whole(1), static_cast<LogKind>(rows->whole(2)), rows->whole(3)});
  }
}

Result<std::int64_t> Reader::last_log() {
  auto rows = database_->prepare(
      "SELECT max(coalesce((SELECT max(seq) FROM log), 0), "
      "coalesce((SELECT max(log) FROM snapshots), 0), "
      "coalesce((SELECT max(dropped_log) FROM models), 0))");
  if (!rows) return rows.error();
  auto row = rows->step();
  if (!row) return row.error();
  return rows->whole(0);
}

Result<std::int64_t> Reader::last_log_of(std::int64_t model, std::uint64_t from, std::uint64_t to) {
  auto rows = database_->prepare(
      "SELECT coalesce(max(seq), 0) FROM log INDEXED BY log_about WHERE argument >= ? AND "
      "argument < ? AND kind IN (1, 2)");
  if (!rows) return rows.error();
  auto row = rows->bind(ImpressionKey{model, from}.id()).bind(ImpressionKey{model, to}.id()).step();
  if (!row) return row.error();
  return rows->whole(0);
}

Result<std::optional<std::int64_t>> Reader::base_snapshot(std::int64_t model, std::int64_t seq) {
  auto rows = database_->prepare(
      fmt::format("SELECT min(log) FROM snapshots WHERE model = ? AND log >= ? AND kind <> {}",
                  static_cast<int>(SnapshotKind::kImported)));
  if (!rows) return rows.error();
  auto row = rows->bind(model).bind(seq).step();
  if (!row) return row.error();
  if (rows->is_null(0)) return std::optional<std::int64_t>();
  return std::optional(rows->whole(0));
}

Result<std::vector<std::int64_t>> Reader::removed_models() {
  // Ids are counted up, and few.
  auto rows = database_->prepare(
      "WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < "
      "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'models')) "
      "SELECT id FROM ids WHERE id NOT IN (SELECT id FROM models) AND ("
      "EXISTS(SELECT 1 FROM impressions WHERE impressions.id >= ids.id << 40 "
      "AND impressions.id < (ids.id + 1) << 40) OR "
      "EXISTS(SELECT 1 FROM responses WHERE impression >= ids.id << 40 "
      "AND impression < (ids.id + 1) << 40) OR "
      "EXISTS(SELECT 1 FROM log WHERE model = ids.id) OR "
      "EXISTS(SELECT 1 FROM items WHERE model = ids.id) OR "
      "EXISTS(SELECT 1 FROM series WHERE model = ids.id) OR "
      "EXISTS(SELECT 1 FROM snapshots WHERE model = ids.id))");
  if (!rows) return rows.error();
  return first_column(*rows);
}

Result<std::vector<SnapshotRow>> Reader::snapshots(std::int64_t model) {
  auto rows = database_->prepare(
      fmt::format("SELECT {} FROM snapshots WHERE model = ? ORDER BY id DESC", kSnapshotColumns));
  if (!rows) return rows.error();
  rows->bind(model);
  std::vector<SnapshotRow> snapshots;
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return snapshots;
    snapshots.push_back(snapshot_of(*rows));
  }
}

Result<std::optional<SnapshotRow>> Reader::snapshot(std::int64_t id) {
  auto rows = database_->prepare(
      fmt::format("SELECT {}, file FROM snapshots WHERE id = ?", kSnapshotColumns));
  if (!rows) return rows.error();
  auto row = rows->bind(id).step();
  if (!row) return row.error();
  if (!*row) return std::optional<SnapshotRow>();
  SnapshotRow snapshot = snapshot_of(*rows);
  snapshot.file = copy(rows->blob(11));
  return std::optional(std::move(snapshot));
}

Result<bool> Reader::is_rolled_back_to(std::int64_t snapshot) {
  auto rows = database_->prepare(
      "SELECT 1 FROM log INDEXED BY log_rollbacks WHERE argument = ? AND kind = 3 LIMIT 1");
  if (!rows) return rows.error();
  return rows->bind(snapshot).step();
}

Result<std::vector<SeriesRow>> Reader::series(std::int64_t model, std::int64_t from,
                                              std::int64_t step_ms) {
  auto rows = database_->prepare(
      fmt::format("SELECT at / ?1 * ?1 AS start, {} FROM series WHERE model = ?2 AND at >= ?3 "
                  "GROUP BY start ORDER BY start",
                  kSeriesSums));
  if (!rows) return rows.error();
  rows->bind(step_ms).bind(model).bind(from);
  std::vector<SeriesRow> points;
  for (;;) {
    auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return points;
    points.push_back(series_of(*rows));
  }
}

Result<SeriesRow> Reader::series_total(std::int64_t model, std::int64_t from, std::int64_t before) {
  auto rows = database_->prepare(fmt::format(
      "SELECT coalesce(min(at), 0), {} FROM series WHERE model = ? AND at >= ? AND at < ?",
      kSeriesSums));
  if (!rows) return rows.error();
  auto row = rows->bind(model).bind(from).bind(before).step();
  if (!row) return row.error();
  return series_of(*rows);
}

}  // namespace plackett::store
