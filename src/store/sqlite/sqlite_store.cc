#include "store/sqlite/sqlite_store.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/file_lock.h"
#include "store/rows.h"
#include "store/sqlite/database.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/schema.h"

namespace plackett::store {

using namespace serving;  // whose interface this implements

namespace {

// An impression of ten documents with a hundred features is 4 to 6 KB, so it fits into one page.
constexpr int kPageBytes = 8192;
constexpr int kPagesShrunkAtOnce = 2000;

constexpr const char* kDropGivenIds =
    "DELETE FROM given_ids WHERE (model, given) IN (SELECT id >> 40, given FROM impressions WHERE "
    "id >= ? AND id < ? AND given IS NOT NULL)";

std::filesystem::path wal_of(const std::filesystem::path& path) { return path.string() + "-wal"; }

// SQLite in WAL mode with synchronous=FULL: every commit syncs the write-ahead log. So all of the
// log but the commit in progress is on the disk, and a commit whose sync failed is rolled back and
// then written over by the next one.
class SqliteStore : public Store {
 public:
  SqliteStore(SqliteOptions options, FileLock lock)
      : options_(std::move(options)), lock_(std::move(lock)) {}
  ~SqliteStore() override;
  void open();  // throws Failed

  Result<std::unique_ptr<StoreReader>> open_reader() override {
    return read_sqlite(options_.path, options_.vfs);
  }
  StoreReader& read() override { return *reader_; }

  Result<void> begin() override {
    next_log_at_begin_ = next_log_;
    if (auto there = check_files(); !there) return there;
    return database_->run("BEGIN IMMEDIATE");
  }
  Result<void> commit() override {
    if (auto done = database_->run("COMMIT"); !done) return done;
    auto there = check_files();
    in_doubt_ = !there;
    return there;
  }
  void roll_back() override {
    // Some failures have rolled back already.
    if (sqlite3_get_autocommit(database_->handle()) == 0) {
      [[maybe_unused]] const auto rolled = database_->run("ROLLBACK");
    }
    next_log_ = next_log_at_begin_;
  }
  void tidy() override {
    if (log_is_to_be_emptied_) {
      sqlite3_busy_timeout(database_->handle(), 0);  // no request waits for it
      log_is_to_be_emptied_ = !checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
      sqlite3_busy_timeout(database_->handle(), kBusyMs);
    }
    if (wal_pages_ >= options_.checkpoint_pages) try_checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  }
  Result<void> probe() override { return write_version(*database_); }

