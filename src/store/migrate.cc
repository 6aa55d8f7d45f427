#include "store/migrate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/attempt.h"
#include "base/file_lock.h"
#include "store/open.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/sqlite/database.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::store {
namespace {

namespace fs = std::filesystem;
using postgres::Connection;

// A value of a row; texts and blobs belong to the row.
using Cell = std::variant<std::nullptr_t, std::int64_t, double, std::string_view,
                          std::span<const std::byte>>;
using Cells = std::vector<Cell>;

struct Column {
  enum class Type : std::uint8_t { kInteger, kReal, kText, kBlob };
  const char* name;
  Type type = Type::kInteger;
};
constexpr Column::Type kReal = Column::Type::kReal;
constexpr Column::Type kText = Column::Type::kText;
constexpr Column::Type kBlob = Column::Type::kBlob;

// A table that both databases have.
struct Table {
  const char* name;
  const char* key;  // the columns that order its rows
  std::vector<Column> columns;
  // PostgreSQL has one row per node in this table, and a view with the table's name adds them up.
  const char* parts = nullptr;
  int rows_at_once = 200;  // that are in memory; those of some tables are large
};

const std::vector<Table>& tables() {
  const auto sums = [](std::vector<Column> columns) {
    for (const char* name : {"impressions", "clicks"}) columns.push_back({name});
    for (const char* name :
         {"units", "x_units", "y_units", "x", "y", "xx", "xy", "yy", "v", "vv"}) {
      columns.push_back({name, kReal});
    }
    return columns;
  };
  static const std::vector<Table> all = {
      {"models",
       "id",
       {{"id"},
        {"name", kText},
        {"created_at"},
        {"spec", kText},
        {"next_number"},
        {"expired"},
        {"dropped_log"}}},
      {"items", "model, id", {{"model"}, {"id", kText}, {"version"}}},
      {"item_versions",
       "version",
       {{"version"}, {"model"}, {"id", kText}, {"until"}, {"features", kBlob}}},
      {"impressions",
       "id",
       {{"id"},
        {"shown_at"},
        {"version"},
        {"given", kText},
        {"unit", kText},
        {"mode"},
        {"keep", kReal},
        {"kept"},
        {"shown", kText},
        {"context", kText},
        {"data", kBlob},
        {"experiment"},
        {"arm", kText},
        {"teams", kText}}},
      {"given_ids", "model, given", {{"model"}, {"given", kText}, {"impression"}}},
      {"responses",
       "impression",
       {{"impression"}, {"clicked", kBlob}, {"viewed", kBlob}, {"closed"}}},
      {"events",
       "id",
       {{"id"}, {"impression"}, {"rank"}, {"kind"}, {"name", kText}, {"at"}, {"event_id", kText}}},
      {"log", "seq", {{"seq"}, {"model"}, {"kind"}, {"argument"}, {"at"}}},
      {"snapshots",
       "id",
       {{"id"},
        {"model"},
        {"log"},
        {"created_at"},
        {"kind"},
        {"note", kText},
        {"version"},
        {"updates"},
        {"learned"},
        {"learning"},
        {"frozen_because", kText},
        {"file", kBlob},
        {"serves"}},
       nullptr,
       1},
      {"series",
       "model, at",
       {{"model"},
        {"at"},
        {"impressions"},
        {"clicked"},
        {"clicks"},
        {"reciprocal_ranks", kReal},
        {"entropies", kReal},
        {"updates"},
        {"update_norms", kReal}},
       "series_parts"},
      {"experiments",
       "id",
       {{"id"},
        {"model"},
        {"name", kText},
        {"spec", kText},
        {"state", kText},
        {"started_at"},
        {"ended_at"}}},
      {"experiment_arms", "experiment, arm", sums({{"experiment"}, {"arm"}}),
       "experiment_arm_parts"},
      {"experiment_points", "experiment, at, arm", sums({{"experiment"}, {"at"}, {"arm"}})},
      {"experiment_units",
       "experiment, unit",
       {{"experiment"}, {"unit"}, {"x", kReal}, {"y", kReal}}},
  };
  return all;
}

std::string column_names(const Table& table) {
  std::vector<const char*> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

template <typename Row>
void read_cells(const Row& row, const Table& table, Cells& cells) {
  cells.clear();
  for (int at = 0; const Column& column : table.columns) {
    if (row.is_null(at)) {
      cells.emplace_back(nullptr);
    } else if (column.type == Column::Type::kInteger) {
      cells.emplace_back(row.integer(at));
    } else if (column.type == kReal) {
      cells.emplace_back(row.real(at));
    } else if (column.type == kText) {
      cells.emplace_back(row.text(at));
    } else {
      cells.emplace_back(row.blob(at));
    }
    ++at;
  }
}

// The highest number that was ever given, per table whose numbers are never used again.
using LastNumbers = std::map<std::string, std::int64_t>;
constexpr std::pair<const char*, const char*> kNumbered[] = {{"models", "id"},
                                                             {"item_versions", "version"},
                                                             {"events", "id"},
                                                             {"snapshots", "id"},
                                                             {"experiments", "id"}};
constexpr const char* kLastLog =
    "SELECT max(number) FROM (SELECT max(seq) AS number FROM log UNION ALL SELECT max(log) FROM "
    "snapshots UNION ALL SELECT max(dropped_log) FROM models) AS numbers";

// SQL texts, which must outlive the statements that are made of them.
class Texts {
 public:
  std::string_view keep(std::string text) {
    for (const std::string& kept : texts_) {
      if (kept == text) return kept;
    }
    return texts_.emplace_back(std::move(text));
  }

 private:
  std::deque<std::string> texts_;
};

// One side of a migration. All calls throw Failed.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual std::uint64_t count(const Table& table) = 0;
  // Rows in the order of the key; few are in memory at once.
  virtual void each(const Table& table, const std::function<void(const Cells&)>& row) = 0;
  // What is to be appended to the log: values of its columns, without seq.
  virtual std::vector<std::vector<std::int64_t>> queued_log() { return {}; }
  virtual LastNumbers last_numbers() = 0;
};

class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  virtual std::uint64_t count(const Table& table) = 0;
  virtual void insert(const Table& table, const Cells& cells) = 0;
  virtual std::int64_t last_log() = 0;
  virtual void set_last_numbers(const LastNumbers& numbers) = 0;
  virtual void commit() = 0;
};

