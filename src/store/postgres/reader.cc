#include "store/postgres/reader.h"

#include <fmt/format.h>

#include "store/rows.h"

namespace plackett::store::postgres {

using namespace serving;  // whose interface this implements

namespace {

// bigint adds up to numeric.
#define SERIES_SUMS                                                            \
  "coalesce(sum(impressions), 0)::bigint, coalesce(sum(clicked), 0)::bigint, " \
  "coalesce(sum(clicks), 0)::bigint, coalesce(sum(reciprocal_ranks), 0), "     \
  "coalesce(sum(entropies), 0), coalesce(sum(updates), 0)::bigint, coalesce(sum(update_norms), 0)"

class PostgresReader : public StoreReader {
 public:
  PostgresReader(std::shared_ptr<Connection> connection, const ReadAhead* ahead)
      : connection_(std::move(connection)), ahead_(ahead != nullptr ? ahead : &own_) {}

  bool may_recover() const override { return true; }

  Result<std::vector<ModelRow>> models() override {
    return connection_->all(
        "SELECT id, name, created_at, spec, next_number, expired, dropped_log FROM models ORDER BY "
        "id",
        model_row<Row>);
  }
  Result<std::optional<ModelRow>> model(std::int64_t id) override {
    return connection_->first(
        "SELECT id, name, created_at, spec, next_number, expired, dropped_log FROM models WHERE id "
        "= $1",
        model_row<Row>, id);
  }
  Result<std::vector<std::int64_t>> deleted_models() override {
    // Ids count up, and there are few of them.
    return connection_->all(
        "WITH ids AS (SELECT generate_series(1, (SELECT last_value FROM model_ids)) AS id) "
        "SELECT id FROM ids WHERE id NOT IN (SELECT id FROM models) AND ("
        "EXISTS(SELECT 1 FROM impressions WHERE impressions.id >= ids.id << 40 "
        "AND impressions.id < (ids.id + 1) << 40) OR "
        "EXISTS(SELECT 1 FROM responses WHERE impression >= ids.id << 40 "
        "AND impression < (ids.id + 1) << 40) OR "
        "EXISTS(SELECT 1 FROM log WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM items WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM item_versions WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM series_parts WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM experiments WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM snapshots WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM leads WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM queued_log WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM number_blocks WHERE model = ids.id) OR "
        "EXISTS(SELECT 1 FROM removed_items WHERE model = ids.id))",
        first_column<Row>);
  }
  Result<void> items(std::int64_t model, const EachItem& each) override {
    // A cursor, so that they need not fit into memory twice; it sees one state of the store.
    const bool is_alone = !connection_->in_transaction();
    auto read = attempt([&] {
      if (is_alone) take(connection_->begin());
      take(connection_->send(
          "DECLARE all_items NO SCROLL CURSOR FOR SELECT items.id, version, features FROM items "
          "JOIN item_versions USING(version) WHERE items.model = $1 ORDER BY items.id",
          model));
      for (bool more = true; more;) {
        more = false;
        take(connection_->each("FETCH 1000 FROM all_items", [&](const Row& row) {
          more = true;
          take(each(row.text(0), row.integer(1), row.blob(2)));
        }));
      }
      if (is_alone) take(connection_->commit());
    });
    if (is_alone) {
      connection_->roll_back();
    } else if (auto closed = connection_->send("CLOSE all_items"); read && !closed) {
      return closed;
    }
    return read;
  }
  Result<std::optional<ItemVersion>> item_version(std::int64_t version) override {
    return connection_->first("SELECT id, features FROM item_versions WHERE version = $1",
                              item_version_row<Row>, version);
  }
  Result<std::vector<std::int64_t>> versions_of(std::int64_t model,
                                                std::span<const std::string> ids) override {
    return attempt([&] {
      std::vector<std::int64_t> versions(ids.size(), 0);
      if (ids.empty()) return versions;
      std::string array;
      for (const std::string& id : ids) append_to_array(array, id);
      take(connection_->each(
          "SELECT version, place FROM unnest($2::text[]) WITH ORDINALITY AS asked(id, place) JOIN "
          "items ON items.model = $1 AND items.id = asked.id",
          [&](const Row& row) {
            versions[static_cast<std::size_t>(row.integer(1) - 1)] = row.integer(0);
          },
          model, array + "}"));
      return versions;
    });
  }