  Result<std::int64_t> insert_model(const ModelRow& model) override {
    return inserted(fmt::format("a model named \"{}\" exists", model.name),
                    "INSERT INTO models(name, created_at, spec, next_number) VALUES(?, ?, ?, ?)",
                    model.name, model.created_at, model.spec, model.next_number);
  }
  Result<void> delete_model(std::int64_t id) override {
    return database_->run("DELETE FROM models WHERE id = ?", id);
  }
  Result<void> set_model_spec(std::int64_t id, std::string_view spec) override {
    return database_->run("UPDATE models SET spec = ? WHERE id = ?", spec, id);
  }
  Result<void> set_model_marks(const ModelRow& model) override {
    return database_->run(
        "UPDATE models SET next_number = ?, expired = ?, dropped_log = ? WHERE id = ?",
        model.next_number, model.expired, model.dropped_log, model.id);
  }
  Result<NumberBlock> reserve_numbers(std::int64_t model, std::uint64_t count) override {
    return attempt([&] {
      const auto end = take(database_->first(
          "UPDATE models SET next_number = next_number + ? WHERE id = ? RETURNING next_number",
          [](const Statement& row) { return row.count(0); }, count, model));
      if (!end) throw Failed{{ErrorCode::kNotFound, "the model was removed"}};
      return NumberBlock{*end - count, *end};
    });
  }
  Result<std::int64_t> put_item(std::int64_t model, std::string_view id,
                                std::span<const std::byte> features, std::uint64_t end) override {
    return attempt([&] {
      take(retire_item(model, id, end));
      const std::int64_t version = take(database_->insert(
          "INSERT INTO item_versions(model, id, features) VALUES(?, ?, ?)", model, id, features));
      take(database_->run(
          "INSERT INTO items(model, id, version) VALUES(?, ?, ?) ON CONFLICT(model, id) DO UPDATE "
          "SET version = excluded.version",
          model, id, version));
      return version;
    });
  }
  Result<std::int64_t> delete_item(std::int64_t model, std::string_view id,
                                   std::uint64_t end) override {
    return attempt([&] {
      take(retire_item(model, id, end));
      return take(database_->integer(
          "DELETE FROM items WHERE model = ? AND id = ? RETURNING version", model, id));
    });
  }
  Result<void> limit_references(std::int64_t model, std::uint64_t end) override {
    return database_->run("UPDATE item_versions SET until = ?1 WHERE model = ?2 AND until > ?1",
                          end, model);
  }
  Result<void> insert_impression(const ImpressionRow& impression) override {
    if (auto done = database_->run(
            "INSERT INTO impressions(id, shown_at, version, given, unit, mode, keep, kept, shown, "
            "context, data, experiment, arm, teams) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "nullif(?, 0), ?, ?)",
            impression.id, impression.shown_at, impression.version, NullIfEmpty{impression.given},
            NullIfEmpty{impression.unit}, impression.mode, impression.keep, impression.kept,
            NullIfEmpty{impression.shown}, NullIfEmpty{impression.context}, impression.data,
            impression.in.experiment, NullIfEmpty{impression.in.arm},
            NullIfEmpty{impression.in.teams});
        !done || impression.given.empty()) {
      return done;
    }
    return database_->run("INSERT INTO given_ids(model, given, impression) VALUES(?, ?, ?)",
                          ImpressionKey::of(impression.id).model, impression.given, impression.id);
  }
  Result<void> anonymise(const ImpressionRow& impression) override {
    return attempt([&] {
      take(database_->run(kDropGivenIds, impression.id, impression.id + 1));
      take(database_->run("UPDATE events SET event_id = NULL WHERE impression = ?", impression.id));
      take(database_->run(
          "UPDATE impressions SET given = NULL, unit = NULL, context = NULL, mode = ?, keep = ?, "
          "kept = ?, shown = ?, data = ? WHERE id = ?",
          impression.mode, impression.keep, impression.kept, NullIfEmpty{impression.shown},
          impression.data, impression.id));
    });
  }
  Result<void> set_response(std::int64_t impression, const ResponseRow& response) override {
    return database_->run(
        "INSERT INTO responses(impression, clicked, viewed, closed) VALUES(?, ?, ?, ?) "
        "ON CONFLICT(impression) DO UPDATE SET clicked = excluded.clicked, "
        "viewed = excluded.viewed, closed = excluded.closed",
        impression, response.clicked, response.viewed, response.closed);
  }
  Result<void> add_event(const EventRow& event) override {
    return database_->run(
        "INSERT INTO events(impression, rank, kind, name, at, event_id) VALUES(?, ?, ?, ?, ?, ?)",
        event.impression, event.rank, event.kind, NullIfEmpty{event.name}, event.at,
        NullIfEmpty{event.event_id});
  }
  Result<LogEntry> append_log(LogEntry entry, std::int64_t at) override {
    entry.seq = next_log_++;
    const auto done =
        database_->run("INSERT INTO log(seq, model, kind, argument, at) VALUES(?, ?, ?, ?, ?)",
                       entry.seq, entry.model, entry.kind, entry.argument, at);
    return done ? Result<LogEntry>(entry) : done.error();
  }
  Result<std::int64_t> insert_snapshot(const SnapshotRow& snapshot) override {
    return database_->insert(
        "INSERT INTO snapshots(model, log, created_at, kind, note, version, updates, learned, "
        "learning, frozen_because, serves, file) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        snapshot.model, snapshot.log, snapshot.created_at, snapshot.kind, snapshot.note,
        snapshot.version, snapshot.updates, snapshot.learned, snapshot.learning,
        snapshot.frozen_because, snapshot.serves, snapshot.file);
  }
  Result<void> delete_snapshot(std::int64_t id) override {
    return database_->run("DELETE FROM snapshots WHERE id = ?", id);
  }
  Result<void> add_to_series(std::int64_t model, const SeriesRow& sums) override {
    return database_->run(
        "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(model, at) DO UPDATE SET "
        "impressions = impressions + excluded.impressions, clicked = clicked + excluded.clicked, "
        "clicks = clicks + excluded.clicks, "
        "reciprocal_ranks = reciprocal_ranks + excluded.reciprocal_ranks, "
        "entropies = entropies + excluded.entropies, updates = updates + excluded.updates, "
        "update_norms = update_norms + excluded.update_norms",
        model, sums.at, sums.impressions, sums.clicked, sums.clicks, sums.reciprocal_ranks,
        sums.entropies, sums.updates, sums.update_norms);
  }
  Result<void> coarsen_series(std::int64_t model, std::int64_t before,
                              std::int64_t step_ms) override {
    before = before / step_ms * step_ms;
    return attempt([&] {
      auto fine = take(database_->all(
          "SELECT at, impressions, clicked, clicks, reciprocal_ranks, entropies, updates, "
          "update_norms FROM series WHERE model = ? AND at < ? AND at % ? <> 0",
          series_row<Statement>, model, before, step_ms));
      take(database_->run("DELETE FROM series WHERE model = ? AND at < ? AND at % ? <> 0", model,
                          before, step_ms));
      for (SeriesRow& row : fine) {
        row.at = row.at / step_ms * step_ms;
        take(add_to_series(model, row));
      }
    });
  }