// ---- SQLite ----

FileLock lock_file(const fs::path& path) {
  return take(FileLock::take(path, "is being served; stop its server"));
}

class SqliteSource : public Source {
 public:
  explicit SqliteSource(const fs::path& path)
      : lock_(lock_existing(path)), database_(take(Database::open(path, Database::Access::kRead))) {
    take(ready_to_read(database_));
    take(database_.run("BEGIN"));
  }

  std::uint64_t count(const Table& table) override {
    return take(database_.integer<std::uint64_t>(
        texts_.keep(fmt::format("SELECT count(*) FROM {}", table.name))));
  }
  void each(const Table& table, const std::function<void(const Cells&)>& row) override {
    Cells cells;
    take(database_.each(texts_.keep(fmt::format("SELECT {} FROM {} ORDER BY {}",
                                                column_names(table), table.name, table.key)),
                        [&](const Statement& statement) {
                          read_cells(statement, table, cells);
                          row(cells);
                        }));
  }
  LastNumbers last_numbers() override {
    LastNumbers numbers;
    for (const auto& [table, id] : kNumbered) {
      numbers[table] = take(database_.integer(texts_.keep(
          fmt::format("SELECT max(coalesce((SELECT max({}) FROM {}), 0), coalesce((SELECT seq FROM "
                      "sqlite_sequence WHERE name = '{}'), 0))",
                      id, table, table))));
    }
    return numbers;
  }

 private:
  // A lock would create the file.
  static FileLock lock_existing(const fs::path& path) {
    if (const auto store = read_sqlite(path); !store) throw Failed{store.error()};
    return lock_file(path);
  }

  Texts texts_;
  FileLock lock_;
  Database database_;
};

