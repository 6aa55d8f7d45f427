#include "store/sqlite/schema.h"

#include <fmt/format.h>

namespace plackett::store {
namespace {

constexpr std::int64_t kApplication = 0x504C4B53;  // "PLKS", in the file's header
constexpr std::int64_t kVersion = 4;

constexpr const char* kTables = R"sql(
CREATE TABLE models(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  spec TEXT NOT NULL,
  next_number INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  dropped_log INTEGER NOT NULL DEFAULT 0);
CREATE TABLE impressions(
  id INTEGER PRIMARY KEY, shown_at INTEGER NOT NULL, version INTEGER NOT NULL, given TEXT,
  unit TEXT, mode INTEGER, keep REAL, kept INTEGER, shown TEXT, context TEXT, data BLOB NOT NULL);
CREATE TABLE given_ids(
  model INTEGER NOT NULL, given TEXT NOT NULL, impression INTEGER NOT NULL,
  PRIMARY KEY(model, given)) WITHOUT ROWID;
CREATE TABLE responses(
  impression INTEGER PRIMARY KEY, clicked BLOB NOT NULL, viewed BLOB NOT NULL,
  closed INTEGER NOT NULL);
CREATE INDEX waiting ON responses(impression) WHERE closed = 0;
CREATE TABLE events(
  id INTEGER PRIMARY KEY, impression INTEGER NOT NULL, rank INTEGER, kind INTEGER NOT NULL,
  name TEXT, at INTEGER NOT NULL, event_id TEXT);
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

// What version 2 has besides: versions of items, and units.
constexpr const char* kAddedByVersion2 = R"sql(
CREATE TABLE item_versions(
  version INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, id TEXT NOT NULL,
  until INTEGER, features BLOB NOT NULL);
CREATE INDEX item_versions_of ON item_versions(model, until);
CREATE TABLE items(
  model INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY(model, id)) WITHOUT ROWID;
CREATE INDEX kept_lists ON impressions(id) WHERE kept = 1;
CREATE INDEX units ON impressions(id >> 40, unit) WHERE unit IS NOT NULL;
)sql";

// What version 3 has besides: experiments, and what is served if a request does not say.
constexpr const char* kAddedByVersion3 = R"sql(
ALTER TABLE impressions ADD COLUMN experiment INTEGER;
ALTER TABLE impressions ADD COLUMN arm TEXT;
ALTER TABLE impressions ADD COLUMN teams TEXT;
ALTER TABLE snapshots ADD COLUMN serves INTEGER NOT NULL DEFAULT 0;
DROP INDEX log_rollbacks;
CREATE INDEX log_loads ON log(argument) WHERE kind IN (3, 6, 7, 8);
CREATE TABLE experiments(
  id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, name TEXT NOT NULL,
  spec TEXT NOT NULL, state TEXT NOT NULL, started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL DEFAULT 0, UNIQUE(model, name));
CREATE TABLE experiment_arms(
  experiment INTEGER NOT NULL, arm INTEGER NOT NULL,
  impressions INTEGER NOT NULL, clicks INTEGER NOT NULL, units REAL NOT NULL, x_units REAL NOT NULL,
  y_units REAL NOT NULL, x REAL NOT NULL, y REAL NOT NULL, xx REAL NOT NULL, xy REAL NOT NULL, yy REAL NOT NULL,
  PRIMARY KEY(experiment, arm)) WITHOUT ROWID;
CREATE TABLE experiment_points(
  experiment INTEGER NOT NULL, at INTEGER NOT NULL, arm INTEGER NOT NULL,
  impressions INTEGER NOT NULL, clicks INTEGER NOT NULL, units REAL NOT NULL, x_units REAL NOT NULL,
  y_units REAL NOT NULL, x REAL NOT NULL, y REAL NOT NULL, xx REAL NOT NULL, xy REAL NOT NULL, yy REAL NOT NULL,
  PRIMARY KEY(experiment, at, arm)) WITHOUT ROWID;
CREATE TABLE experiment_units(
  experiment INTEGER NOT NULL, unit INTEGER NOT NULL, x REAL NOT NULL, y REAL NOT NULL,
  PRIMARY KEY(experiment, unit)) WITHOUT ROWID;
DROP VIEW IF EXISTS shown_items;
DROP VIEW IF EXISTS item_events;
)sql";