  Result<std::int64_t> insert_experiment(const ExperimentRow& experiment) override {
    return inserted(fmt::format("an experiment named \"{}\" exists", experiment.name),
                    "INSERT INTO experiments(model, name, spec, state, started_at, ended_at) "
                    "VALUES(?, ?, ?, ?, ?, ?)",
                    experiment.model, experiment.name, experiment.spec, experiment.state,
                    experiment.started_at, experiment.ended_at);
  }
  Result<void> set_experiment_state(const ExperimentRow& experiment) override {
    return database_->run("UPDATE experiments SET state = ?, ended_at = ? WHERE id = ?",
                          experiment.state, experiment.ended_at, experiment.id);
  }
  Result<void> delete_experiment(std::int64_t id) override {
    return attempt([&] {
      for (const char* sql : {"DELETE FROM experiment_points WHERE experiment = ?",
                              "DELETE FROM experiment_arms WHERE experiment = ?",
                              "DELETE FROM experiments WHERE id = ?"}) {
        take(database_->run(sql, id));
      }
    });
  }
  // A name that no request can give: '#' is not allowed there.
  Result<void> retire_experiment(std::int64_t id, std::string_view state) override {
    return attempt([&] {
      for (const char* sql : {"DELETE FROM experiment_points WHERE experiment = ?",
                              "DELETE FROM experiment_arms WHERE experiment = ?"}) {
        take(database_->run(sql, id));
      }
      take(database_->run(
          "UPDATE experiments SET name = '#' || id, spec = '', state = ? WHERE id = ?", state, id));
    });
  }
  Result<bool> drop_unit_totals(std::int64_t experiment, std::uint32_t limit) override {
    return drop(
        "DELETE FROM experiment_units WHERE (experiment, unit) IN (SELECT experiment, unit FROM "
        "experiment_units WHERE experiment = ? LIMIT ?)",
        limit, experiment);
  }
  Result<void> add_to_arm(std::int64_t experiment, std::uint32_t arm,
                          const ArmSums& sums) override {
    return database_->run(
        "INSERT INTO experiment_arms VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT("
        "experiment, arm) DO UPDATE SET impressions = impressions + excluded.impressions, "
        "clicks = clicks + excluded.clicks, units = units + excluded.units, "
        "x_units = x_units + excluded.x_units, y_units = y_units + excluded.y_units, x = x + "
        "excluded.x, y = y + excluded.y, "
        "xx = xx + excluded.xx, xy = xy + excluded.xy, yy = yy + excluded.yy, v = v + excluded.v, "
        "vv = vv + excluded.vv",
        experiment, arm, sums.impressions, sums.clicks, sums.units.units, sums.units.x_units,
        sums.units.y_units, sums.units.x, sums.units.y, sums.units.xx, sums.units.xy, sums.units.yy,
        sums.units.v, sums.units.vv);
  }
  Result<void> set_unit_totals(std::int64_t experiment, std::int64_t unit,
                               const UnitTotals& totals) override {
    return database_->run(
        "INSERT INTO experiment_units VALUES(?, ?, ?, ?) ON CONFLICT(experiment, unit) DO UPDATE "
        "SET x = excluded.x, y = excluded.y",
        experiment, unit, totals.x, totals.y);
  }
  Result<void> delete_unit_totals(std::int64_t experiment, std::int64_t unit) override {
    return database_->run("DELETE FROM experiment_units WHERE experiment = ? AND unit = ?",
                          experiment, unit);
  }
  Result<void> add_arm_point(std::int64_t experiment, std::int64_t at) override {
    return database_->run(
        "INSERT OR REPLACE INTO experiment_points SELECT experiment, ?, arm, impressions, clicks, "
        "units, x_units, y_units, x, y, xx, xy, yy, v, vv FROM experiment_arms WHERE experiment = "
        "?",
        at, experiment);
  }
  Result<void> delete_arm_point(std::int64_t experiment, std::int64_t at) override {
    return database_->run("DELETE FROM experiment_points WHERE experiment = ? AND at = ?",
                          experiment, at);
  }