class SqliteTarget : public Target {
 public:
  explicit SqliteTarget(const fs::path& path) : created_(path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) created_.clear();
    {
      const auto store = open_sqlite({.path = path});
      if (!store) throw Failed{store.error()};
      (*store)->close();
    }
    lock_ = lock_file(path);
    database_ = take(Database::open(path, Database::Access::kWrite));
    // A journal that can be rolled back: pages of a new file need no copy, as they would in a
    // write-ahead log.
    take(
        database_->script("PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; "
                          "PRAGMA cache_size=-16384; BEGIN IMMEDIATE"));
  }
  ~SqliteTarget() override {
    database_.reset();
    if (created_.empty()) return;
    std::error_code ignored;
    for (const char* ending : {"", "-journal", "-wal", "-shm"}) {
      fs::remove(created_.string() + ending, ignored);
    }
  }

  std::uint64_t count(const Table& table) override {
    return take(database_->integer<std::uint64_t>(
        texts_.keep(fmt::format("SELECT count(*) FROM {}", table.name))));
  }
  void insert(const Table& table, const Cells& cells) override {
    const std::vector<const char*> marks(cells.size(), "?");
    take(database_->run_bound(texts_.keep(fmt::format("INSERT INTO {}({}) VALUES({})", table.name,
                                                      column_names(table), fmt::join(marks, ", "))),
                              [&](Statement& statement) {
                                for (const Cell& cell : cells) {
                                  std::visit([&](const auto& value) { statement.bind(value); },
                                             cell);
                                }
                              }));
  }
  std::int64_t last_log() override { return take(database_->integer(kLastLog)); }
  void set_last_numbers(const LastNumbers& numbers) override {
    for (const auto& [table, number] : numbers) {
      if (table == "events" || number == 0)
        continue;  // SQLite counts on from the last that is there
      take(database_->run("DELETE FROM sqlite_sequence WHERE name = ?", table));
      take(database_->run("INSERT INTO sqlite_sequence(name, seq) VALUES(?, ?)", table, number));
    }
  }
  void commit() override {
    take(database_->run("COMMIT"));
    created_.clear();
    take(database_->script("PRAGMA journal_mode=WAL"));
  }

 private:
  Texts texts_;
  fs::path created_;  // goes, unless the work succeeds
  std::optional<FileLock> lock_;
  std::optional<Database> database_;
};

// ---- PostgreSQL ----

constexpr std::int64_t kSilentMs = 5000;  // a node that was not seen for this long serves no more

std::shared_ptr<Connection> connect(const std::string& url) {
  return take(Connection::open({.url = url, .name = "plackett migrate"}));
}

// Keeps nodes from joining, and servers that are alone, until the transaction and the connection
// end; fails if there are some.
void keep_servers_out(Connection& connection) {
  take(connection.send("SET LOCAL lock_timeout = '5s'"));
  if (const auto locked = connection.run("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE"); !locked) {
    if (connection.state() != "55P03") throw Failed{locked.error()};
    throw Failed{{ErrorCode::kConflict, "is being served; stop its nodes"}};
  }
  const auto node = take(connection.first(
      "SELECT id, name FROM nodes WHERE seen_at > extract(epoch FROM clock_timestamp()) * 1000 - "
      "$1 "
      "ORDER BY seen_at DESC LIMIT 1",
      [](const postgres::Row& row) {
        return fmt::format("{}{}", row.integer(0),
                           row.text(1).empty() ? "" : fmt::format(" ({})", row.text(1)));
      },
      kSilentMs));
  if (node) {
    throw Failed{{ErrorCode::kConflict,
                  fmt::format("node {} serves it; stop it, or wait {} s if it has died", *node,
                              kSilentMs / 1000)}};
  }
  if (!take(connection.integer<bool>(
          "SELECT pg_try_advisory_lock($1::int, ((SELECT oid FROM pg_namespace WHERE nspname = "
          "current_schema())::bigint & 2147483647)::int)::int",
          postgres::kLockSpace))) {
    throw Failed{{ErrorCode::kConflict, "is being served; stop its server"}};
  }
}