// What version 4 has besides: how uneven values are. NULL, and so it stays, in rows of older
// experiments.
constexpr const char* kAddedByVersion4 = R"sql(
ALTER TABLE experiment_arms ADD COLUMN v REAL;
ALTER TABLE experiment_arms ADD COLUMN vv REAL;
ALTER TABLE experiment_points ADD COLUMN v REAL;
ALTER TABLE experiment_points ADD COLUMN vv REAL;
)sql";

// Views for SQL.
constexpr const char* kViews = R"sql(
CREATE VIEW shown_items AS
SELECT models.name AS model, coalesce(i.given, 'i-' || (i.id & 1099511627775)) AS impression,
  i.shown_at, datetime(i.shown_at / 1000, 'unixepoch') AS time, i.version,
  coalesce(i.arm, CASE i.mode WHEN 0 THEN 'explore' WHEN 1 THEN 'exploit' WHEN 2 THEN 'given'
    WHEN 3 THEN 'interleaved' END) AS arm,
  i.unit, j.key + 1 AS rank, json_extract(j.value, '$[0]') AS item,
  json_extract(j.value, '$[1]') AS score, json_extract(j.value, '$[2]') AS propensity,
  coalesce(json_extract(j.value, '$[3]'), 0) AS pinned,
  coalesce(substr(r.clicked, j.key + 1, 1) = x'01', 0) AS clicked,
  coalesce(substr(r.viewed, j.key + 1, 1) = x'01', 0) AS viewed,
  coalesce(substr(r.clicked, j.key + 1, 1) = x'01', 0) + coalesce((SELECT
    sum(json_extract(models.spec, '$.events."' || e.name || '"')) FROM events AS e
    WHERE e.impression = i.id AND e.kind = 3 AND e.rank = j.key), 0) AS reward,
  coalesce(r.closed, 0) <> 0 OR (i.id & 1099511627775) < models.expired AS closed, i.keep, i.kept, i.context,
  experiments.name AS experiment
FROM impressions AS i JOIN models ON models.id = i.id >> 40, json_each(i.shown) AS j
LEFT JOIN responses AS r ON r.impression = i.id
LEFT JOIN experiments ON experiments.id = i.experiment;
CREATE VIEW item_events AS
SELECT models.name AS model, coalesce(i.given, 'i-' || (i.id & 1099511627775)) AS impression,
  i.unit, e.at, datetime(e.at / 1000, 'unixepoch') AS time,
  CASE e.kind WHEN 0 THEN 'click' WHEN 1 THEN 'view' WHEN 2 THEN 'close' ELSE e.name END AS event,
  e.rank + 1 AS rank, json_extract(i.shown, '$[' || e.rank || '][0]') AS item, e.event_id
FROM events AS e JOIN impressions AS i ON i.id = e.impression AND i.shown IS NOT NULL
JOIN models ON models.id = i.id >> 40;
)sql";

constexpr const char* kFromVersion1 = R"sql(
ALTER TABLE impressions ADD COLUMN unit TEXT;
ALTER TABLE impressions ADD COLUMN mode INTEGER;
ALTER TABLE impressions ADD COLUMN keep REAL;
ALTER TABLE impressions ADD COLUMN kept INTEGER;
ALTER TABLE impressions ADD COLUMN shown TEXT;
ALTER TABLE impressions ADD COLUMN context TEXT;
ALTER TABLE events ADD COLUMN name TEXT;
ALTER TABLE items RENAME TO items_1;
)sql";

constexpr const char* kItemsFromVersion1 = R"sql(
INSERT INTO item_versions(model, id, features) SELECT model, id, features FROM items_1;
INSERT INTO items(model, id, version) SELECT model, id, version FROM item_versions;
DROP TABLE items_1;
)sql";

