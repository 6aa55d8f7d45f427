#include "store/sqlite/reader.h"

#include "store/rows.h"

namespace plackett::store {

using namespace serving;  // whose interface this implements

namespace {

#define SERIES_SUMS                                                                          \
  "sum(impressions), sum(clicked), sum(clicks), total(reciprocal_ranks), total(entropies), " \
  "sum(updates), total(update_norms)"

class SqliteReader : public StoreReader {
 public:
  explicit SqliteReader(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<std::vector<ModelRow>> models() override {
    return database_->all(
        "SELECT id, name, created_at, spec, next_number, expired, dropped_log FROM models ORDER BY "
        "id",
        model_row<Statement>);
  }
  Result<std::optional<ModelRow>> model(std::int64_t id) override {
    return database_->first(
        "SELECT id, name, created_at, spec, next_number, expired, dropped_log FROM models WHERE id "
        "= ?",
        model_row<Statement>, id);
  }
  Result<std::vector<std::int64_t>> deleted_models() override {
    // Ids count up, and there are few of them.
    return database_->all(
        "WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < "
        "(SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'models')) "
        "SELECT id FROM ids WHERE id NOT IN (SELECT id FROM models) AND ("
        "EXISTS(SELECT 1 FROM impressions WHERE impressions.id >= ids.id << 40 "
        "AND impressions.id < (ids.id + 1) << 40) OR "
        "EXISTS(SELECT 1 FROM responses WHERE impression >= ids.id << 40 "
        "AND impression < (ids.id + 1) << 40) OR "
        "EXISTS(SELECT 1 FROM log WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM items WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM item_versions WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM series WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM experiments WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM snapshots WHERE model = ids.id))",
        first_column<Statement>);
  }
  Result<void> items(std::int64_t model, const EachItem& each) override {
    return database_->each(
        "SELECT items.id, version, features FROM items JOIN item_versions USING(version) WHERE "
        "items.model = ?",
        [&each](const Statement& row) { take(each(row.text(0), row.integer(1), row.blob(2))); },
        model);
  }
  Result<std::optional<ItemVersion>> item_version(std::int64_t version) override {
    return database_->first("SELECT id, features FROM item_versions WHERE version = ?",
                            item_version_row<Statement>, version);
  }
  Result<std::vector<std::int64_t>> versions_of(std::int64_t model,
                                                std::span<const std::string> ids) override {
    return attempt([&] {
      std::vector<std::int64_t> versions;
      for (const std::string& id : ids) {
        versions.push_back(take(
            database_->integer("SELECT version FROM items WHERE model = ? AND id = ?", model, id)));
      }
      return versions;
    });
  }

  Result<std::optional<ImpressionRow>> impression(std::int64_t id) override {
    return database_->first("SELECT " PLACKETT_IMPRESSION_COLUMNS " FROM impressions WHERE id = ?",
                            impression_row<Statement>, id);
  }
  Result<std::optional<std::int64_t>> given_id(std::int64_t model,
                                               std::string_view given) override {
    return database_->first("SELECT impression FROM given_ids WHERE model = ? AND given = ?",
                            first_column<Statement>, model, given);
  }
  Result<std::vector<std::int64_t>> recent(std::int64_t model, std::uint32_t limit,
                                           bool clicked_only) override {
    return database_->all(
        clicked_only
            ? "SELECT impression FROM (SELECT impression, clicked FROM responses WHERE "
              "impression >= ? AND impression < ? ORDER BY impression DESC LIMIT 5000) "
              "WHERE instr(clicked, x'01') > 0 ORDER BY impression DESC LIMIT ?"
            : "SELECT id FROM impressions WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?",
        first_column<Statement>, id_of(model, 0), id_of(model + 1, 0), limit);
  }
  Result<std::vector<std::int64_t>> from(std::int64_t model, std::uint64_t number,
                                         std::uint32_t limit) override {
    return database_->all("SELECT id FROM impressions WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
                          first_column<Statement>, id_of(model, number), id_of(model + 1, 0),
                          limit);
  }
  Result<std::vector<std::int64_t>> of_unit(std::int64_t model, std::string_view unit,
                                            std::uint64_t number, std::uint32_t limit) override {
    return database_->all(
        "SELECT id FROM impressions WHERE id >> 40 = ? AND unit = ? AND unit IS NOT NULL AND id >= "
        "? ORDER BY id LIMIT ?",
        first_column<Statement>, model, unit, id_of(model, number), limit);
  }
  Result<bool> has_candidates(std::int64_t model) override {
    return database_->integer<bool>(
        "SELECT EXISTS(SELECT 1 FROM impressions WHERE kept = 1 AND id >= ? AND id < ?)",
        id_of(model, 0), id_of(model + 1, 0));
  }
  Result<std::optional<StoreReader::Shown>> shown_from(std::int64_t model,
                                                       std::uint64_t number) override {
    return database_->first(
        "SELECT id, shown_at FROM impressions WHERE id >= ? AND id < ? ORDER BY id LIMIT 1",
        shown<Statement>, id_of(model, number), id_of(model + 1, 0));
  }
  Result<std::optional<StoreReader::Shown>> shown_before(std::int64_t model,
                                                         std::uint64_t number) override {
    return database_->first(
        "SELECT id, shown_at FROM impressions WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1",
        shown<Statement>, id_of(model, 0),
        number < ImpressionKey::kNumbers ? id_of(model, number) : id_of(model + 1, 0));
  }
  Result<std::optional<std::uint64_t>> newest_shown(std::int64_t model, std::int64_t time,
                                                    std::uint64_t count) override {
    return database_->first(
        "SELECT id FROM impressions WHERE id >= ? AND id < ? AND shown_at <= ? ORDER BY id DESC "
        "LIMIT 1 OFFSET ? - 1",
        [](const Statement& row) { return ImpressionKey::of(row.integer(0)).number; },
        id_of(model, 0), id_of(model + 1, 0), time, count);
  }

  Result<std::optional<ResponseRow>> response(std::int64_t impression) override {
    return database_->first("SELECT clicked, viewed, closed FROM responses WHERE impression = ?",
                            response_row<Statement>, impression);
  }
  Result<std::uint64_t> closed_count(std::int64_t model, std::uint64_t from,
                                     std::uint64_t to) override {
    return database_->integer<std::uint64_t>(
        "SELECT count(*) FROM responses WHERE impression >= ? AND impression < ? AND closed <> 0",
        id_of(model, from), id_of(model, to));
  }
  Result<std::optional<std::uint64_t>> first_open(std::int64_t model, std::uint64_t from,
                                                  std::uint64_t to, std::int64_t time) override {
    return database_->first(
        "SELECT id FROM impressions WHERE id >= ? AND id < ? AND shown_at > ? AND NOT EXISTS "
        "(SELECT 1 FROM responses WHERE impression = id AND closed <> 0) ORDER BY id LIMIT 1",
        [](const Statement& row) { return ImpressionKey::of(row.integer(0)).number; },
        id_of(model, from), id_of(model, to), time);
  }
  Result<std::vector<std::int64_t>> waiting(std::int64_t model, std::uint64_t end,
                                            std::uint32_t limit) override {
    return database_->all(
        "SELECT impression FROM responses INDEXED BY waiting WHERE closed = 0 AND impression >= ? "
        "AND impression < ? ORDER BY impression LIMIT ?",
        first_column<Statement>, id_of(model, 0), id_of(model, end), limit);
  }
  Result<std::vector<std::int64_t>> waiting_since(std::int64_t model, std::int64_t time,
                                                  std::uint32_t limit) override {
    return database_->all(
        "SELECT impression FROM responses JOIN impressions ON id = impression WHERE closed = 0 AND "
        "impression >= ? AND impression < ? AND shown_at <= ? ORDER BY shown_at, id LIMIT ?",
        first_column<Statement>, id_of(model, 0), id_of(model + 1, 0), time, limit);
  }
  Result<bool> event_seen(std::int64_t model, std::string_view event_id) override {
    return database_->integer<bool>(
        "SELECT 1 FROM events WHERE impression >> 40 = ? AND event_id = ? AND event_id IS NOT NULL",
        model, event_id);
  }

  Result<std::vector<NamedEvent>> named_events(std::int64_t impression) override {
    return database_->all(
        "SELECT rank, name FROM events WHERE impression = ? AND kind = 3 ORDER BY id",
        named_event<Statement>, impression);
  }

  Result<std::vector<LogEntry>> log(std::int64_t model, std::int64_t after,
                                    std::uint32_t limit) override {
    return database_->all(
        "SELECT seq, model, kind, argument FROM log WHERE model = ? AND seq > ? ORDER BY seq "
        "LIMIT ?",
        log_entry<Statement>, model, after, limit);
  }
  Result<std::int64_t> last_log_of(std::int64_t model, std::uint64_t from,
                                   std::uint64_t to) override {
    return database_->integer(
        "SELECT coalesce(max(seq), 0) FROM log INDEXED BY log_about WHERE argument >= ? AND "
        "argument < ? AND kind IN (1, 2)",
        id_of(model, from), id_of(model, to));
  }
  Result<bool> is_loaded(std::int64_t snapshot) override {
    return database_->integer<bool>(
        "SELECT 1 FROM log WHERE argument = ? AND kind IN (3, 6, 7, 8) LIMIT 1", snapshot);
  }

  Result<std::vector<SnapshotRow>> snapshots(std::int64_t model) override {
    return database_->all("SELECT " PLACKETT_SNAPSHOT_COLUMNS
                          " FROM snapshots WHERE model = ? ORDER BY id DESC",
                          snapshot_row<Statement>, model);
  }
  Result<std::optional<SnapshotRow>> snapshot(std::int64_t id) override {
    return database_->first("SELECT " PLACKETT_SNAPSHOT_COLUMNS
                            ", file FROM snapshots WHERE id = ?",
                            snapshot_with_file<Statement>, id);
  }
  Result<std::optional<std::int64_t>> base_snapshot(std::int64_t model, std::int64_t seq) override {
    return database_->first(
        "SELECT log FROM snapshots WHERE model = ? AND log >= ? AND kind <> ? ORDER BY log LIMIT 1",
        first_column<Statement>, model, seq, SnapshotKind::kImported);
  }

  Result<std::vector<SeriesRow>> series(std::int64_t model, std::int64_t step_ms) override {
    return database_->all("SELECT at / ?1 * ?1 AS start, " SERIES_SUMS
                          " FROM series WHERE model = ?2 GROUP BY start ORDER BY start",
                          series_row<Statement>, step_ms, model);
  }
  Result<SeriesRow> series_total(std::int64_t model, std::int64_t from,
                                 std::int64_t before) override {
    auto total = database_->first("SELECT coalesce(min(at), 0), " SERIES_SUMS
                                  " FROM series WHERE model = ? AND at >= ? AND at < ?",
                                  series_row<Statement>, model, from, before);
    if (!total) return total.error();
    return total->value_or(SeriesRow{});
  }

  Result<std::vector<ExperimentRow>> experiments() override {
    return database_->all(
        "SELECT id, model, name, spec, state, started_at, ended_at FROM experiments WHERE spec <> "
        "'' "
        "ORDER BY id",
        experiment_row<Statement>);
  }
  Result<std::vector<ExperimentRow>> retired_experiments(std::int64_t model) override {
    return database_->all(
        "SELECT id, model, name, spec, state, started_at, ended_at FROM experiments WHERE spec = "
        "'' AND model = ? ORDER BY id",
        experiment_row<Statement>, model);
  }
  Result<std::vector<ArmSums>> arm_sums(std::int64_t experiment) override {
    return attempt([&] {
      std::vector<ArmSums> arms;
      take(database_->each(
          "SELECT arm, " PLACKETT_ARM_SUMS " FROM experiment_arms WHERE experiment = ?",
          [&](const Statement& row) { put_arm(arms, row); }, experiment));
      return arms;
    });
  }
  Result<UnitTotals> unit_totals(std::int64_t experiment, std::int64_t unit) override {
    auto found =
        database_->first("SELECT x, y FROM experiment_units WHERE experiment = ? AND unit = ?",
                         unit_totals_row<Statement>, experiment, unit);
    if (!found) return found.error();
    return found->value_or(UnitTotals{});
  }
  Result<std::vector<std::int64_t>> experiments_with_units() override {
    // One look into the key per experiment, however many units it has.
    return database_->all(
        "WITH RECURSIVE next(id) AS (SELECT min(experiment) FROM experiment_units UNION ALL "
        "SELECT (SELECT min(experiment) FROM experiment_units WHERE experiment > next.id) FROM "
        "next WHERE next.id IS NOT NULL) SELECT id FROM next WHERE id IS NOT NULL",
        first_column<Statement>);
  }
  Result<std::vector<ArmsPoint>> arm_points(std::int64_t experiment) override {
    return attempt([&] {
      std::vector<ArmsPoint> points;
      take(database_->each(
          "SELECT at, arm, " PLACKETT_ARM_SUMS
          " FROM experiment_points WHERE experiment = ? ORDER BY at, arm",
          [&](const Statement& row) { put_point(points, row); }, experiment));
      return points;
    });
  }

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<StoreReader> make_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteReader>(std::move(database));
}

}  // namespace plackett::store