class PostgresSource : public Source {
 public:
  explicit PostgresSource(const std::string& url) : connection_(connect(url)) {
    take(postgres::check_schema(*connection_));
    take(connection_->begin());
    take(connection_->send("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
    keep_servers_out(*connection_);
  }

  std::uint64_t count(const Table& table) override {
    return take(connection_->integer<std::uint64_t>(
        texts_.keep(fmt::format("SELECT count(*) FROM {}", table.name))));
  }
  void each(const Table& table, const std::function<void(const Cells&)>& row) override {
    take(connection_->send(
        texts_.keep(fmt::format("DECLARE of_{} NO SCROLL CURSOR FOR SELECT {} FROM {} ORDER BY {}",
                                table.name, column_names(table), table.name, table.key))));
    const std::string_view fetch =
        texts_.keep(fmt::format("FETCH {} FROM of_{}", table.rows_at_once, table.name));
    Cells cells;
    for (int rows = table.rows_at_once; rows == table.rows_at_once;) {
      rows = 0;
      take(connection_->each(fetch, [&](const postgres::Row& one) {
        ++rows;
        read_cells(one, table, cells);
        row(cells);
      }));
    }
  }
  std::vector<std::vector<std::int64_t>> queued_log() override {
    return take(connection_->all(
        "SELECT model, kind, argument, at FROM queued_log ORDER BY id", [](const auto& row) {
          return std::vector{row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
        }));
  }
  LastNumbers last_numbers() override {
    const auto last = [&](std::string_view sequence, std::int64_t block) {
      return take(connection_->integer(
          texts_.keep(fmt::format("SELECT CASE WHEN is_called THEN last_value + {} ELSE 0 END "
                                  "FROM {}",
                                  block - 1, sequence))));
    };
    return {{"models", last("model_ids", 1)},
            {"item_versions", last("item_version_blocks", postgres::kNumbersInBlock)},
            {"events", last("event_numbers", 1)},
            {"snapshots", last("snapshot_ids", 1)},
            {"experiments", last("experiment_ids", 1)}};
  }

 private:
  Texts texts_;
  std::shared_ptr<Connection> connection_;
};

class PostgresTarget : public Target {
 public:
  explicit PostgresTarget(const std::string& url) : connection_(connect(url)) {
    take(postgres::make_schema(*connection_));
    take(connection_->begin());
    keep_servers_out(*connection_);
  }

  std::uint64_t count(const Table& table) override {
    return take(connection_->integer<std::uint64_t>(
        texts_.keep(fmt::format("SELECT count(*) FROM {}", stored_in(table)))));
  }
  void insert(const Table& table, const Cells& cells) override {
    std::vector<postgres::Value> values;
    for (std::size_t at = 0; at < cells.size(); ++at) {
      values.push_back(value_of(cells[at], table.columns[at].type));
    }
    take(connection_->send_all(insert_into(table), values));
    // Answers take memory until they are read.
    if (++unread_ % kUnread == 0) take(connection_->run("SELECT 1"));
  }
  std::int64_t last_log() override { return take(connection_->integer(kLastLog)); }
  void set_last_numbers(const LastNumbers& numbers) override {
    const auto raise = [&](std::string_view sequence, std::int64_t last) {
      if (last == 0) return;
      take(connection_->run(
          texts_.keep(fmt::format("SELECT setval('{}', greatest($1, last_value)) FROM {}", sequence,
                                  sequence)),
          last));
    };
    raise("model_ids", numbers.at("models"));
    raise("snapshot_ids", numbers.at("snapshots"));
    raise("experiment_ids", numbers.at("experiments"));
    raise("event_numbers", numbers.at("events"));
    // The next block is above the last value.
    raise("item_version_blocks", numbers.at("item_versions"));
    raise("log_blocks", last_log());
    // Nodes take a revision of 0 for a model that is being made.
    take(connection_->run("UPDATE models SET revision = 1"));
  }
  void commit() override {
    const auto done = connection_->commit();
    if (done) {
      // What was there for the planner was of empty tables.
      [[maybe_unused]] const auto analysed = connection_->script("ANALYZE");
      return;
    }
    if (!connection_->in_doubt()) throw Failed{done.error()};
    throw Failed{{ErrorCode::kUnavailable,
                  "the connection was lost during the commit: the store is there whole, or empty"}};
  }

 private:
  static constexpr int kUnread = 500;

  static const char* stored_in(const Table& table) {
    return table.parts != nullptr ? table.parts : table.name;
  }
  static postgres::Value value_of(const Cell& cell, Column::Type type) {
    if (std::holds_alternative<std::nullptr_t>(cell)) {
      if (type == Column::Type::kInteger) return postgres::NullInteger{};
      if (type == kReal) return postgres::NullReal{};
      return postgres::NullIfEmpty{};
    }
    return std::visit(
        [](const auto& value) -> postgres::Value {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::nullptr_t>) {
            return postgres::NullInteger{};
          } else {
            return value;
          }
        },
        cell);
  }
  std::string_view insert_into(const Table& table) {
    std::string_view& text = inserts_[table.name];
    if (!text.empty()) return text;
    std::vector<std::string> marks;
    for (std::size_t at = 1; at <= table.columns.size(); ++at)
      marks.push_back(fmt::format("${}", at));
    // What came from another store is no node's.
    std::string more_names;
    std::string more_values;
    if (table.parts != nullptr) {
      more_names = ", node";
      more_values = ", 0";
    } else if (table.name == std::string_view("responses")) {
      more_names = ", shown_at";
      more_values = ", coalesce((SELECT shown_at FROM impressions WHERE id = $1), 0)";
    }
    return text = texts_.keep(fmt::format("INSERT INTO {}({}{}) VALUES({}{})", stored_in(table),
                                          column_names(table), more_names, fmt::join(marks, ", "),
                                          more_values));
  }

  Texts texts_;
  std::shared_ptr<Connection> connection_;
  std::map<std::string_view, std::string_view> inserts_;
  std::uint64_t unread_ = 0;
};

// ---- both ----

class Migration {
 public:
  Migration(const MigrateOptions& options, Source& source, Target& target)
      : options_(options), source_(source), target_(target) {}

  Migrated run() {
    in_target([&] {
      for (const Table& table : tables()) {
        if (target_.count(table) > 0) {
          throw Failed{
              {ErrorCode::kConflict,
               fmt::format("holds a store already (rows in {}); nothing was copied", table.name)}};
        }
      }
    });
    std::map<std::string_view, std::uint64_t> rows;
    in_source([&] {
      for (const Table& table : tables()) total_ += rows[table.name] = source_.count(table);
    });
    for (const Table& table : tables()) copy(table);
    const LastNumbers numbers = in_source([&] { return source_.last_numbers(); });
    in_target([&] {
      rows["log"] += append_queued();
      for (const Table& table : tables()) {
        if (const std::uint64_t there = target_.count(table); there != rows[table.name]) {
          throw Failed{Error{fmt::format("{} of {} rows of {} arrived; nothing was kept", there,
                                         rows[table.name], table.name)}};
        }
      }
      target_.set_last_numbers(numbers);
      target_.commit();
    });
    return {.models = rows["models"], .impressions = rows["impressions"], .rows = done_};
  }

 private:
  template <typename Work>
  std::invoke_result_t<Work> in(const std::string& db, const Work& work) {
    auto result = attempt(work);
    if (result) return take(std::move(result));
    if (result.error().code == ErrorCode::kStopped) throw Failed{result.error()};
    throw Failed{result.error().in(shown_name(db))};
  }
  template <typename Work>
  std::invoke_result_t<Work> in_source(const Work& work) {
    return in(options_.from, work);
  }
  template <typename Work>
  std::invoke_result_t<Work> in_target(const Work& work) {
    return in(options_.to, work);
  }

  void copy(const Table& table) {
    constexpr std::uint64_t kBetweenReports = 100;
    const auto report = [&] {
      if (options_.progress) options_.progress(table.name, done_, total_);
      if (options_.stop_requested && options_.stop_requested()) {
        throw Failed{{ErrorCode::kStopped, "stopped; nothing was kept"}};
      }
    };
    report();
    std::optional<Error> refused;  // by the target, whose name belongs to it
    const auto copied = attempt([&] {
      source_.each(table, [&](const Cells& cells) {
        if (auto inserted = attempt([&] { target_.insert(table, cells); }); !inserted) {
          refused = inserted.error();
          throw Failed{*refused};
        }
        if (++done_ % kBetweenReports == 0) report();
      });
    });
    if (copied) return;
    if (copied.error().code == ErrorCode::kStopped) throw Failed{copied.error()};
    throw Failed{
        copied.error().in(table.name).in(shown_name(refused ? options_.to : options_.from))};
  }

  std::uint64_t append_queued() {
    const auto queued = source_.queued_log();
    std::int64_t seq = queued.empty() ? 0 : target_.last_log();
    const Table& log = *std::find_if(tables().begin(), tables().end(), [](const Table& table) {
      return table.name == std::string_view("log");
    });
    for (const std::vector<std::int64_t>& values : queued) {
      Cells cells = {++seq};
      cells.insert(cells.end(), values.begin(), values.end());
      target_.insert(log, cells);
      ++done_;
    }
    return queued.size();
  }

  const MigrateOptions& options_;
  Source& source_;
  Target& target_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

template <typename Side>
auto open_side(const std::string& db) {
  auto side = attempt([&] { return std::make_unique<Side>(db); });
  if (side) return *std::move(side);
  // Some errors name the place already.
  const Error& error = side.error();
  const bool is_named = error.message.starts_with(shown_name(db) + ": ");
  throw Failed{is_named ? error : error.in(shown_name(db))};
}

}  // namespace

Result<Migrated> migrate(const MigrateOptions& options) {
  return attempt([&] {
    take(check_name(options.from));
    take(check_name(options.to));
    const bool to_postgres = is_postgres(options.to);
    if (is_postgres(options.from) == to_postgres) {
      throw Failed{Error{to_postgres
                             ? "both stores are in PostgreSQL; copy the database with pg_dump"
                             : "both stores are files; copy a file with plackett backup"}};
    }
    std::unique_ptr<Source> source;
    std::unique_ptr<Target> target;
    if (to_postgres) {
      source = open_side<SqliteSource>(options.from);
      target = open_side<PostgresTarget>(options.to);
    } else {
      source = open_side<PostgresSource>(options.from);
      target = open_side<SqliteTarget>(options.to);
    }
    return Migration(options, *source, *target).run();
  });
}

}  // namespace plackett::store
