// A store that moves between the databases. That models are the same to the bit afterwards is
// tested with the command, in tests/apps/migrate_test.cc.
#include "store/migrate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "serving/store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres.h"
#include "support/run_command.h"

namespace plackett::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::PostgresServer;
using ::testing::StartsWith;
using testing::TemporaryFolder;

constexpr int kRowsPerTable = 1234;  // per table; several times what is read at once

using Rows = std::vector<std::vector<std::string>>;

// What SQL gives in a file; the values as SQL would write them.
Rows query(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  Rows rows;
  char* message = nullptr;
  sqlite3_exec(
      database, sql.c_str(),
      [](void* into, int count, char** values, char** /*names*/) {
        auto& row = static_cast<Rows*>(into)->emplace_back();
        for (int at = 0; at < count; ++at)
          row.emplace_back(values[at] == nullptr ? "" : values[at]);
        return 0;
      },
      &rows, &message);
  EXPECT_EQ(message, nullptr) << message << ": " << sql;
  sqlite3_free(message);
  sqlite3_close(database);
  return rows;
}

std::vector<std::string> tables_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& row : query(path,
                               "SELECT name FROM sqlite_master WHERE type = 'table' AND name "
                               "NOT LIKE 'sqlite%' ORDER BY name")) {
    names.push_back(row[0]);
  }
  return names;
}

struct Column {
  std::string name;
  std::string type;
  bool may_be_null;
};

std::vector<Column> columns_of(const std::string& path, const std::string& table) {
  std::vector<Column> columns;
  for (const auto& row : query(path, "PRAGMA table_info(" + table + ")")) {
    columns.push_back({row[1], row[2], row[3] == "0" && row[5] == "0"});
  }
  return columns;
}

// A value that no other row of the column has.
std::string value_of(const Column& column, int row, int at) {
  if (column.may_be_null && (row + at) % 3 == 0) return "NULL";
  if (column.type == "INTEGER") return fmt::format("{}", row * 1'000'003LL);
  if (column.type == "REAL") return fmt::format("{}", row / 7.0);
  if (column.type == "TEXT") return fmt::format("'{} \"O''Neill\" \\ é\n{}'", row, at);
  return row % 5 == 0 ? "x''" : fmt::format("x'00ff{:08x}'", row);
}

// Every column of every table has values, and NULL where it may.
void fill_store(const std::string& path) {
  {
    const auto store = open_sqlite({.path = path});
    ASSERT_TRUE(store.ok()) << store.error().message;
    (*store)->close();
  }
  for (const std::string& table : tables_in(path)) {
    const auto columns = columns_of(path, table);
    std::string sql = "BEGIN;";
    for (int row = 1; row <= kRowsPerTable; ++row) {
      sql += "INSERT INTO " + table + " VALUES(";
      for (int at = 0; const Column& column : columns) {
        sql += (at > 0 ? ", " : "") + value_of(column, row, at);
        ++at;
      }
      sql += ");";
    }
    query(path, sql + "COMMIT;");
  }
}

std::map<std::string, Rows> dump(const std::string& path) {
  std::map<std::string, Rows> all;
  for (const std::string& table : tables_in(path)) {
    std::string values;
    for (const Column& column : columns_of(path, table)) {
      values += (values.empty() ? "" : ", ") + fmt::format("quote({})", column.name);
    }
    all[table] = query(path, "SELECT " + values + " FROM " + table + " ORDER BY 1, 2, 3");
  }
  return all;
}

std::string error_of(const Result<Migrated>& result) {
  return result.ok() ? "no error" : result.error().message;
}

class Migrate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << PostgresServer::kMissing;
    url_ = PostgresServer::shared().new_database();
    fill_store(file_);
  }
  [[nodiscard]] std::string ask(const std::string& sql) const {
    const auto rows = PostgresServer::query(url_, sql);
    return rows.empty() ? "" : rows[0][0];
  }
  [[nodiscard]] Result<Migrated> to_postgres() const {
    return migrate({.from = file_, .to = url_});
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "shop.db";
  std::string back_ = folder_ / "back.db";
  std::string url_;
};

