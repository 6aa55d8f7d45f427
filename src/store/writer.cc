#include "store/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "store/schema.h"

namespace plackett::store {
namespace {

// An impression of ten documents with a hundred features is 4 to 6 KB: it fits into a page.
constexpr int kPageBytes = 8192;
// The log of writes is cut back to this when it begins anew.
constexpr std::int64_t kLogBytesKept = std::int64_t{64} << 20;

bool is_io_error(sqlite3* handle) { return (sqlite3_errcode(handle) & 0xff) == SQLITE_IOERR; }

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(const std::filesystem::path& path,
                                             const std::string& vfs) {
  auto database = Database::open(path, Database::Access::kWrite, vfs);
  if (!database) return database.error();
  std::unique_ptr<Writer> writer(new Writer);
  writer->database_ = std::make_shared<Database>(std::move(database).value());
  Database& db = *writer->database_;
  // Page size and vacuum take effect in a new file only, and before it has a log. Foreign files
  // are refused before anything in them changes.
  if (auto set =
          db.run(fmt::format("PRAGMA page_size={}; PRAGMA auto_vacuum=INCREMENTAL;", kPageBytes));
      !set) {
    return set.error();
  }
  if (auto made = make_schema(db); !made) return made.error();
  if (auto set = db.run(fmt::format("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                                    "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit={}; "
                                    "PRAGMA cache_size=-16384;",
                                    kLogBytesKept));
      !set) {
    return set.error();
  }
  const std::pair<Statement*, std::string_view> statements[] = {
      {&writer->begin_, "BEGIN IMMEDIATE"},
      {&writer->commit_, "COMMIT"},
      {&writer->keep_,
       "INSERT INTO impressions(id, shown_at, version, given, data) VALUES(?, ?, ?, ?, ?)"},
      {&writer->give_id_, "INSERT INTO given_ids(model, given, impression) VALUES(?, ?, ?)"},
      {&writer->response_,
       "INSERT INTO responses(impression, clicked, viewed, closed) VALUES(?, ?, ?, ?) "
       "ON CONFLICT(impression) DO UPDATE SET clicked = excluded.clicked, "
       "viewed = excluded.viewed, closed = excluded.closed"},
      {&writer->event_,
       "INSERT INTO events(impression, rank, kind, at, event_id) VALUES(?, ?, ?, ?, ?)"},
      {&writer->log_, "INSERT INTO log(seq, model, kind, argument, at) VALUES(?, ?, ?, ?, ?)"},
      {&writer->series_,
       "INSERT INTO series VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(model, at) DO UPDATE SET "
       "impressions = impressions + excluded.impressions, clicked = clicked + excluded.clicked, "
       "clicks = clicks + excluded.clicks, "
       "reciprocal_ranks = reciprocal_ranks + excluded.reciprocal_ranks, "
       "entropies = entropies + excluded.entropies, updates = updates + excluded.updates, "
       "update_norms = update_norms + excluded.update_norms"},
      {&writer->item_,
       "INSERT INTO items(model, id, features) VALUES(?, ?, ?) ON CONFLICT(model, id) DO UPDATE "
       "SET features = excluded.features"},
  };
  for (const auto& [statement, sql] : statements) {
    auto made = db.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(made).value();
  }
  auto reader = Reader::over(writer->database_);
  if (!reader) return reader.error();
  writer->reader_ = std::move(reader).value();
  auto last = writer->read().last_log();
  if (!last) return last.error();
  writer->next_log_ = *last + 1;

  sqlite3_wal_hook(
      db.handle(),
      [](void* self, sqlite3* /*handle*/, const char* /*name*/, int pages) {
        static_cast<Writer*>(self)->log_marks_.reaches(static_cast<std::uint64_t>(pages));
        return SQLITE_OK;
      },
      writer.get());
  // The log is open from here on, and stays the same file until the end.
  if (auto recovered = writer->checkpoint(); !recovered) return recovered.error();
  sqlite3_file_control(db.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &writer->wal_);
  if (writer->wal_ == nullptr || writer->wal_->pMethods == nullptr) {
    return Error{
        fmt::format("{}: no log of writes; the file system can't share memory", path.string())};
  }
  if (auto synced = writer->sync(); !synced) return synced.error();
  return writer;
}

Writer::~Writer() {
  // What is in doubt stays in the log alone: SQLite would move it into the file as it closes.
  if (database_ != nullptr && (sync_failed_ || keep_log_)) {
    sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

Result<void> Writer::begin() {
  next_log_at_begin_ = next_log_;
  if (auto begun = begin_.run(); !begun || !sync_failed_) return begun;
  auto written = write_log_again();
  if (!written) roll_back();
  return written;
}

Result<void> Writer::commit() {
  auto committed = commit_.run();
  // SQLite syncs where the log begins anew.
  if (!committed && is_io_error(database_->handle())) sync_failed_ = true;
  return committed;
}

void Writer::roll_back() {
  // Some failures have rolled back already.
  if (sqlite3_get_autocommit(database_->handle()) == 0) {
    [[maybe_unused]] const auto rolled = database_->run("ROLLBACK");
  }
  next_log_ = next_log_at_begin_;
}

Result<void> Writer::sync() {
  const std::lock_guard lock(sync_mutex_);
  // The system tells of a failure once, and syncs after it leave out what it was about.
  if (!sync_failed_ && wal_->pMethods->xSync(wal_, SQLITE_SYNC_NORMAL) == SQLITE_OK) return {};
  sync_failed_ = true;
  return Error{"can't sync the store's log of writes"};
}

Result<void> Writer::write_log_again() {
  const std::lock_guard lock(sync_mutex_);
  const sqlite3_io_methods& file = *wal_->pMethods;
  sqlite3_int64 size = 0;
  bool good = file.xFileSize(wal_, &size) == SQLITE_OK;
  constexpr sqlite3_int64 kPart = 1 << 16;  // the most that SQLite moves at once is 2^17 - 1
  std::vector<std::byte> part(static_cast<std::size_t>(std::min(size, kPart)));
  for (sqlite3_int64 at = 0; good && at < size; at += kPart) {
    const int bytes = static_cast<int>(std::min(size - at, kPart));
    good = file.xRead(wal_, part.data(), bytes, at) == SQLITE_OK &&
           file.xWrite(wal_, part.data(), bytes, at) == SQLITE_OK;
  }
  if (!good || file.xSync(wal_, SQLITE_SYNC_NORMAL) != SQLITE_OK) {
    return Error{"can't write the store's log of writes again, after a sync of it failed"};
  }
  sync_failed_ = false;
  return {};
}

Result<void> Writer::checkpoint(bool empty) {
  // The file may change only by what the log surely holds. (SQLite syncs it too, but a failure is
  // told once, and may be told to another thread.)
  if (wal_ != nullptr) {
    if (auto synced = sync(); !synced) return synced;
  }
  if (keep_log_) {
    return Error{"the store's file could not be synced; start the service again"};
  }
  int log = 0;
  int moved = 0;
  const int mode = empty ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr, mode, &log, &moved);
  // Busy: readers kept it from emptying the log, but it may have moved all of it.
  if ((code == SQLITE_OK || code == SQLITE_BUSY) && log >= 0 && moved >= 0) {
    log_marks_.reaches(static_cast<std::uint64_t>(log));
    log_marks_.moved(log_marks_.beginnings(), static_cast<std::uint64_t>(moved));
  }
  if (code == SQLITE_OK) return {};
  if (is_io_error(database_->handle())) sync_failed_ = true;
  return sqlite_error(database_->handle());
}

Result<void> Writer::probe() { return write_version(*database_); }

Result<std::int64_t> Writer::insert_model(const ModelRow& model) {
  auto insert = database_->prepare(
      "INSERT INTO models(name, created_at, spec, next_number) VALUES(?, ?, ?, ?)");
  if (!insert) return insert.error();
  if (auto done = insert->bind(model.name)
                      .bind(model.created_at)
                      .bind(model.spec)
                      .bind(static_cast<std::int64_t>(model.next_number))
                      .run();
      !done) {
    return done.error();
  }
  return sqlite3_last_insert_rowid(database_->handle());
}

Result<void> Writer::delete_model(std::int64_t id) {
  auto statement = database_->prepare("DELETE FROM models WHERE id = ?");
  if (!statement) return statement.error();
  return statement->bind(id).run();
}

Result<void> Writer::set_model_marks(const ModelRow& model) {
  auto statement = database_->prepare(
      "UPDATE models SET next_number = ?, expired = ?, dropped_log = ? WHERE id = ?");
  if (!statement) return statement.error();
  return statement->bind(static_cast<std::int64_t>(model.next_number))
      .bind(static_cast<std::int64_t>(model.expired))
      .bind(model.dropped_log)
      .bind(model.id)
      .run();
}

Result<void> Writer::put_item(std::int64_t model, std::string_view id,
                              std::span<const std::byte> features) {
  return item_.bind(model).bind(id).bind(features).run();
}

Result<bool> Writer::delete_item(std::int64_t model, std::string_view id) {
  auto statement = database_->prepare("DELETE FROM items WHERE model = ? AND id = ?");
  if (!statement) return statement.error();
  if (auto done = statement->bind(model).bind(id).run(); !done) return done.error();
  return sqlite3_changes(database_->handle()) > 0;
}

Result<void> Writer::keep(const NewImpression& impression) {
  keep_.bind(impression.key.id())
      .bind(impression.shown_at)
      .bind(static_cast<std::int64_t>(impression.version));
  if (impression.given.empty()) {
    keep_.bind_null();
  } else {
    keep_.bind(impression.given);
  }
  if (auto kept = keep_.bind(impression.data).run(); !kept) return kept;
  if (impression.given.empty()) return {};
  return give_id_.bind(impression.key.model).bind(impression.given).bind(impression.key.id()).run();
}

Result<void> Writer::set_response(std::int64_t impression, const ResponseRow& response) {
  return response_.bind(impression)
      .bind(response.clicked)
      .bind(response.viewed)
      .bind(static_cast<std::int64_t>(response.closed))
      .run();
}

Result<void> Writer::add_event(const NewEvent& event) {
  event_.bind(event.impression);
  if (event.rank) {
    event_.bind(std::int64_t{*event.rank});
  } else {
    event_.bind_null();
  }
  event_.bind(static_cast<std::int64_t>(event.kind)).bind(event.at);
  if (event.event_id.empty()) {
    event_.bind_null();
  } else {
    event_.bind(event.event_id);
  }
  return event_.run();
}

Result<LogEntry> Writer::append_log(LogEntry entry, std::int64_t at) {
  entry.seq = next_log_++;
  if (auto done = log_.bind(entry.seq)
                      .bind(entry.model)
                      .bind(static_cast<std::int64_t>(entry.kind))
                      .bind(entry.argument)
                      .bind(at)
                      .run();
      !done) {
    return done.error();
  }
  return entry;
}

Result<std::int64_t> Writer::insert_snapshot(const SnapshotRow& snapshot) {
  auto insert = database_->prepare(
      "INSERT INTO snapshots(model, log, created_at, kind, note, version, updates, learned, "
      "learning, frozen_because, file) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return insert.error();
  if (auto done = insert->bind(snapshot.model)
                      .bind(snapshot.log)
                      .bind(snapshot.created_at)
                      .bind(static_cast<std::int64_t>(snapshot.kind))
                      .bind(snapshot.note)
                      .bind(static_cast<std::int64_t>(snapshot.version))
                      .bind(static_cast<std::int64_t>(snapshot.updates))
                      .bind(static_cast<std::int64_t>(snapshot.learned))
                      .bind(std::int64_t{snapshot.learning})
                      .bind(snapshot.frozen_because)
                      .bind(snapshot.file)
                      .run();
      !done) {
    return done.error();
  }
  return sqlite3_last_insert_rowid(database_->handle());
}

Result<void> Writer::delete_snapshot(std::int64_t id) {
  auto statement = database_->prepare("DELETE FROM snapshots WHERE id = ?");
  if (!statement) return statement.error();
  return statement->bind(id).run();
}

Result<void> Writer::add_to_series(std::int64_t model, const SeriesRow& sums) {
  return series_.bind(model)
      .bind(sums.at)
      .bind(static_cast<std::int64_t>(sums.impressions))
      .bind(static_cast<std::int64_t>(sums.clicked))
      .bind(static_cast<std::int64_t>(sums.clicks))
      .bind(sums.reciprocal_ranks)
      .bind(sums.entropies)
      .bind(static_cast<std::int64_t>(sums.updates))
      .bind(sums.update_norms)
      .run();
}

Result<void> Writer::coarsen_series(std::int64_t model, std::int64_t before, std::int64_t step_ms) {
  before = before / step_ms * step_ms;
  auto fine = database_->prepare(
      "SELECT at, impressions, clicked, clicks, reciprocal_ranks, entropies, updates, "
      "update_norms FROM series WHERE model = ? AND at < ? AND at % ? <> 0");
  if (!fine) return fine.error();
  fine->bind(model).bind(before).bind(step_ms);
  std::vector<SeriesRow> sums;
  for (;;) {
    auto row = fine->step();
    if (!row) return row.error();
    if (!*row) break;
    sums.push_back({fine->whole(0) / step_ms * step_ms, static_cast<std::uint64_t>(fine->whole(1)),
                    static_cast<std::uint64_t>(fine->whole(2)),
                    static_cast<std::uint64_t>(fine->whole(3)), fine->real(4), fine->real(5),
                    static_cast<std::uint64_t>(fine->whole(6)), fine->real(7)});
  }
  auto remove = database_->prepare("DELETE FROM series WHERE model = ? AND at < ? AND at % ? <> 0");
  if (!remove) return remove.error();
  if (auto done = remove->bind(model).bind(before).bind(step_ms).run(); !done) return done;
  for (const SeriesRow& row : sums) {
    if (auto added = add_to_series(model, row); !added) return added;
  }
  return {};
}

Result<bool> Writer::drop(const std::string& sql, std::int64_t model, std::int64_t bound,
                          std::uint32_t limit) {
  auto statement = database_->prepare(sql);
  if (!statement) return statement.error();
  if (auto done = statement->bind(model).bind(bound).bind(std::int64_t{limit}).run(); !done) {
    return done.error();
  }
  return sqlite3_changes(database_->handle()) < static_cast<int>(limit);
}

Result<void> Writer::drop_impressions(std::int64_t model, std::uint64_t end) {
  // Impressions last: their rows know which ids were given.
  for (const char* sql :
       {"DELETE FROM events WHERE impression >= ? AND impression < ?",
        "DELETE FROM responses WHERE impression >= ? AND impression < ?",
        "DELETE FROM given_ids WHERE (model, given) IN (SELECT id >> 40, given FROM impressions "
        "WHERE id >= ? AND id < ? AND given IS NOT NULL)",
        "DELETE FROM impressions WHERE id >= ? AND id < ?"}) {
    auto statement = database_->prepare(sql);
    if (!statement) return statement.error();
    if (auto done = statement->bind(ImpressionKey{model, 0}.id())
                        .bind(ImpressionKey{model, end}.id())
                        .run();
        !done) {
      return done;
    }
  }
  return {};
}

Result<bool> Writer::drop_log(std::int64_t model, std::int64_t up_to, std::uint32_t limit) {
  return drop(
      "DELETE FROM log WHERE seq IN (SELECT seq FROM log WHERE model = ? AND seq <= ? "
      "ORDER BY seq LIMIT ?)",
      model, up_to, limit);
}

Result<bool> Writer::drop_rows(std::int64_t model, std::uint32_t limit) {
  auto first = read().shown_from(model, 0);
  if (!first) return first.error();
  const std::uint64_t end = *first ? (*first)->first + limit : ImpressionKey::kNumbers - 1;
  if (auto dropped = drop_impressions(model, end); !dropped) return dropped.error();
  if (*first) return false;
  if (auto all = drop_log(model, next_log_, limit); !all || !*all) return all;
  for (const char* sql :
       {"DELETE FROM items WHERE model = ?1 AND id IN (SELECT id FROM items WHERE model = ?1 AND "
        "?2 >= 0 LIMIT ?3)",
        "DELETE FROM snapshots WHERE id IN (SELECT id FROM snapshots WHERE model = ?1 AND ?2 >= 0 "
        "LIMIT ?3)",
        "DELETE FROM series WHERE model = ?1 AND at IN (SELECT at FROM series WHERE model = ?1 AND "
        "?2 >= 0 LIMIT ?3)"}) {
    if (auto all = drop(sql, model, 0, limit); !all || !*all) return all;
  }
  return true;
}

Result<void> Writer::shrink(std::uint32_t pages) {
  auto counts = database_->prepare(
      "SELECT (SELECT page_count FROM pragma_page_count), "
      "(SELECT freelist_count FROM pragma_freelist_count)");
  if (!counts) return counts.error();
  if (auto counted = counts->step(); !counted) return counted.error();
  const bool much = counts->whole(1) * 5 > counts->whole(0);
  counts->reset();
  if (!much) return {};
  auto statement = database_->prepare(fmt::format("PRAGMA incremental_vacuum({})", pages));
  if (!statement) return statement.error();
  for (;;) {
    auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return {};
  }
}

Result<std::uint64_t> Writer::used_bytes() {
  auto statement = database_->prepare(
      "SELECT ((SELECT page_count FROM pragma_page_count) - "
      "(SELECT freelist_count FROM pragma_freelist_count)) * "
      "(SELECT page_size FROM pragma_page_size)");
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return static_cast<std::uint64_t>(statement->whole(0));
}

}  // namespace plackett::store
