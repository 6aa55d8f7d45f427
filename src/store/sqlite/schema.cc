#include "store/sqlite/schema.h"

#include <fmt/format.h>

namespace plackett::store {
namespace {

constexpr std::int64_t kApplication = 0x504C4B53;  // "PLKS", in the file's header
constexpr std::int64_t kVersion = 1;

constexpr const char* kTables = R"sql(
CREATE TABLE models(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  spec TEXT NOT NULL,
  next_number INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  dropped_log INTEGER NOT NULL DEFAULT 0);
CREATE TABLE items(
  model INTEGER NOT NULL, id TEXT NOT NULL, features BLOB NOT NULL,
  PRIMARY KEY(model, id)) WITHOUT ROWID;
CREATE TABLE impressions(
  id INTEGER PRIMARY KEY, shown_at INTEGER NOT NULL, version INTEGER NOT NULL,
  given TEXT, data BLOB NOT NULL);
CREATE TABLE given_ids(
  model INTEGER NOT NULL, given TEXT NOT NULL, impression INTEGER NOT NULL,
  PRIMARY KEY(model, given)) WITHOUT ROWID;
CREATE TABLE responses(
  impression INTEGER PRIMARY KEY, clicked BLOB NOT NULL, viewed BLOB NOT NULL,
  closed INTEGER NOT NULL);
CREATE INDEX waiting ON responses(impression) WHERE closed = 0;
CREATE TABLE events(
  id INTEGER PRIMARY KEY, impression INTEGER NOT NULL, rank INTEGER, kind INTEGER NOT NULL,
  at INTEGER NOT NULL, event_id TEXT);
CREATE INDEX events_of ON events(impression);
CREATE UNIQUE INDEX event_ids ON events(impression >> 40, event_id) WHERE event_id IS NOT NULL;
CREATE TABLE log(
  seq INTEGER PRIMARY KEY, model INTEGER NOT NULL, kind INTEGER NOT NULL,
  argument INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE INDEX log_of ON log(model, seq);
CREATE INDEX log_about ON log(argument) WHERE kind IN (1, 2);
CREATE INDEX log_rollbacks ON log(argument) WHERE kind = 3;
CREATE TABLE snapshots(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model INTEGER NOT NULL, log INTEGER NOT NULL, created_at INTEGER NOT NULL,
  kind INTEGER NOT NULL, note TEXT NOT NULL, version INTEGER NOT NULL, updates INTEGER NOT NULL,
  learned INTEGER NOT NULL, learning INTEGER NOT NULL, frozen_because TEXT NOT NULL,
  file BLOB NOT NULL);
CREATE INDEX snapshots_of ON snapshots(model, id);
CREATE TABLE series(
  model INTEGER NOT NULL, at INTEGER NOT NULL,
  impressions INTEGER NOT NULL, clicked INTEGER NOT NULL, clicks INTEGER NOT NULL,
  reciprocal_ranks REAL NOT NULL, entropies REAL NOT NULL,
  updates INTEGER NOT NULL, update_norms REAL NOT NULL,
  PRIMARY KEY(model, at)) WITHOUT ROWID;
)sql";

}  // namespace

Result<void> check_schema(Database& database) {
  return attempt([&] {
    if (take(database.integer("PRAGMA application_id")) != kApplication) {
      throw Failed{Error{"not a plackett store"}};
    }
    const std::int64_t version = take(database.integer("PRAGMA user_version"));
    if (version == kVersion) return;
    throw Failed{Error{
        fmt::format("a store of version {}; this plackett reads version {}", version, kVersion)}};
  });
}

Result<void> write_version(Database& database) {
  return database.script(fmt::format("PRAGMA user_version={}", kVersion));
}

Result<void> make_schema(Database& database) {
  auto tables = database.integer("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  if (*tables > 0) return check_schema(database);
  return database.script(
      fmt::format("BEGIN IMMEDIATE; PRAGMA application_id={}; "
                  "PRAGMA user_version={}; {} COMMIT;",
                  kApplication, kVersion, kTables));
}

}  // namespace plackett::store
