#include "store/postgres/size.h"

namespace plackett::store::postgres {
namespace {

// How many of a table's pages are read, in percent: 1024 of them, about.
#define PERCENT(table) "least(100, 1024 * 819200.0 / greatest(1, pg_relation_size('" table "')))"

// Bytes of the rows of a table: `per_row` for each, row header and index entries included, and the
// sizes of its columns of variable length.
#define BYTES(table, per_row, sizes)             \
  "(SELECT coalesce(sum(" per_row " + " sizes    \
  "), 0) * 100 / " PERCENT(table) " FROM " table \
                                  " TABLESAMPLE SYSTEM (" PERCENT(table) ") REPEATABLE (1)"
#define SIZE(column) "coalesce(pg_column_size(" column "), 0)"

#define ITEMS BYTES("items", "76", SIZE("id")) ")"
#define VERSIONS BYTES("item_versions", "92", SIZE("id") " + " SIZE("features"))

}  // namespace

Result<std::uint64_t> disk_bytes(Connection& connection) {
  return connection.integer<std::uint64_t>(
      "SELECT sum(pg_total_relation_size(to_regclass(name)))::bigint FROM unnest(ARRAY["
      "'store_format', 'store_nodes', 'models', 'impressions', 'given_ids', 'responses', 'events', "
      "'log', 'snapshots', 'item_versions', 'items', 'series_parts', 'experiments', "
      "'experiment_arm_parts', 'experiment_points', 'experiment_units']) AS name");
}

Result<std::uint64_t> used_bytes(Connection& connection) {
  return connection.integer<std::uint64_t>(
      "SELECT (8192 + " ITEMS " + " VERSIONS ") + " BYTES(
          "impressions", "190",
          SIZE("given") " + 2 * " SIZE("unit") " + " SIZE("shown") " + " SIZE(
              "context") " + " SIZE("data") " + " SIZE("arm") " + " SIZE("teams")) ") + "
      BYTES("given_ids", "80", "2 * " SIZE("given")) ") + "
      BYTES("responses", "90", SIZE("clicked") " + " SIZE("viewed")) ") + "
      BYTES("events", "140", SIZE("name") " + 2 * " SIZE("event_id")) ") + "
      BYTES("log", "150", "0") ") + "
      BYTES("snapshots", "170", SIZE("note") " + " SIZE("frozen_because") " + " SIZE("file")) ") + "
      BYTES("series_parts", "150", "0") ") + "
      BYTES("experiment_points", "180", "0") ") + "
      BYTES("experiment_units", "100", "0") "))::bigint");
}

Result<std::uint64_t> item_bytes(Connection& connection) {
  return connection.integer<std::uint64_t>("SELECT (" ITEMS " + " VERSIONS
                                           " WHERE until IS NULL))::bigint");
}

}  // namespace plackett::store::postgres