  Result<void> drop_impression(std::int64_t id) override { return drop_between(id, id + 1); }
  Result<void> drop_impressions(std::int64_t model, std::uint64_t end) override {
    return attempt([&] {
      take(drop_between(ImpressionKey{model, 0}.id(), ImpressionKey{model, end}.id()));
      take(database_->run("DELETE FROM item_versions WHERE model = ? AND until <= ?", model, end));
    });
  }
  Result<bool> drop_log(std::int64_t model, std::int64_t up_to, std::uint32_t limit) override {
    return drop(
        "DELETE FROM log WHERE seq IN (SELECT seq FROM log WHERE model = ? AND seq <= ? "
        "ORDER BY seq LIMIT ?)",
        limit, model, up_to);
  }
  Result<bool> drop_rows(std::int64_t model, std::uint32_t limit) override {
    return attempt([&] {
      const auto first = take(read().shown_from(model, 0));
      take(drop_impressions(model, first ? first->first + limit : ImpressionKey::kNumbers - 1));
      if (first || !take(drop_log(model, next_log_, limit))) return false;
      for (const char* sql :
           {"DELETE FROM items WHERE (model, id) IN (SELECT model, id FROM items WHERE model = ? "
            "LIMIT ?)",
            "DELETE FROM item_versions WHERE version IN (SELECT version FROM item_versions WHERE "
            "model = ? LIMIT ?)",
            "DELETE FROM snapshots WHERE id IN (SELECT id FROM snapshots WHERE model = ? LIMIT ?)",
            "DELETE FROM series WHERE (model, at) IN (SELECT model, at FROM series WHERE model = ? "
            "LIMIT ?)"}) {
        if (!take(drop(sql, limit, model))) return false;
      }
      for (const ExperimentRow& experiment : take(read().experiments())) {
        if (experiment.model == model) take(delete_experiment(experiment.id));
      }
      take(database_->run("DELETE FROM experiments WHERE model = ?", model));
      return true;
    });
  }
  Result<std::uint64_t> used_bytes() override {
    return database_->integer<std::uint64_t>(
        "SELECT ((SELECT page_count FROM pragma_page_count) - "
        "(SELECT freelist_count FROM pragma_freelist_count)) * "
        "(SELECT page_size FROM pragma_page_size)");
  }
  Result<std::uint64_t> item_bytes() override {
    return database_->integer<std::uint64_t>(
        "SELECT coalesce(sum(pgsize) * (SELECT count(*) FROM items) / "
        "max(1, (SELECT count(*) FROM item_versions)), 0) FROM dbstat WHERE aggregate = TRUE AND "
        "name IN ('items', 'item_versions', 'item_versions_of')");
  }
  // If a fifth of the file is unused.
  Result<void> shrink() override {
    const auto much = database_->integer<bool>(
        "SELECT (SELECT freelist_count FROM pragma_freelist_count) * 5 > "
        "(SELECT page_count FROM pragma_page_count)");
    if (!much) return much.error();
    if (!*much) return {};
    return database_->script(fmt::format("PRAGMA incremental_vacuum({})", kPagesShrunkAtOnce));
  }
  Result<void> vacuum() override {
    if (auto there = check_files(); !there) return there;
    // It writes all pages to the write-ahead log, which the checkpoint copies and empties.
    if (auto done = database_->run("VACUUM"); !done) return done;
    if (auto done = checkpoint(SQLITE_CHECKPOINT_TRUNCATE); !done) {
      log_is_to_be_emptied_ = true;
      return Error{ErrorCode::kConflict,
                   "another program reads the store; what was deleted leaves its files once that "
                   "has ended"};
    }
    return {};
  }
  std::uint64_t disk_bytes() const override {
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(options_.path, ignored);
    return ignored ? 0 : bytes;
  }
  void close() override { try_checkpoint(SQLITE_CHECKPOINT_TRUNCATE); }