TEST_F(Migrate, EveryRowOfEveryTableComesBack) {
  const auto there = to_postgres();
  ASSERT_TRUE(there.ok()) << there.error().message;
  EXPECT_EQ(there->models, kRowsPerTable);
  EXPECT_EQ(there->rows, kRowsPerTable * tables_in(file_).size());
  const auto back = migrate({.from = url_, .to = back_});
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->rows, there->rows);
  const auto before = dump(file_);
  const auto after = dump(back_);
  ASSERT_EQ(before.size(), after.size());
  for (const auto& [table, rows] : before) {
    EXPECT_EQ(rows.size(), kRowsPerTable);
    EXPECT_EQ(rows, after.at(table)) << table;
  }
  EXPECT_EQ(query(back_, "PRAGMA integrity_check")[0][0], "ok");
  EXPECT_EQ(query(back_, "PRAGMA journal_mode")[0][0], "wal");
}

TEST_F(Migrate, TheComparisonWouldFindADifference) {
  ASSERT_TRUE(to_postgres().ok());
  PostgresServer::query(url_, "UPDATE events SET event_id = 'x' WHERE id = 2000006");
  ASSERT_TRUE(migrate({.from = url_, .to = back_}).ok());
  EXPECT_NE(dump(file_).at("events"), dump(back_).at("events"));
}

TEST_F(Migrate, NumbersGoOnAboveThoseThatWereUsed) {
  query(file_, "UPDATE sqlite_sequence SET seq = 5000000000 WHERE name IN ('models', 'snapshots')");
  ASSERT_TRUE(to_postgres().ok());
  const std::int64_t last = kRowsPerTable * 1'000'003LL;
  const auto check = [&](serving::Store& store) {
    ASSERT_TRUE(store.begin().ok());
    EXPECT_GT(store.insert_model({.name = "next"}).value(), 5'000'000'000);
    EXPECT_GT(store.insert_snapshot({.model = 1}).value(), 5'000'000'000);
    EXPECT_GT(store.put_item(1, "next", {}, 0).value(), last);
    EXPECT_GT(store.insert_experiment({.model = 1, .name = "next"}).value(), last);
    EXPECT_GT(store.append_log({.model = 1, .kind = serving::LogKind::kFreeze}, 5)->seq, last);
    EXPECT_TRUE(store.add_event({.impression = 1}).ok());
    ASSERT_TRUE(store.commit().ok());
    store.close();
  };
  {
    const auto store = open_postgres({.url = url_});
    ASSERT_TRUE(store.ok()) << store.error().message;
    check(**store);
  }
  EXPECT_EQ(ask("SELECT min(revision) FROM models WHERE name <> 'next'"), "1");
  ASSERT_TRUE(migrate({.from = url_, .to = back_}).ok());
  PostgresServer::query(url_, "DELETE FROM models WHERE name = 'next'");
  query(back_,
        "DELETE FROM models WHERE name = 'next'; DELETE FROM experiments WHERE name = 'next'");
  const auto store = open_sqlite({.path = back_});
  ASSERT_TRUE(store.ok()) << store.error().message;
  check(**store);
}

TEST_F(Migrate, WhatIsQueuedForTheLogIsAppendedToIt) {
  ASSERT_TRUE(to_postgres().ok());
  PostgresServer::query(url_,
                        "INSERT INTO queued_log(model, kind, argument, at) VALUES(7, 1, 70, 1), "
                        "(8, 2, 80, 2)");
  ASSERT_TRUE(migrate({.from = url_, .to = back_}).ok());
  const std::int64_t last = kRowsPerTable * 1'000'003LL;
  // Of all that can name a log entry: entries, snapshots and what models have dropped.
  EXPECT_EQ(
      query(back_, "SELECT seq, model, kind, argument, at FROM log ORDER BY seq DESC LIMIT 2"),
      (Rows{{std::to_string(last + 2), "8", "2", "80", "2"},
            {std::to_string(last + 1), "7", "1", "70", "1"}}));
}

TEST_F(Migrate, SumsOfSeveralNodesBecomeOneRow) {
  ASSERT_TRUE(to_postgres().ok());
  PostgresServer::query(
      url_,
      "INSERT INTO series_parts SELECT model, at, 9, 1, 2, 3, 0.5, 0.25, 4, 8 FROM "
      "series_parts WHERE model = 1000003");
  ASSERT_TRUE(migrate({.from = url_, .to = back_}).ok());
  EXPECT_EQ(query(back_, "SELECT impressions, clicks, updates FROM series WHERE model = 1000003"),
            (Rows{{"1000004", "1000006", "1000007"}}));
}

TEST_F(Migrate, AStoreThatHoldsRowsIsLeftAlone) {
  ASSERT_TRUE(to_postgres().ok());
  const auto before = dump(file_);
  EXPECT_THAT(error_of(to_postgres()), HasSubstr("holds a store already (rows in models)"));
  EXPECT_THAT(error_of(migrate({.from = url_, .to = file_})),
              StartsWith(file_ + ": holds a store already"));
  EXPECT_EQ(dump(file_), before);
  PostgresServer::query(url_, "DELETE FROM models");
  EXPECT_THAT(error_of(to_postgres()), HasSubstr("rows in items"));
}

TEST_F(Migrate, AStoreThatIsServedIsNotCopied) {
  {
    const auto store = open_sqlite({.path = file_});
    ASSERT_TRUE(store.ok());
    EXPECT_EQ(error_of(to_postgres()), file_ + ": is being served; stop its server");
  }
  ASSERT_TRUE(to_postgres().ok());
  {
    const auto alone = open_postgres({.url = url_});
    ASSERT_TRUE(alone.ok()) << alone.error().message;
    EXPECT_THAT(error_of(migrate({.from = url_, .to = back_})), HasSubstr("is being served"));
  }
  PostgresServer::query(
      url_,
      "INSERT INTO nodes(id, name, tag, started_at, seen_at) VALUES(7, 'one', 't', 0, "
      "(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1000)");
  EXPECT_THAT(error_of(migrate({.from = url_, .to = back_})),
              HasSubstr("node 7 (one) serves it; stop it, or wait 5 s if it has died"));
  EXPECT_THAT(error_of(to_postgres()), HasSubstr("node 7 (one) serves it"));
  EXPECT_FALSE(fs::exists(back_));
  // One that has died does not matter.
  PostgresServer::query(url_, "UPDATE nodes SET seen_at = seen_at - 5000");
  EXPECT_EQ(error_of(migrate({.from = url_, .to = back_})), "no error");
}

TEST_F(Migrate, StoppingLeavesNothing) {
  int polls = 0;
  const auto stop = [&] { return ++polls > 20; };
  auto stopped = migrate({.from = file_, .to = url_, .stop_requested = stop});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kStopped);
  EXPECT_EQ(ask("SELECT count(*) FROM models"), "0");
  ASSERT_TRUE(to_postgres().ok());  // it is empty
  polls = 0;
  stopped = migrate({.from = url_, .to = back_, .stop_requested = stop});
  ASSERT_FALSE(stopped.ok());
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().string(), StartsWith("shop.db"));
  }
}