  Result<void> read_ahead(std::span<const std::int64_t> impressions) override {
    own_.clear();
    if (ahead_ != &own_) return {};  // the writer reads ahead itself
    return read_rows(*connection_, impressions, Locks::kNone, own_);
  }
  Result<std::optional<ImpressionRow>> impression(std::int64_t id) override {
    const auto found = ahead_->impressions.find(id);
    if (found != ahead_->impressions.end()) return found->second;
    return connection_->first("SELECT " PLACKETT_IMPRESSION_COLUMNS
                              " FROM impressions WHERE id = $1",
                              impression_row<Row>, id);
  }
  Result<std::optional<std::int64_t>> given_id(std::int64_t model,
                                               std::string_view given) override {
    const auto found = ahead_->given.find({model, std::string(given)});
    if (found != ahead_->given.end()) return found->second;
    return connection_->first("SELECT impression FROM given_ids WHERE model = $1 AND given = $2",
                              first_column<Row>, model, given);
  }
  Result<std::vector<std::int64_t>> recent(std::int64_t model, std::uint32_t limit,
                                           bool clicked_only) override {
    return connection_->all(
        clicked_only
            ? "SELECT impression FROM (SELECT impression, clicked FROM responses WHERE "
              "impression >= $1 AND impression < $2 ORDER BY impression DESC LIMIT 5000) AS "
              "newest WHERE position('\\x01'::bytea IN clicked) > 0 ORDER BY impression DESC LIMIT "
              "$3"
            : "SELECT id FROM impressions WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        first_column<Row>, id_of(model, 0), id_of(model + 1, 0), limit);
  }
  Result<std::vector<std::int64_t>> from(std::int64_t model, std::uint64_t number,
                                         std::uint32_t limit) override {
    return connection_->all(
        "SELECT id FROM impressions WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3",
        first_column<Row>, id_of(model, number), id_of(model + 1, 0), limit);
  }
  Result<std::vector<std::int64_t>> of_unit(std::int64_t model, std::string_view unit,
                                            std::uint64_t number, std::uint32_t limit) override {
    return connection_->all(
        "SELECT id FROM impressions WHERE id >> 40 = $1 AND unit = $2 AND unit IS NOT NULL AND "
        "id >= $3 ORDER BY id LIMIT $4",
        first_column<Row>, model, unit, id_of(model, number), limit);
  }
  Result<bool> has_candidates(std::int64_t model) override {
    return connection_->integer<bool>(
        "SELECT EXISTS(SELECT 1 FROM impressions WHERE kept = 1 AND id >= $1 AND id < $2)",
        id_of(model, 0), id_of(model + 1, 0));
  }
  Result<std::optional<StoreReader::Shown>> shown_from(std::int64_t model,
                                                       std::uint64_t number) override {
    return connection_->first(
        "SELECT id, shown_at FROM impressions WHERE id >= $1 AND id < $2 ORDER BY id LIMIT 1",
        shown<Row>, id_of(model, number), id_of(model + 1, 0));
  }
  Result<std::optional<StoreReader::Shown>> shown_before(std::int64_t model,
                                                         std::uint64_t number) override {
    return connection_->first(
        "SELECT id, shown_at FROM impressions WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT 1",
        shown<Row>, id_of(model, 0),
        number < ImpressionKey::kNumbers ? id_of(model, number) : id_of(model + 1, 0));
  }

  Result<std::optional<std::uint64_t>> newest_shown(std::int64_t model, std::int64_t time,
                                                    std::uint64_t count) override {
    return connection_->first(
        "SELECT id FROM impressions WHERE id >= $1 AND id < $2 AND shown_at <= $3 ORDER BY id DESC "
        "LIMIT 1 OFFSET $4 - 1",
        [](const Row& row) { return ImpressionKey::of(row.integer(0)).number; }, id_of(model, 0),
        id_of(model + 1, 0), time, count);
  }
  bool numbers_follow_time() const override { return false; }

  Result<std::uint64_t> end_of_stored(std::int64_t model) override {
    return connection_->integer<std::uint64_t>(
        "SELECT coalesce((SELECT min(low) FROM number_blocks WHERE model = $1), (SELECT "
        "next_number FROM models WHERE id = $1), 0)",
        model);
  }

  Result<std::optional<ResponseRow>> response(std::int64_t impression) override {
    const auto found = ahead_->responses.find(impression);
    if (found != ahead_->responses.end()) return found->second;
    return connection_->first("SELECT clicked, viewed, closed FROM responses WHERE impression = $1",
                              response_row<Row>, impression);
  }
  Result<std::uint64_t> closed_count(std::int64_t model, std::uint64_t from,
                                     std::uint64_t to) override {
    return connection_->integer<std::uint64_t>(
        "SELECT count(*) FROM responses WHERE impression >= $1 AND impression < $2 AND closed <> 0",
        id_of(model, from), id_of(model, to));
  }
  Result<std::optional<std::uint64_t>> first_open(std::int64_t model, std::uint64_t from,
                                                  std::uint64_t to, std::int64_t time) override {
    return connection_->first(
        "SELECT id FROM impressions WHERE id >= $1 AND id < $2 AND shown_at > $3 AND NOT EXISTS "
        "(SELECT 1 FROM responses WHERE impression = id AND closed <> 0) ORDER BY id LIMIT 1",
        [](const Row& row) { return ImpressionKey::of(row.integer(0)).number; }, id_of(model, from),
        id_of(model, to), time);
  }
  Result<std::vector<std::int64_t>> waiting(std::int64_t model, std::uint64_t end,
                                            std::uint32_t limit) override {
    return connection_->all(
        "SELECT impression FROM responses WHERE closed = 0 AND impression >= $1 "
        "AND impression < $2 ORDER BY impression LIMIT $3",
        first_column<Row>, id_of(model, 0), id_of(model, end), limit);
  }
  Result<std::vector<std::int64_t>> waiting_since(std::int64_t model, std::int64_t time,
                                                  std::uint32_t limit) override {
    return connection_->all(
        "SELECT impression FROM responses WHERE closed = 0 AND impression >> 40 = $1 AND shown_at "
        "<= $2 ORDER BY shown_at, impression LIMIT $3",
        first_column<Row>, model, time, limit);
  }
  Result<bool> event_seen(std::int64_t model, std::string_view event_id) override {
    const auto found = ahead_->event_ids.find({model, std::string(event_id)});
    if (found != ahead_->event_ids.end()) return found->second;
    return connection_->integer<bool>(
        "SELECT 1 FROM events WHERE impression >> 40 = $1 AND event_id = $2 AND event_id IS NOT "
        "NULL",
        model, event_id);
  }

  Result<std::vector<NamedEvent>> named_events(std::int64_t impression) override {
    return connection_->all(
        "SELECT rank, name FROM events WHERE impression = $1 AND kind = 3 ORDER BY id",
        named_event<Row>, impression);
  }

  Result<std::vector<LogEntry>> log(std::int64_t model, std::int64_t after,
                                    std::uint32_t limit) override {
    return connection_->all(
        "SELECT seq, model, kind, argument FROM log WHERE model = $1 AND seq > $2 ORDER BY seq "
        "LIMIT $3",
        log_entry<Row>, model, after, limit);
  }
  Result<std::int64_t> last_log_of(std::int64_t model, std::uint64_t from,
                                   std::uint64_t to) override {
    // seq + 0: not backwards through the whole log, which the planner would prefer for max(seq).
    return connection_->integer(
        "SELECT coalesce(max(seq + 0), 0) FROM log WHERE argument >= $1 AND "
        "argument < $2 AND kind IN (1, 2)",
        id_of(model, from), id_of(model, to));
  }
  Result<bool> is_loaded(std::int64_t snapshot) override {
    return connection_->integer<bool>(
        "SELECT 1 FROM log WHERE argument = $1 AND kind IN (3, 6, 7, 8) LIMIT 1", snapshot);
  }

  Result<std::vector<SnapshotRow>> snapshots(std::int64_t model) override {
    return connection_->all("SELECT " PLACKETT_SNAPSHOT_COLUMNS
                            " FROM snapshots WHERE model = $1 ORDER BY id DESC",
                            snapshot_row<Row>, model);
  }
  Result<std::optional<SnapshotRow>> snapshot(std::int64_t id) override {
    return connection_->first("SELECT " PLACKETT_SNAPSHOT_COLUMNS
                              ", file FROM snapshots WHERE id = $1",
                              snapshot_with_file<Row>, id);
  }
  Result<std::optional<std::int64_t>> base_snapshot(std::int64_t model, std::int64_t seq) override {
    return connection_->first(
        "SELECT log FROM snapshots WHERE model = $1 AND log >= $2 AND kind <> $3 ORDER BY log "
        "LIMIT 1",
        first_column<Row>, model, seq, SnapshotKind::kImported);
  }

  Result<std::vector<SeriesRow>> series(std::int64_t model, std::int64_t step_ms) override {
    return connection_->all("SELECT at / $1 * $1 AS start, " SERIES_SUMS
                            " FROM series_parts WHERE model = $2 GROUP BY start ORDER BY start",
                            series_row<Row>, step_ms, model);
  }
  Result<SeriesRow> series_total(std::int64_t model, std::int64_t from,
                                 std::int64_t before) override {
    auto total = connection_->first("SELECT coalesce(min(at), 0), " SERIES_SUMS
                                    " FROM series_parts WHERE model = $1 AND at >= $2 AND at < $3",
                                    series_row<Row>, model, from, before);
    if (!total) return total.error();
    return total->value_or(SeriesRow{});
  }

  Result<std::vector<ExperimentRow>> experiments() override {
    return connection_->all(
        "SELECT id, model, name, spec, state, started_at, ended_at FROM experiments WHERE spec <> "
        "'' "
        "ORDER BY id",
        experiment_row<Row>);
  }
  Result<std::vector<ExperimentRow>> retired_experiments(std::int64_t model) override {
    return connection_->all(
        "SELECT id, model, name, spec, state, started_at, ended_at FROM experiments WHERE spec = "
        "'' AND model = $1 ORDER BY id",
        experiment_row<Row>, model);
  }
  Result<std::vector<ArmSums>> arm_sums(std::int64_t experiment) override {
    return attempt([&] {
      std::vector<ArmSums> arms;
      take(connection_->each(
          "SELECT arm, " PLACKETT_ARM_SUMS " FROM experiment_arms WHERE experiment = $1",
          [&](const Row& row) { put_arm(arms, row); }, experiment));
      return arms;
    });
  }
  Result<UnitTotals> unit_totals(std::int64_t experiment, std::int64_t unit) override {
    // What a transaction of the writer reads, it changes: nobody else may, until it has ended. The
    // row is made first, since one that is not there can't be locked.
    const bool locks = connection_->in_transaction() && !connection_->read_only();
    if (locks) {
      const auto made = connection_->send(
          "INSERT INTO experiment_units VALUES($1, $2, 0, 0) ON CONFLICT DO NOTHING", experiment,
          unit);
      if (!made) return made.error();
    }
    auto found = connection_->first(
        locks ? "SELECT x, y FROM experiment_units WHERE experiment = $1 AND unit = $2 FOR UPDATE"
              : "SELECT x, y FROM experiment_units WHERE experiment = $1 AND unit = $2",
        unit_totals_row<Row>, experiment, unit);
    if (!found) return found.error();
    return found->value_or(UnitTotals{});
  }
  Result<std::vector<std::int64_t>> experiments_with_units() override {
    // One look into the key per experiment, however many units it has.
    return connection_->all(
        "WITH RECURSIVE next(id) AS (SELECT min(experiment) FROM experiment_units UNION ALL "
        "SELECT (SELECT min(experiment) FROM experiment_units WHERE experiment > next.id) FROM "
        "next WHERE next.id IS NOT NULL) SELECT id FROM next WHERE id IS NOT NULL",
        first_column<Row>);
  }
  Result<std::vector<ArmsPoint>> arm_points(std::int64_t experiment) override {
    return attempt([&] {
      std::vector<ArmsPoint> points;
      take(connection_->each(
          "SELECT at, arm, " PLACKETT_ARM_SUMS
          " FROM experiment_points WHERE experiment = $1 ORDER BY at, arm",
          [&](const Row& row) { put_point(points, row); }, experiment));
      return points;
    });
  }

 private:
  std::shared_ptr<Connection> connection_;
  ReadAhead own_;
  const ReadAhead* ahead_;
};

}  // namespace

Result<void> read_rows(Connection& connection, std::span<const std::int64_t> impressions,
                       Locks locks, ReadAhead& ahead) {
  std::string ids;
  for (const std::int64_t id : impressions) {
    if (ahead.impressions.contains(id)) continue;
    ids += fmt::format("{}{}", ids.empty() ? "" : ",", id);
    ahead.impressions[id] = std::nullopt;
    ahead.responses[id] = std::nullopt;
  }
  if (ids.empty()) return {};
  auto read = attempt([&] {
    take(connection.each(
        locks == Locks::kUpdate
            ? "SELECT " PLACKETT_IMPRESSION_COLUMNS
              " FROM impressions WHERE id = ANY(string_to_array($1, ',')::bigint[]) ORDER BY id "
              "FOR NO KEY UPDATE"
            : "SELECT " PLACKETT_IMPRESSION_COLUMNS
              " FROM impressions WHERE id = ANY(string_to_array($1, ',')::bigint[])",
        [&](const Row& row) {
          ImpressionRow found = impression_row(row);
          ahead.impressions[found.id] = std::move(found);
        },
        ids));
    take(connection.each(
        "SELECT clicked, viewed, closed, impression FROM responses WHERE impression = "
        "ANY(string_to_array($1, ',')::bigint[])",
        [&](const Row& row) { ahead.responses[row.integer(3)] = response_row(row); }, ids));
  });
  if (!read) ahead.clear();
  return read;
}

void append_to_array(std::string& array, std::string_view text) {
  array += array.empty() ? "{\"" : ",\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') array += '\\';
    array += byte;
  }
  array += '"';
}

std::unique_ptr<StoreReader> make_reader(std::shared_ptr<Connection> connection,
                                         const ReadAhead* ahead) {
  return std::make_unique<PostgresReader>(std::move(connection), ahead);
}

}  // namespace plackett::store::postgres