 private:
  // The version of an item that no list with number `end` or a higher one will refer to.
  Result<void> retire_item(std::int64_t model, std::string_view id, std::uint64_t end) {
    if (end == 0) {
      return database_->run(
          "DELETE FROM item_versions WHERE version = (SELECT version FROM items WHERE model = ? "
          "AND id = ?)",
          model, id);
    }
    return database_->run(
        "UPDATE item_versions SET until = ? WHERE version = (SELECT version FROM items WHERE model "
        "= ? AND id = ?)",
        end, model, id);
  }
  // Drops the impressions with ids in [from, to).
  Result<void> drop_between(std::int64_t from, std::int64_t to) {
    return attempt([&] {
      // Impressions last: their rows have the ids that were given.
      for (const char* sql : {"DELETE FROM events WHERE impression >= ? AND impression < ?",
                              "DELETE FROM responses WHERE impression >= ? AND impression < ?",
                              kDropGivenIds, "DELETE FROM impressions WHERE id >= ? AND id < ?"}) {
        take(database_->run(sql, from, to));
      }
    });
  }

  // That the files are where they were: what is written to a file without a name is lost.
  Result<void> check_files() const;
  Result<void> checkpoint(int mode);
  void try_checkpoint(int mode) { [[maybe_unused]] const auto done = checkpoint(mode); }
  // The id of a new row, whose name must be unique.
  template <typename... Values>
  Result<std::int64_t> inserted(std::string conflict, std::string_view sql,
                                const Values&... values) {
    auto id = database_->insert(sql, values...);
    if (!id && sqlite3_extended_errcode(database_->handle()) == SQLITE_CONSTRAINT_UNIQUE) {
      return Error{ErrorCode::kConflict, std::move(conflict)};
    }
    return id;
  }
  // Deletes at most `limit` rows; true if none is left.
  template <typename... Values>
  Result<bool> drop(std::string_view sql, std::uint32_t limit, const Values&... values) {
    const auto dropped = database_->change(sql, values..., limit);
    if (!dropped) return dropped.error();
    return *dropped < std::int64_t{limit};
  }