TEST_F(Migrate, ATextThatPostgresCannotHoldIsNamed) {
  query(file_, "UPDATE models SET name = CAST(x'6100' AS TEXT) WHERE id = 1000003");
  EXPECT_THAT(error_of(to_postgres()), HasSubstr("models: "));
  EXPECT_EQ(ask("SELECT count(*) FROM models"), "0");
}

TEST_F(Migrate, WrongNamesAreRefused) {
  EXPECT_THAT(error_of(migrate({.from = folder_ / "none.db", .to = url_})),
              HasSubstr("none.db: can't open"));
  EXPECT_FALSE(fs::exists(folder_ / "none.db"));
  std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
  EXPECT_THAT(error_of(migrate({.from = folder_ / "text.db", .to = url_})), HasSubstr("text.db: "));
  EXPECT_THAT(error_of(migrate({.from = url_, .to = back_})), HasSubstr("not a plackett store"));
  EXPECT_FALSE(fs::exists(back_));
  EXPECT_THAT(error_of(migrate({.from = file_, .to = back_})), HasSubstr("plackett backup"));
  EXPECT_THAT(error_of(migrate({.from = url_, .to = url_})), HasSubstr("pg_dump"));
  EXPECT_THAT(error_of(migrate({.from = file_, .to = ""})), HasSubstr("an empty name"));
  EXPECT_THAT(
      error_of(migrate({.from = file_, .to = "postgresql://u:secret@127.0.0.1:1/x"})),
      ::testing::AllOf(HasSubstr("u:***@127.0.0.1:1"), ::testing::Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace plackett::store
