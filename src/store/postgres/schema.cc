#include "store/postgres/schema.h"

#include <fmt/format.h>

namespace plackett::store::postgres {
namespace {

constexpr std::int64_t kVersion = 4;  // as SQLite's

// Texts that are looked up compare by bytes, as in SQLite, whatever the database's language: an
// update of the system's collations can't damage their indexes.
//
// What every process adds to is kept per process, so that none waits for another: series_parts and
// experiment_arm_parts have one row per node, and views add them up.
constexpr const char* kTables = R"sql(
CREATE TABLE store_format(
  version bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
-- committed: the mark of the last transaction of each process that writes. ended: the others have
-- ended it, and it may not write any more.
CREATE TABLE store_nodes(
  node bigint PRIMARY KEY, committed bigint NOT NULL, ended bigint NOT NULL DEFAULT 0);

CREATE SEQUENCE node_ids;
CREATE SEQUENCE model_ids;
CREATE SEQUENCE snapshot_ids;
CREATE SEQUENCE experiment_ids;
CREATE SEQUENCE event_numbers;
-- Each value stands for a block of numbers from it on.
CREATE SEQUENCE item_version_blocks INCREMENT BY 1000;
CREATE SEQUENCE log_blocks INCREMENT BY 1000;

CREATE TABLE models(
  id bigint PRIMARY KEY DEFAULT nextval('model_ids'),
  name text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  spec text NOT NULL,
  next_number bigint NOT NULL DEFAULT 0,
  expired bigint NOT NULL DEFAULT 0,
  dropped_log bigint NOT NULL DEFAULT 0,
  revision bigint NOT NULL DEFAULT 0);
CREATE TABLE impressions(
  id bigint PRIMARY KEY, shown_at bigint NOT NULL, version bigint NOT NULL, given text,
  unit text COLLATE "C", mode bigint, keep double precision, kept bigint, shown text, context text,
  data bytea NOT NULL, experiment bigint, arm text, teams text);
-- Floats do not compress.
ALTER TABLE impressions ALTER COLUMN data SET STORAGE EXTERNAL;
-- The planner's statistics are samples of the values, which the deletion of a unit would not reach.
ALTER TABLE impressions ALTER COLUMN given SET STATISTICS 0, ALTER COLUMN unit SET STATISTICS 0,
  ALTER COLUMN shown SET STATISTICS 0, ALTER COLUMN context SET STATISTICS 0,
  ALTER COLUMN data SET STATISTICS 0;
CREATE INDEX kept_lists ON impressions(id) WHERE kept = 1;
CREATE INDEX units ON impressions((id >> 40), unit, id) WHERE unit IS NOT NULL;
CREATE TABLE given_ids(
  model bigint NOT NULL, given text COLLATE "C" NOT NULL, impression bigint NOT NULL,
  PRIMARY KEY(model, given));
ALTER TABLE given_ids ALTER COLUMN given SET STATISTICS 0;
CREATE TABLE responses(
  impression bigint PRIMARY KEY, clicked bytea NOT NULL, viewed bytea NOT NULL,
  closed bigint NOT NULL, shown_at bigint NOT NULL);
CREATE INDEX waiting ON responses((impression >> 40), shown_at) WHERE closed = 0;
CREATE INDEX waiting_by_number ON responses(impression) WHERE closed = 0;
CREATE TABLE events(
  id bigint PRIMARY KEY DEFAULT nextval('event_numbers'), impression bigint NOT NULL, rank bigint,
  kind bigint NOT NULL, name text, at bigint NOT NULL, event_id text COLLATE "C");
ALTER TABLE events ALTER COLUMN event_id SET STATISTICS 0;
CREATE INDEX events_of ON events(impression);
CREATE UNIQUE INDEX event_ids ON events((impression >> 40), event_id) WHERE event_id IS NOT NULL;
CREATE TABLE log(
  seq bigint PRIMARY KEY, model bigint NOT NULL, kind bigint NOT NULL, argument bigint NOT NULL,
  at bigint NOT NULL);
CREATE INDEX log_of ON log(model, seq);
CREATE INDEX log_about ON log(argument) WHERE kind IN (1, 2);
CREATE INDEX log_loads ON log(argument) WHERE kind IN (3, 6, 7, 8);
CREATE TABLE snapshots(
  id bigint PRIMARY KEY DEFAULT nextval('snapshot_ids'),
  model bigint NOT NULL, log bigint NOT NULL, created_at bigint NOT NULL, kind bigint NOT NULL,
  note text NOT NULL, version bigint NOT NULL, updates bigint NOT NULL, learned bigint NOT NULL,
  learning bigint NOT NULL, frozen_because text NOT NULL, file bytea NOT NULL,
  serves bigint NOT NULL DEFAULT 0);
ALTER TABLE snapshots ALTER COLUMN file SET STORAGE EXTERNAL;
CREATE INDEX snapshots_of ON snapshots(model, id);
CREATE TABLE item_versions(
  version bigint PRIMARY KEY, model bigint NOT NULL, id text COLLATE "C" NOT NULL, until bigint,
  features bytea NOT NULL);
ALTER TABLE item_versions ALTER COLUMN features SET STORAGE EXTERNAL;
CREATE INDEX item_versions_of ON item_versions(model, until);
CREATE TABLE items(
  model bigint NOT NULL, id text COLLATE "C" NOT NULL, version bigint NOT NULL,
  PRIMARY KEY(model, id));
CREATE INDEX items_since ON items(model, version);
-- Other processes learn from it what they must remove; version orders it with those of items.
CREATE TABLE removed_items(
  model bigint NOT NULL, id text COLLATE "C" NOT NULL, version bigint NOT NULL,
  PRIMARY KEY(model, id));
CREATE INDEX removed_since ON removed_items(model, version);
CREATE TABLE series_parts(
  model bigint NOT NULL, at bigint NOT NULL, node bigint NOT NULL,
  impressions bigint NOT NULL, clicked bigint NOT NULL, clicks bigint NOT NULL,
  reciprocal_ranks double precision NOT NULL, entropies double precision NOT NULL,
  updates bigint NOT NULL, update_norms double precision NOT NULL,
  PRIMARY KEY(model, at, node));
CREATE TABLE experiments(
  id bigint PRIMARY KEY DEFAULT nextval('experiment_ids'), model bigint NOT NULL,
  name text COLLATE "C" NOT NULL, spec text NOT NULL, state text NOT NULL,
  started_at bigint NOT NULL, ended_at bigint NOT NULL DEFAULT 0, UNIQUE(model, name));
CREATE TABLE experiment_arm_parts(
  experiment bigint NOT NULL, arm bigint NOT NULL, node bigint NOT NULL,
  impressions bigint NOT NULL, clicks bigint NOT NULL, units double precision NOT NULL,
  x_units double precision NOT NULL, y_units double precision NOT NULL,
  x double precision NOT NULL, y double precision NOT NULL, xx double precision NOT NULL,
  xy double precision NOT NULL, yy double precision NOT NULL, v double precision,
  vv double precision,
  PRIMARY KEY(experiment, arm, node));
CREATE TABLE experiment_points(
  experiment bigint NOT NULL, at bigint NOT NULL, arm bigint NOT NULL,
  impressions bigint NOT NULL, clicks bigint NOT NULL, units double precision NOT NULL,
  x_units double precision NOT NULL, y_units double precision NOT NULL,
  x double precision NOT NULL, y double precision NOT NULL, xx double precision NOT NULL,
  xy double precision NOT NULL, yy double precision NOT NULL, v double precision,
  vv double precision,
  PRIMARY KEY(experiment, at, arm));
-- Several processes. What is not logged follows from the rest: it may be lost in a crash.
CREATE UNLOGGED TABLE nodes(
  id bigint PRIMARY KEY, name text NOT NULL, tag text NOT NULL, started_at bigint NOT NULL,
  seen_at bigint NOT NULL, ranked bigint NOT NULL DEFAULT 0, events bigint NOT NULL DEFAULT 0,
  lag_seconds double precision NOT NULL DEFAULT 0);
-- Who leads a model; epoch: how often that has changed. wanted: who asks for it, 0 if nobody does.
CREATE TABLE leads(
  model bigint PRIMARY KEY, epoch bigint NOT NULL, node bigint NOT NULL,
  wanted bigint NOT NULL DEFAULT 0);
-- The newest state of a model that its leader has published, as in snapshots.
CREATE UNLOGGED TABLE published(
  model bigint PRIMARY KEY, log bigint NOT NULL, created_at bigint NOT NULL,
  version bigint NOT NULL, updates bigint NOT NULL, learned bigint NOT NULL,
  learning bigint NOT NULL, frozen_because text NOT NULL, serves bigint NOT NULL,
  file bytea NOT NULL);
ALTER TABLE published ALTER COLUMN file SET STORAGE EXTERNAL;
-- What the leader is to log.
CREATE TABLE queued_log(
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, model bigint NOT NULL, kind bigint NOT NULL,
  argument bigint NOT NULL, at bigint NOT NULL);
CREATE INDEX queued_of ON queued_log(model, id);
-- Numbers that a process may still give to lists: from low on.
CREATE TABLE number_blocks(
  model bigint NOT NULL, node bigint NOT NULL, first bigint NOT NULL, end_at bigint NOT NULL,
  low bigint NOT NULL, PRIMARY KEY(model, node, first));
-- Ends the transaction if another process has led the model since `epoch`.
CREATE FUNCTION fence(of_model bigint, of_epoch bigint) RETURNS void LANGUAGE plpgsql AS $fence$
BEGIN
  PERFORM 1 FROM leads WHERE model = of_model AND epoch = of_epoch FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another node leads the model' USING ERRCODE = 'PL001';
  END IF;
END $fence$;
CREATE TABLE experiment_units(
  experiment bigint NOT NULL, unit bigint NOT NULL, x double precision NOT NULL,
  y double precision NOT NULL, PRIMARY KEY(experiment, unit));
)sql";

constexpr const char* kViews = R"sql(
CREATE VIEW series AS
SELECT model, at, sum(impressions)::bigint AS impressions, sum(clicked)::bigint AS clicked,
  sum(clicks)::bigint AS clicks, sum(reciprocal_ranks) AS reciprocal_ranks,
  sum(entropies) AS entropies, sum(updates)::bigint AS updates, sum(update_norms) AS update_norms
FROM series_parts GROUP BY model, at;
CREATE VIEW experiment_arms AS
SELECT experiment, arm, sum(impressions)::bigint AS impressions, sum(clicks)::bigint AS clicks,
  sum(units) AS units, sum(x_units) AS x_units, sum(y_units) AS y_units, sum(x) AS x, sum(y) AS y,
  sum(xx) AS xx, sum(xy) AS xy, sum(yy) AS yy,
  CASE WHEN count(v) = count(*) THEN sum(v) END AS v,
  CASE WHEN count(vv) = count(*) THEN sum(vv) END AS vv
FROM experiment_arm_parts GROUP BY experiment, arm;
CREATE VIEW shown_items AS
WITH m AS MATERIALIZED (SELECT id, name, expired, spec::jsonb AS spec FROM models)
SELECT m.name AS model, coalesce(i.given, 'i-' || (i.id & 1099511627775)) AS impression,
  i.shown_at,
  to_char(to_timestamp(i.shown_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS time,
  i.version,
  coalesce(i.arm, CASE i.mode WHEN 0 THEN 'explore' WHEN 1 THEN 'exploit' WHEN 2 THEN 'given'
    WHEN 3 THEN 'interleaved' END) AS arm,
  i.unit, j.rank, j.value ->> 0 AS item, (j.value ->> 1)::double precision AS score,
  (j.value ->> 2)::double precision AS propensity,
  coalesce((j.value ->> 3)::bigint, 0) AS pinned,
  c.clicked,
  coalesce((substr(r.viewed, j.rank::int, 1) = '\x01')::int::bigint, 0) AS viewed,
  c.clicked + coalesce((SELECT sum((m.spec -> 'events' ->> e.name)::double precision)
    FROM events AS e WHERE e.impression = i.id AND e.kind = 3 AND e.rank = j.rank - 1), 0) AS reward,
  (coalesce(r.closed, 0) <> 0 OR (i.id & 1099511627775) < m.expired OR
    coalesce(i.shown_at + (m.spec ->> 'open_seconds')::bigint * 1000 <=
      extract(epoch FROM now()) * 1000, false))::int::bigint AS closed,
  i.keep, i.kept, i.context, experiments.name AS experiment
FROM m JOIN impressions AS i ON i.id >= m.id << 40 AND i.id < (m.id + 1) << 40
CROSS JOIN LATERAL jsonb_array_elements(i.shown::jsonb) WITH ORDINALITY AS j(value, rank)
LEFT JOIN responses AS r ON r.impression = i.id
LEFT JOIN experiments ON experiments.id = i.experiment
CROSS JOIN LATERAL (SELECT
  coalesce((substr(r.clicked, j.rank::int, 1) = '\x01')::int::bigint, 0) AS clicked) AS c;
CREATE VIEW item_events AS
SELECT models.name AS model, coalesce(i.given, 'i-' || (i.id & 1099511627775)) AS impression,
  i.unit, e.at,
  to_char(to_timestamp(e.at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS time,
  CASE e.kind WHEN 0 THEN 'click' WHEN 1 THEN 'view' WHEN 2 THEN 'close' ELSE e.name END AS event,
  e.rank + 1 AS rank, i.shown::jsonb -> e.rank::int ->> 0 AS item, e.event_id
FROM models JOIN impressions AS i ON i.id >= models.id << 40 AND i.id < (models.id + 1) << 40
JOIN events AS e ON e.impression = i.id
WHERE i.shown IS NOT NULL;
)sql";

// In messages for a database of something else.
constexpr const char* kOthers =
    "the database has tables of another program; give plackett a database or a schema of its own";

// 0 if there are no tables.
std::int64_t version_of(Connection& connection) {
  if (take(connection.integer("SELECT (to_regclass('store_format') IS NOT NULL)::int")) == 0) {
    return 0;
  }
  const auto version = connection.integer("SELECT coalesce(max(version), 0) FROM store_format");
  if (!version && connection.state().starts_with("42") && connection.state() != "42501") {
    throw Failed{Error{kOthers}};
  }
  if (take(version) == 0) {
    throw Failed{
        Error{"the table store_format is empty, or says 0; expected the version of a "
              "plackett store: restore the database from a copy"}};
  }
  return *version;
}

void check_version(std::int64_t version) {
  if (version == kVersion) return;
  throw Failed{Error{
      fmt::format("a store of version {}; this plackett reads version {}", version, kVersion)}};
}

}  // namespace

Result<void> make_schema(Connection& connection) {
  return attempt([&] {
    if (const std::int64_t version = version_of(connection); version != 0) {
      return check_version(version);
    }
    if (take(connection.integer("SELECT (current_schema() IS NULL)::int")) == 1) {
      throw Failed{Error{"no schema of the connection's search_path exists"}};
    }
    // One transaction, since it is sent as one text. Another process may have been faster.
    const auto made = connection.script(
        fmt::format("SELECT pg_advisory_xact_lock({}, 0); DO $make$ BEGIN "
                    "IF to_regclass('store_format') IS NOT NULL THEN RETURN; END IF; {} {} "
                    "INSERT INTO store_format(version) VALUES({}); END $make$",
                    kLockSpace, kTables, kViews, kVersion));
    // Tables, other relations or functions of these names are there.
    for (const char* exists : {"42P07", "42710", "42723"}) {
      if (!made && connection.state() == exists) {
        throw Failed{Error{fmt::format("{} ({})", kOthers, made.error().message)}};
      }
    }
    take(made);
    check_version(version_of(connection));
  });
}

Result<void> check_schema(Connection& connection) {
  return attempt([&] {
    const std::int64_t version = version_of(connection);
    if (version == 0) throw Failed{Error{"not a plackett store"}};
    check_version(version);
  });
}

}  // namespace plackett::store::postgres