// Let a connection that can't write read a store of an older version: what that has not is empty.
constexpr const char* kViewsOfVersion1 = R"sql(
CREATE TEMP VIEW impressions AS SELECT id, shown_at, version, given, NULL AS unit, NULL AS mode,
  NULL AS keep, NULL AS kept, NULL AS shown, NULL AS context, data, NULL AS experiment,
  NULL AS arm, NULL AS teams FROM main.impressions;
CREATE TEMP VIEW events AS SELECT *, NULL AS name FROM main.events;
CREATE TEMP VIEW item_versions AS SELECT row_number() OVER (ORDER BY model, id) AS version, model,
  id, NULL AS until, features FROM main.items;
CREATE TEMP VIEW items AS SELECT model, id, version FROM item_versions;
)sql";
constexpr const char* kViewsOfVersion2 = R"sql(
CREATE TEMP VIEW impressions AS SELECT *, NULL AS experiment, NULL AS arm, NULL AS teams FROM
  main.impressions;
)sql";
constexpr const char* kViewsBeforeVersion3 = R"sql(
CREATE TEMP VIEW snapshots AS SELECT *, 0 AS serves FROM main.snapshots;
CREATE TEMP TABLE experiments(id, model, name, spec, state, started_at, ended_at);
CREATE TEMP TABLE experiment_arms(
  experiment, arm, impressions, clicks, units, x_units, y_units, x, y, xx, xy, yy, v, vv);
CREATE TEMP TABLE experiment_points(
  experiment, at, arm, impressions, clicks, units, x_units, y_units, x, y, xx, xy, yy, v, vv);
CREATE TEMP TABLE experiment_units(experiment, unit, x, y);
)sql";
constexpr const char* kViewsOfVersion3 = R"sql(
CREATE TEMP VIEW experiment_arms AS SELECT *, NULL AS v, NULL AS vv FROM main.experiment_arms;
CREATE TEMP VIEW experiment_points AS SELECT *, NULL AS v, NULL AS vv FROM main.experiment_points;
)sql";

// Fails if the file is no store of a version that this code can read.
std::int64_t version_of(Database& database) {
  if (take(database.integer("PRAGMA application_id")) != kApplication) {
    throw Failed{Error{"not a plackett store"}};
  }
  const std::int64_t version = take(database.integer("PRAGMA user_version"));
  if (version >= 1 && version <= kVersion) return version;
  throw Failed{Error{fmt::format("a store of version {}; this plackett reads versions 1 to {}",
                                 version, kVersion)}};
}

}  // namespace

Result<void> ready_to_read(Database& database) {
  return attempt([&] {
    const std::int64_t version = version_of(database);
    if (version == kVersion) return;
    if (version == 3) return take(database.script(kViewsOfVersion3));
    take(database.script(version == 1 ? kViewsOfVersion1 : kViewsOfVersion2));
    take(database.script(kViewsBeforeVersion3));
  });
}

Result<void> write_version(Database& database) {
  return database.script(fmt::format("PRAGMA user_version={}", kVersion));
}

Result<void> make_schema(Database& database) {
  return attempt([&] {
    std::string changes;
    bool is_version_3 = false;
    if (take(database.integer("SELECT count(*) FROM sqlite_master")) == 0) {
      changes =
          fmt::format("PRAGMA application_id={}; {} {}", kApplication, kTables, kAddedByVersion2);
    } else {
      const std::int64_t version = version_of(database);
      if (version == kVersion) return;
      if (version == 1) {
        changes = fmt::format("{} {} {}", kFromVersion1, kAddedByVersion2, kItemsFromVersion1);
      }
      is_version_3 = version == 3;
    }
    if (!is_version_3) changes += fmt::format("{} {}", kAddedByVersion3, kViews);
    take(database.script(fmt::format("BEGIN IMMEDIATE; {} {} PRAGMA user_version={}; COMMIT;",
                                     changes, kAddedByVersion4, kVersion)));
  });
}

}  // namespace plackett::store