  SqliteOptions options_;
  // On the file itself, so that links lead to the same lock. Its descriptor must be closed after
  // SQLite's: closing one would drop SQLite's own locks on the file.
  FileLock lock_;
  // A commit went to files that were gone: it may be there or not, so only a restart helps.
  bool in_doubt_ = false;
  FileId file_;
  FileId wal_;
  std::shared_ptr<Database> database_;
  std::unique_ptr<StoreReader> reader_;
  int wal_pages_ = 0;
  bool checkpoint_failed_ = false;
  bool log_is_to_be_emptied_ =
      false;  // since the start, or since a vacuum that readers kept from it
  std::int64_t next_log_ = 1;
  std::int64_t next_log_at_begin_ = 1;
};

void SqliteStore::open() {
  // SQLite names the write-ahead log after the file: under another name it would miss what the log
  // holds.
  std::error_code error;
  options_.path = std::filesystem::canonical(options_.path, error);
  if (error) throw Failed{Error{fmt::format("can't open: {}", error.message())}};
  if (std::filesystem::hard_link_count(options_.path, error) > 1 &&
      !std::filesystem::exists(wal_of(options_.path), error)) {
    throw Failed{
        Error{"the file has further names (hard links), and its write-ahead log may lie "
              "beside another; remove the links"}};
  }
  database_ = std::make_shared<Database>(
      take(Database::open(options_.path, Database::Access::kWrite, options_.vfs)));
  // Page size and vacuum mode take effect in a new file only. Other files are refused before
  // anything in them changes.
  take(database_->script(
      fmt::format("PRAGMA page_size={}; PRAGMA auto_vacuum=INCREMENTAL;", kPageBytes)));
  take(make_schema(*database_));
  const auto mode = take(database_->first(
      "PRAGMA journal_mode=WAL", [](const Statement& row) { return std::string(row.text(0)); }));
  if (mode != "wal") {
    throw Failed{Error{"no write-ahead log; the file system can't share memory"}};
  }
  take(
      database_->script("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; "
                        "PRAGMA cache_size=-16384; PRAGMA journal_size_limit=67108864;"));
  sqlite3_wal_hook(
      database_->handle(),
      [](void* self, sqlite3* /*handle*/, const char* /*name*/, int pages) {
        static_cast<SqliteStore*>(self)->wal_pages_ = pages;
        return SQLITE_OK;
      },
      this);
  reader_ = make_reader(database_);
  next_log_ = 1 + take(database_->integer("SELECT max(coalesce((SELECT max(seq) FROM log), 0), "
                                          "coalesce((SELECT max(log) FROM snapshots), 0), "
                                          "coalesce((SELECT max(dropped_log) FROM models), 0))"));
  file_ = lock_.file();
  wal_ = FileId::of(wal_of(options_.path));
  // What the last process left in the log, which may be what a vacuum was to empty.
  log_is_to_be_emptied_ = true;
  tidy();
}

Result<void> SqliteStore::check_files() const {
  if (!in_doubt_ && FileId::of(options_.path) == file_ &&
      FileId::of(wal_of(options_.path)) == wal_) {
    return {};
  }
  return Error{
      ErrorCode::kUnavailable,
      "the store's files were removed or replaced while it is served; restart the service"};
}

// A failed sync of the file may have lost pages that an earlier checkpoint wrote; SQLite would not
// write those again. The write-ahead log still has them, so it is kept whole until the next start,
// which checkpoints all of it.
Result<void> SqliteStore::checkpoint(int mode) {
  if (checkpoint_failed_) {
    return Error{ErrorCode::kUnavailable, "a checkpoint has failed; restart the service"};
  }
  const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, mode, nullptr, nullptr);
  if ((code & 0xff) == SQLITE_IOERR) checkpoint_failed_ = true;
  wal_pages_ = 0;  // until the next commit
  if (code != SQLITE_OK) return database_->error();
  return {};
}

SqliteStore::~SqliteStore() {
  // SQLite checkpoints when the last connection closes.
  if (database_ != nullptr && checkpoint_failed_) {
    sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(const SqliteOptions& options) {
  const std::string path = options.path.string();
  auto lock = FileLock::take(path, path + ": another plackett serves this store");
  if (!lock) return lock.error();
  auto store = std::make_unique<SqliteStore>(options, std::move(lock).value());
  if (auto opened = attempt([&] { store->open(); }); !opened) {
    return opened.error().in(path);
  }
  return std::unique_ptr<Store>(std::move(store));
}

Result<std::unique_ptr<StoreReader>> read_sqlite(const std::filesystem::path& path,
                                                 const std::string& vfs) {
  auto database = Database::open(path, Database::Access::kRead, vfs);
  if (!database) return database.error().in(path.string());
  if (auto sound = ready_to_read(*database); !sound) return sound.error().in(path.string());
  return make_reader(std::make_shared<Database>(std::move(database).value()));
}

}  // namespace plackett::store
