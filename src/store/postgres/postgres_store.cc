#include "store/postgres/postgres_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "store/postgres/connection.h"
#include "store/postgres/reader.h"
#include "store/postgres/schema.h"
#include "store/postgres/shared.h"
#include "store/postgres/size.h"
#include "store/rows.h"

namespace plackett::store {

using namespace serving;  // whose interface this implements

namespace {

using postgres::Connection;
using postgres::NullIfEmpty;
using postgres::Row;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};      // for an old connection to end
constexpr std::chrono::seconds kFirstPatience{1};  // the same of another process, at the start
// The same where there are several nodes: clients may go to another one.
constexpr std::chrono::seconds kSharedPatience{4};
// For an answer of the server.
constexpr std::chrono::seconds kAnswer{20};
constexpr std::chrono::seconds kSharedAnswer{5};
constexpr std::chrono::seconds kReaderAnswer{20};
// What a node that hangs has locked is free again soon, and nobody waits for it longer than that.
constexpr const char* kSharedSettings =
    "; SET idle_in_transaction_session_timeout = 3000; SET lock_timeout = 4000";
constexpr std::chrono::milliseconds kPause{100};   // between attempts
constexpr std::chrono::seconds kBetweenSizes{60};  // of disk_bytes()

// SQLSTATEs.
constexpr std::string_view kDivisionByZero = "22012";
constexpr std::string_view kDeadlock = "40P01";

constexpr const char* kDropGivenIds =
    "DELETE FROM given_ids WHERE (model, given) IN (SELECT id >> 40, given FROM impressions WHERE "
    "id >= $1 AND id < $2 AND given IS NOT NULL)";

Error ended_by_others() {
  return {ErrorCode::kUnavailable, "the other nodes have ended this one; it joins again"};
}

// What nodes need of a model. They may add some as long as they don't know that it was deleted.
// Leads last, as in fence(): the leader may be logging what was queued.
constexpr const char* kDropOfNodes[] = {
    "DELETE FROM published WHERE model = $1", "DELETE FROM queued_log WHERE model = $1",
    "DELETE FROM number_blocks WHERE model = $1", "DELETE FROM removed_items WHERE model = $1",
    "DELETE FROM leads WHERE model = $1"};

#define IMPRESSION_VALUES "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, nullif($12, 0), $13, $14"

// What has what belongs to users.
constexpr const char* kVacuumed[] = {"events",        "given_ids", "impressions",     "responses",
                                     "item_versions", "items",     "experiment_units"};

// Numbers that a sequence gives in blocks.
class Numbers {
 public:
  explicit Numbers(std::string_view next_block) : next_block_(next_block) {}
  std::int64_t take_one(Connection& connection) {  // throws Failed
    if (next_ == end_) {
      next_ = take(connection.integer(next_block_));
      end_ = next_ + postgres::kNumbersInBlock;
    }
    return next_++;
  }
  // Leaves out all up to this one.
  void skip(Connection& connection, std::int64_t last) {
    while (take_one(connection) <= last) {
      if (end_ <= last) next_ = end_;
    }
  }
  void discard() { next_ = end_; }

 private:
  std::string_view next_block_;
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
};

// Calls `read` with the names of each model that `ahead` lacks, as an array of PostgreSQL's;
// `ahead` has them then, with nothing behind them.
template <typename Ahead, typename Read>
void each_model(const serving::Touched::Names& all, Ahead& ahead, const Read& read) {
  std::map<std::int64_t, std::string> names;
  for (const auto& [model, name] : all) {
    if (!ahead.try_emplace({model, name}).second) continue;
    postgres::append_to_array(names[model], name);
  }
  for (const auto& [model, text] : names) read(model, text + "}");
}

// Every transaction that changes something replaces its node's mark in store_nodes, but only if
// that is still the mark of the node's last transaction: else it fails. So the mark says whether a
// commit took place whose answer was lost; and once it was replaced after a loss, what may still
// come from the lost connection can't be committed any more.
class PostgresStore : public Store {
 public:
  explicit PostgresStore(PostgresOptions options)
      : options_(std::move(options)), node_(options_.node) {}
  void open();  // throws Failed

  Result<std::unique_ptr<StoreReader>> open_reader() override {
    return read_postgres(options_.url, tag_);
  }
  StoreReader& read() override { return *reader_; }

  Result<void> begin() override {
    // Where there are several, what a transaction has read may be in this database alone until
    // another commit has waited for a standby, and answers follow from it.
    is_changed_ = shared_ != nullptr;
    obstacle_ = Obstacle::kNone;
    ahead_.clear();
    if (!beyond_repair_.empty()) return Error{ErrorCode::kUnavailable, beyond_repair_};
    if (shared_ != nullptr && (shared_->node() != node_ || !committed_)) {
      if (auto joined = attempt([&] { join(); }); !joined) return joined;
    }
    if (is_refused_) {
      // Fails until it is another node, or for good.
      if (auto looked = attempt([&] { attach(*connection_); }); !looked) return looked;
    }
    return connection_->begin();
  }
  Result<void> commit() override;
  void roll_back() override {
    connection_->roll_back();
    ahead_.clear();
  }
  Obstacle obstacle() const override {
    if (shared_ == nullptr || connection_->lost()) return Obstacle::kNone;
    if (obstacle_ != Obstacle::kNone) return obstacle_;
    if (connection_->state() == kDeadlock) return Obstacle::kDeadlock;
    return connection_->may_try_again() ? Obstacle::kOther : Obstacle::kNone;
  }
  std::string beyond_repair() const override { return beyond_repair_; }

  SharedStore* shared() override { return shared_.get(); }
  std::int64_t node() const override { return shared_ == nullptr ? 0 : node_; }
  Result<void> lock(const Touched& touched) override;
  Result<void> change_model(std::int64_t id) override {
    if (shared_ == nullptr) return {};
    // Versions of items are in the order in which transactions get this lock.
    item_versions_.discard();
    const auto changed = change("UPDATE models SET revision = revision + 1 WHERE id = $1", id);
    if (!changed) return changed.error();
    if (*changed == 0) return Error{ErrorCode::kNotFound, "the model was removed"};
    return {};
  }
  Result<void> expect_models(std::span<const std::int64_t> ids) override {
    if (shared_ == nullptr || ids.empty()) return {};
    // kDivisionByZero if one is gone.
    return send(
        "SELECT 1 / (count(*) = $2)::int FROM models WHERE id = "
        "ANY(string_to_array($1, ',')::bigint[])",
        fmt::format("{}", fmt::join(ids, ",")), ids.size());
  }
  Result<void> fence(std::int64_t model, std::int64_t epoch) override {
    if (shared_ == nullptr) return {};
    return send("SELECT fence($1, $2)", model, epoch);
  }
  Result<void> queue_log(const LogEntry& entry, std::int64_t at) override {
    return send("INSERT INTO queued_log(model, kind, argument, at) VALUES($1, $2, $3, $4)",
                entry.model, entry.kind, entry.argument, at);
  }
  Result<std::vector<LogEntry>> take_queued(std::int64_t model, std::uint32_t limit) override {
    is_changed_ = true;
    return connection_->all(
        "WITH gone AS (DELETE FROM queued_log WHERE id IN (SELECT id FROM queued_log WHERE model = "
        "$1 ORDER BY id LIMIT $2) RETURNING id, kind, argument) SELECT kind, argument FROM gone "
        "ORDER BY id",
        [model](const Row& row) {
          return LogEntry{0, model, static_cast<LogKind>(row.integer(0)), row.integer(1)};
        },
        model, limit);
  }
  Result<NumberBlock> reserve_numbers(std::int64_t model, std::uint64_t count) override {
    return attempt([&] {
      is_changed_ = true;
      const auto end = take(connection_->first(
          "WITH taken AS (UPDATE models SET next_number = next_number + $2 WHERE id = $1 RETURNING "
          "next_number) INSERT INTO number_blocks(model, node, first, end_at, low) SELECT $1, $3, "
          "next_number - $2, next_number, next_number - $2 FROM taken RETURNING end_at",
          first_column<Row>, model, count, node_));
      if (!end) throw Failed{{ErrorCode::kNotFound, "the model was removed"}};
      const auto past = static_cast<std::uint64_t>(*end);
      return NumberBlock{past - count, past, node_};
    });
  }
  Result<void> set_numbers_used(std::int64_t model, std::uint64_t below) override {
    return attempt([&] {
      take(send("DELETE FROM number_blocks WHERE model = $1 AND node = $2 AND end_at <= $3", model,
                node_, below));
      take(
          send("UPDATE number_blocks SET low = greatest(low, $3) WHERE model = $1 AND node = $2 "
               "AND first <= $3",
               model, node_, below));
    });
  }
  // Keeps disk_bytes() up to date.
  void tidy() override {
    if (!connection_->lost() && Clock::now() - sized_at_ > kBetweenSizes) measure_disk();
  }
  Result<void> probe() override {
    is_changed_ = true;  // commit() writes the mark
    return {};
  }
  void discard_reserved() override {
    log_numbers_.discard();
    item_versions_.discard();
  }

  Result<std::int64_t> insert_model(const ModelRow& model) override {
    return attempt([&] {
      const std::int64_t id = take(inserted(
          fmt::format("a model named \"{}\" exists", model.name),
          "INSERT INTO models(name, created_at, spec, next_number, revision) VALUES($1, $2, $3, "
          "$4, 1) ON CONFLICT(name) DO NOTHING RETURNING id",
          model.name, model.created_at, model.spec, model.next_number));
      // Led by the node that made it, until one has the lock.
      take(send("INSERT INTO leads(model, epoch, node) VALUES($1, 1, $2)", id, node_));
      return id;
    });
  }
  Result<void> delete_model(std::int64_t id) override {
    return attempt([&] {
      take(send("DELETE FROM models WHERE id = $1", id));
      for (const char* sql : kDropOfNodes) take(send(sql, id));
    });
  }
  Result<void> set_model_spec(std::int64_t id, std::string_view spec) override {
    return send("UPDATE models SET spec = $1 WHERE id = $2", spec, id);
  }
  Result<void> set_model_marks(const ModelRow& model) override {
    // Another process may have reserved more numbers.
    return send(
        shared_ == nullptr
            ? "UPDATE models SET next_number = $1, expired = $2, dropped_log = $3 WHERE id = $4"
            : "UPDATE models SET next_number = greatest(next_number, $1), expired = "
              "greatest(expired, $2), dropped_log = greatest(dropped_log, $3) WHERE id = $4",
        model.next_number, model.expired, model.dropped_log, model.id);
  }
  Result<std::int64_t> put_item(std::int64_t model, std::string_view id,
                                std::span<const std::byte> features, std::uint64_t end) override {
    return attempt([&] {
      take(retire_item(model, id, end));
      const std::int64_t version = item_versions_.take_one(*connection_);
      take(send("INSERT INTO item_versions(version, model, id, features) VALUES($1, $2, $3, $4)",
                version, model, id, features));
      take(
          send("INSERT INTO items(model, id, version) VALUES($1, $2, $3) ON CONFLICT(model, id) DO "
               "UPDATE SET version = excluded.version",
               model, id, version));
      if (shared_ != nullptr) {
        take(send("DELETE FROM removed_items WHERE model = $1 AND id = $2", model, id));
      }
      return version;
    });
  }
  Result<std::int64_t> delete_item(std::int64_t model, std::string_view id,
                                   std::uint64_t end) override {
    return attempt([&] {
      take(retire_item(model, id, end));
      const std::int64_t version = take(connection_->integer(
          "DELETE FROM items WHERE model = $1 AND id = $2 RETURNING version", model, id));
      if (version != 0 && shared_ != nullptr) {
        take(send(
            "INSERT INTO removed_items(model, id, version) VALUES($1, $2, $3) ON CONFLICT(model, "
            "id) DO UPDATE SET version = excluded.version",
            model, id, item_versions_.take_one(*connection_)));
      }
      return version;
    });
  }
  Result<void> limit_references(std::int64_t model, std::uint64_t end) override {
    return send("UPDATE item_versions SET until = $1 WHERE model = $2 AND until > $1", end, model);
  }
  Result<void> insert_impression(const ImpressionRow& impression) override {
    ahead_.impressions.erase(impression.id);
    if (!impression.given.empty()) {
      ahead_.given.erase({ImpressionKey::of(impression.id).model, std::string(impression.given)});
    }
    const auto with_values = [&](const auto& call, std::string_view sql) {
      return call(sql, impression.id, impression.shown_at, impression.version,
                  NullIfEmpty{impression.given}, NullIfEmpty{impression.unit}, impression.mode,
                  impression.keep, impression.kept, NullIfEmpty{impression.shown},
                  NullIfEmpty{impression.context}, impression.data, impression.in.experiment,
                  NullIfEmpty{impression.in.arm}, NullIfEmpty{impression.in.teams});
    };
    if (impression.given.empty()) {
      return with_values([&](const auto&... values) { return send(values...); },
                         "INSERT INTO impressions(" PLACKETT_IMPRESSION_COLUMNS
                         ") VALUES(" IMPRESSION_VALUES ")");
    }
    const auto inserted = with_values(
        [&](const auto&... values) { return change(values...); },
        "WITH named AS (INSERT INTO given_ids(model, given, impression) VALUES($1 >> 40, $4, $1) "
        "ON CONFLICT DO NOTHING RETURNING 1) INSERT INTO impressions(" PLACKETT_IMPRESSION_COLUMNS
        ") SELECT " IMPRESSION_VALUES " FROM named");
    if (!inserted) return inserted.error();
    if (*inserted > 0) return {};
    return Error{ErrorCode::kConflict,
                 fmt::format("impression \"{}\" exists; ids are used once", impression.given)};
  }
  Result<void> anonymise(const ImpressionRow& impression) override {
    return attempt([&] {
      ahead_.clear();
      take(send(kDropGivenIds, impression.id, impression.id + 1));
      take(send("UPDATE events SET event_id = NULL WHERE impression = $1", impression.id));
      take(send(
          "UPDATE impressions SET given = NULL, unit = NULL, context = NULL, mode = $1, keep = $2, "
          "kept = $3, shown = $4, data = $5 WHERE id = $6",
          impression.mode, impression.keep, impression.kept, NullIfEmpty{impression.shown},
          impression.data, impression.id));
    });
  }
  Result<void> set_response(std::int64_t impression, const ResponseRow& response) override {
    if (shared_ != nullptr) ahead_.responses[impression] = response;
    return send(
        "INSERT INTO responses(impression, clicked, viewed, closed, shown_at) VALUES($1, $2, $3, "
        "$4, coalesce((SELECT shown_at FROM impressions WHERE id = $1), 0)) ON "
        "CONFLICT(impression) "
        "DO UPDATE SET clicked = excluded.clicked, viewed = excluded.viewed, closed = "
        "excluded.closed",
        impression, response.clicked, response.viewed, response.closed);
  }
  Result<void> add_event(const EventRow& event) override {
    if (!event.event_id.empty()) {
      ahead_.event_ids.erase(
          {ImpressionKey::of(event.impression).model, std::string(event.event_id)});
    }
    return send(
        "INSERT INTO events(impression, rank, kind, name, at, event_id) VALUES($1, $2, $3, $4, $5, "
        "$6)",
        event.impression, event.rank, event.kind, NullIfEmpty{event.name}, event.at,
        NullIfEmpty{event.event_id});
  }
  Result<LogEntry> append_log(LogEntry entry, std::int64_t at) override {
    return attempt([&] {
      if (shared_ != nullptr && shared_->led_again()) log_numbers_.discard();
      entry.seq = log_numbers_.take_one(*connection_);
      take(send("INSERT INTO log(seq, model, kind, argument, at) VALUES($1, $2, $3, $4, $5)",
                entry.seq, entry.model, entry.kind, entry.argument, at));
      return entry;
    });
  }
  Result<std::int64_t> insert_snapshot(const SnapshotRow& snapshot) override {
    return inserted(
        "a snapshot exists",
        "INSERT INTO snapshots(model, log, created_at, kind, note, version, updates, learned, "
        "learning, frozen_because, serves, file) VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
        "$11, $12) RETURNING id",
        snapshot.model, snapshot.log, snapshot.created_at, snapshot.kind, snapshot.note,
        snapshot.version, snapshot.updates, snapshot.learned, snapshot.learning,
        snapshot.frozen_because, snapshot.serves, snapshot.file);
  }
  Result<void> delete_snapshot(std::int64_t id) override {
    return send("DELETE FROM snapshots WHERE id = $1", id);
  }
  Result<void> add_to_series(std::int64_t model, const SeriesRow& sums) override {
    return send(
        "INSERT INTO series_parts AS s VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
        "ON CONFLICT(model, at, node) DO UPDATE SET impressions = s.impressions + "
        "excluded.impressions, clicked = s.clicked + excluded.clicked, clicks = s.clicks + "
        "excluded.clicks, reciprocal_ranks = s.reciprocal_ranks + excluded.reciprocal_ranks, "
        "entropies = s.entropies + excluded.entropies, updates = s.updates + excluded.updates, "
        "update_norms = s.update_norms + excluded.update_norms",
        model, sums.at, node_, sums.impressions, sums.clicked, sums.clicks, sums.reciprocal_ranks,
        sums.entropies, sums.updates, sums.update_norms);
  }
  // What other nodes added to those spans becomes this one's.
  Result<void> coarsen_series(std::int64_t model, std::int64_t before,
                              std::int64_t step_ms) override {
    return send(
        "WITH fine AS (DELETE FROM series_parts WHERE model = $1 AND at < $2 AND at % $3 <> 0 "
        "RETURNING *) INSERT INTO series_parts AS s SELECT $1, at / $3 * $3 AS start, $4, "
        "sum(impressions), sum(clicked), sum(clicks), sum(reciprocal_ranks), sum(entropies), "
        "sum(updates), sum(update_norms) FROM fine GROUP BY start ORDER BY start "
        "ON CONFLICT(model, at, node) DO UPDATE SET impressions = s.impressions + "
        "excluded.impressions, clicked = s.clicked + excluded.clicked, clicks = s.clicks + "
        "excluded.clicks, reciprocal_ranks = s.reciprocal_ranks + excluded.reciprocal_ranks, "
        "entropies = s.entropies + excluded.entropies, updates = s.updates + excluded.updates, "
        "update_norms = s.update_norms + excluded.update_norms",
        model, before / step_ms * step_ms, step_ms, node_);
  }

  Result<std::int64_t> insert_experiment(const ExperimentRow& experiment) override {
    return inserted(
        fmt::format("an experiment named \"{}\" exists", experiment.name),
        "INSERT INTO experiments(model, name, spec, state, started_at, ended_at) "
        "VALUES($1, $2, $3, $4, $5, $6) ON CONFLICT(model, name) DO NOTHING RETURNING id",
        experiment.model, experiment.name, experiment.spec, experiment.state, experiment.started_at,
        experiment.ended_at);
  }
  Result<void> set_experiment_state(const ExperimentRow& experiment) override {
    return send("UPDATE experiments SET state = $1, ended_at = $2 WHERE id = $3", experiment.state,
                experiment.ended_at, experiment.id);
  }
  Result<void> delete_experiment(std::int64_t id) override {
    return attempt([&] {
      for (const char* sql : {"DELETE FROM experiment_points WHERE experiment = $1",
                              "DELETE FROM experiment_arm_parts WHERE experiment = $1",
                              "DELETE FROM experiments WHERE id = $1"}) {
        take(send(sql, id));
      }
    });
  }
  Result<void> retire_experiment(std::int64_t id, std::string_view state) override {
    return attempt([&] {
      for (const char* sql : {"DELETE FROM experiment_points WHERE experiment = $1",
                              "DELETE FROM experiment_arm_parts WHERE experiment = $1"}) {
        take(send(sql, id));
      }
      take(send("UPDATE experiments SET name = '#' || id, spec = '', state = $1 WHERE id = $2",
                state, id));
    });
  }
  Result<bool> drop_unit_totals(std::int64_t experiment, std::uint32_t limit) override {
    return drop(
        "DELETE FROM experiment_units WHERE (experiment, unit) IN (SELECT experiment, unit FROM "
        "experiment_units WHERE experiment = $1 LIMIT $2)",
        limit, experiment);
  }
  Result<void> add_to_arm(std::int64_t experiment, std::uint32_t arm,
                          const ArmSums& sums) override {
    return send(
        "INSERT INTO experiment_arm_parts AS a VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
        "$11, $12, $13, $14, $15) ON CONFLICT(experiment, arm, node) DO UPDATE SET "
        "impressions = a.impressions + excluded.impressions, clicks = a.clicks + excluded.clicks, "
        "units = a.units + excluded.units, x_units = a.x_units + excluded.x_units, "
        "y_units = a.y_units + excluded.y_units, x = a.x + excluded.x, y = a.y + excluded.y, "
        "xx = a.xx + excluded.xx, xy = a.xy + excluded.xy, yy = a.yy + excluded.yy, "
        "v = a.v + excluded.v, vv = a.vv + excluded.vv",
        experiment, arm, node_, sums.impressions, sums.clicks, sums.units.units, sums.units.x_units,
        sums.units.y_units, sums.units.x, sums.units.y, sums.units.xx, sums.units.xy, sums.units.yy,
        sums.units.v, sums.units.vv);
  }
  Result<void> set_unit_totals(std::int64_t experiment, std::int64_t unit,
                               const UnitTotals& totals) override {
    return send(
        "INSERT INTO experiment_units VALUES($1, $2, $3, $4) ON CONFLICT(experiment, unit) DO "
        "UPDATE SET x = excluded.x, y = excluded.y",
        experiment, unit, totals.x, totals.y);
  }
  Result<void> delete_unit_totals(std::int64_t experiment, std::int64_t unit) override {
    return send("DELETE FROM experiment_units WHERE experiment = $1 AND unit = $2", experiment,
                unit);
  }
  Result<void> add_arm_point(std::int64_t experiment, std::int64_t at) override {
    return send(
        "INSERT INTO experiment_points SELECT experiment, $1, arm, " PLACKETT_ARM_SUMS
        " FROM experiment_arms WHERE experiment = $2 ON CONFLICT(experiment, at, arm) DO UPDATE "
        "SET (" PLACKETT_ARM_SUMS
        ") = ROW(excluded.impressions, excluded.clicks, excluded.units, excluded.x_units, "
        "excluded.y_units, excluded.x, excluded.y, excluded.xx, excluded.xy, excluded.yy, "
        "excluded.v, excluded.vv)",
        at, experiment);
  }
  Result<void> delete_arm_point(std::int64_t experiment, std::int64_t at) override {
    return send("DELETE FROM experiment_points WHERE experiment = $1 AND at = $2", experiment, at);
  }

  Result<void> drop_impression(std::int64_t id) override { return drop_between(id, id + 1); }
  Result<void> drop_impressions(std::int64_t model, std::uint64_t end) override {
    return attempt([&] {
      take(drop_between(id_of(model, 0), id_of(model, end)));
      take(send("DELETE FROM item_versions WHERE model = $1 AND until <= $2", model, end));
    });
  }
  Result<bool> drop_log(std::int64_t model, std::int64_t up_to, std::uint32_t limit) override {
    return drop(
        "DELETE FROM log WHERE seq IN (SELECT seq FROM log WHERE model = $1 AND seq <= $2 "
        "ORDER BY seq LIMIT $3)",
        limit, model, up_to);
  }
  Result<bool> drop_rows(std::int64_t model, std::uint32_t limit) override {
    return attempt([&] {
      const auto first = take(read().shown_from(model, 0));
      take(drop_impressions(model, first ? first->first + limit : ImpressionKey::kNumbers - 1));
      constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
      if (first || !take(drop_log(model, kAll, limit))) return false;
      for (const char* sql :
           {"DELETE FROM items WHERE (model, id) IN (SELECT model, id FROM items WHERE model = $1 "
            "LIMIT $2)",
            "DELETE FROM item_versions WHERE version IN (SELECT version FROM item_versions WHERE "
            "model = $1 LIMIT $2)",
            "DELETE FROM snapshots WHERE id IN (SELECT id FROM snapshots WHERE model = $1 LIMIT "
            "$2)",
            "DELETE FROM series_parts WHERE (model, at, node) IN (SELECT model, at, node FROM "
            "series_parts WHERE model = $1 LIMIT $2)"}) {
        if (!take(drop(sql, limit, model))) return false;
      }
      for (const ExperimentRow& experiment : take(read().experiments())) {
        if (experiment.model == model) take(delete_experiment(experiment.id));
      }
      take(send("DELETE FROM experiments WHERE model = $1", model));
      for (const char* sql : kDropOfNodes) take(send(sql, model));
      return true;
    });
  }

  Result<std::uint64_t> used_bytes() override {
    measure_disk();
    return postgres::used_bytes(*connection_);
  }
  Result<std::uint64_t> item_bytes() override { return postgres::item_bytes(*connection_); }
  // PostgreSQL uses free space again by itself.
  Result<void> shrink() override { return {}; }
  Result<void> vacuum() override;
  std::uint64_t disk_bytes() const override { return disk_bytes_; }
  void close() override { connection_->roll_back(); }

 private:
  // What this process wrote last as a node that it is not any more.
  struct Left {
    std::int64_t node = 0;
    std::array<std::optional<std::int64_t>, 3> marks{};  // one of them is that transaction's
  };
  // For each new connection: takes the lock, and finds out what became of the last transaction.
  void attach(Connection& connection);  // throws Failed
  // Throws Failed if the store lacks that.
  void find_left(Connection& connection);
  void keep_others_out(Connection& connection);  // throws Failed
  // Goes on as the node that shared_ has become. Throws Failed.
  void join();
  void read_ahead(const Touched& touched);  // throws Failed
  std::int64_t next_mark() { return ++last_mark_; }
  void measure_disk();

  template <typename... Values>
  Result<void> send(std::string_view sql, const Values&... values) {
    is_changed_ = true;
    return connection_->send(sql, values...);
  }
  template <typename... Values>
  Result<std::int64_t> change(std::string_view sql, const Values&... values) {
    is_changed_ = true;
    return connection_->change(sql, values...);
  }
  // The id that a statement returns; it returns none if the row would contradict another. Then the
  // transaction goes on without it.
  template <typename... Values>
  Result<std::int64_t> inserted(std::string conflict, std::string_view sql,
                                const Values&... values) {
    is_changed_ = true;
    auto id = connection_->first(sql, first_column<Row>, values...);
    if (!id) return id.error();
    if (!*id) return Error{ErrorCode::kConflict, std::move(conflict)};
    return **id;
  }
  // Deletes at most `limit` rows; true if none is left.
  template <typename... Values>
  Result<bool> drop(std::string_view sql, std::uint32_t limit, const Values&... values) {
    const auto dropped = change(sql, values..., limit);
    if (!dropped) return dropped.error();
    return *dropped < std::int64_t{limit};
  }
  // The version of an item that no list with number `end` or a higher one will refer to. Lists that
  // other processes make now may have any number that is reserved, or will be in a moment.
  Result<void> retire_item(std::int64_t model, std::string_view id, std::uint64_t end) {
    if (shared_ != nullptr) {
      return send(
          "UPDATE item_versions SET until = (SELECT next_number + 262144 FROM models WHERE id = "
          "$1) WHERE version = (SELECT version FROM items WHERE model = $1 AND id = $2)",
          model, id);
    }
    if (end == 0) {
      return send(
          "DELETE FROM item_versions WHERE version = (SELECT version FROM items WHERE model = $1 "
          "AND id = $2)",
          model, id);
    }
    return send(
        "UPDATE item_versions SET until = $1 WHERE version = (SELECT version FROM items WHERE "
        "model = $2 AND id = $3)",
        end, model, id);
  }
  // Drops the impressions with ids in [from, to).
  Result<void> drop_between(std::int64_t from, std::int64_t to) {
    return attempt([&] {
      ahead_.clear();
      // First the locks, for which feedback at other nodes waits. Impressions last: their rows have
      // the ids that were given.
      for (const char* sql :
           {"SELECT 1 FROM impressions WHERE id >= $1 AND id < $2 ORDER BY id FOR UPDATE",
            "DELETE FROM events WHERE impression >= $1 AND impression < $2",
            "DELETE FROM responses WHERE impression >= $1 AND impression < $2", kDropGivenIds,
            "DELETE FROM impressions WHERE id >= $1 AND id < $2"}) {
        take(send(sql, from, to));
      }
    });
  }

  const PostgresOptions options_;
  std::int64_t node_;                           // 0 until it has joined, if there may be others
  std::string tag_;                             // application_name, if there may be others
  std::unique_ptr<postgres::Shared> shared_{};  // null if there is only one process
  postgres::ReadAhead ahead_{};
  Obstacle obstacle_ = Obstacle::kNone;  // that the transaction's own statements have found
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<StoreReader> reader_;
  Numbers log_numbers_{"SELECT nextval('log_blocks')"};
  Numbers item_versions_{"SELECT nextval('item_version_blocks')"};
  bool is_changed_ = false;  // by the current transaction

  // Marks of transactions: of the last one that is known to be committed; of attach()'s own, and of
  // another one, that may be or not.
  std::int64_t last_mark_ = 0;
  std::optional<std::int64_t> committed_;
  std::optional<std::int64_t> attached_;
  std::optional<std::int64_t> doubtful_;
  bool doubtful_is_there_ = false;
  bool is_answered_ = true;     // the doubtful one was reported as failed
  bool is_refused_ = false;     // by its own row in store_nodes
  std::optional<Left> left_{};  // until it was found
  std::string beyond_repair_;   // why only a restart helps

  std::atomic<std::uint64_t> disk_bytes_{0};
  Clock::time_point sized_at_{};
};

void PostgresStore::open() {
  std::random_device random;
  last_mark_ = static_cast<std::int64_t>((std::uint64_t{random()} << 30U) ^ random());
  if (options_.shared) {
    tag_ = fmt::format("plackett-{:08x}{:08x}", random(), random());
    shared_ = std::make_unique<postgres::Shared>(options_.url, tag_);
  }
  connection_ = take(Connection::open({.url = options_.url,
                                       .name = options_.shared ? tag_ : options_.name,
                                       .name_is_fixed = options_.shared,
                                       .patience = options_.shared ? kSharedAnswer : kAnswer,
                                       .connect_seconds = options_.shared ? 2 : 5,
                                       .settings = options_.shared ? kSharedSettings : ""},
                                      [this](Connection& connection) { attach(connection); }));
  if (shared_ != nullptr) take(shared_->open());  // the tables are there now
  reader_ = postgres::make_reader(connection_, &ahead_);
  log_numbers_.skip(
      *connection_,
      take(connection_->integer("SELECT greatest((SELECT max(seq) FROM log), (SELECT max(log) FROM "
                                "snapshots), (SELECT max(dropped_log) FROM models), 0)")));
  measure_disk();
}

void PostgresStore::keep_others_out(Connection& connection) {
  // The server may not know yet that the last connection has ended.
  const auto end = Clock::now() + (committed_ ? kPatience : kFirstPatience);
  while (!take(connection.integer<bool>(
      "SELECT pg_try_advisory_lock($1::int, ((SELECT oid FROM pg_namespace WHERE nspname = "
      "current_schema())::bigint & 2147483647)::int)",
      postgres::kLockSpace))) {
    if (Clock::now() >= end) {
      throw Failed{{ErrorCode::kConflict, "another plackett serves this store"}};
    }
    std::this_thread::sleep_for(kPause);
  }
}

void PostgresStore::attach(Connection& connection) {
  if (!committed_) take(postgres::make_schema(connection));
  if (options_.alone) keep_others_out(connection);
  if (options_.shared && node_ == 0) return;  // join() does the rest
  const std::int64_t mark = next_mark();
  take(connection.begin());
  take(connection.send("SELECT set_config('lock_timeout', $1, true)",
                       std::string_view(options_.shared ? "3s" : "10s")));
  take(connection.send(
      "INSERT INTO store_nodes(node, committed) VALUES($1, 0) ON CONFLICT DO NOTHING", node_));
  const auto [found, is_ended] =
      take(connection.first(
               "SELECT committed, ended FROM store_nodes WHERE node = $1 FOR UPDATE",
               [](const Row& row) { return std::pair(row.integer(0), row.integer(1) != 0); },
               node_))
          .value_or(std::pair(std::int64_t{0}, false));
  take(connection.send("UPDATE store_nodes SET committed = $2 WHERE node = $1", node_, mark));
  const auto before_attached = std::exchange(attached_, mark);
  const bool is_known =
      !committed_ || found == *committed_ || found == before_attached || found == doubtful_;
  if (left_) find_left(connection);
  if (!is_known) {
    beyond_repair_ = fmt::format(
        "another process wrote to the store as node {}, or the database was restored or "
        "replaced; restart the service",
        node_);
    throw Failed{{ErrorCode::kUnavailable, beyond_repair_}};
  }
  doubtful_is_there_ = doubtful_is_there_ || found == doubtful_;
  // So that the next attempt knows it, too, if the connection is lost before this one's commit.
  if (committed_) committed_ = found;
  if (is_ended) throw Failed{ended_by_others()};
  take(connection.commit());
  committed_ = mark;
  attached_.reset();
  is_refused_ = false;
  left_.reset();
  // Where there are several, the service reads what it leads again after a failure.
  if (doubtful_is_there_ && is_answered_ && shared_ == nullptr) {
    beyond_repair_ =
        "a transaction that was reported as failed is in the store; restart the service";
    throw Failed{{ErrorCode::kUnavailable, beyond_repair_}};
  }
  doubtful_.reset();
}

void PostgresStore::find_left(Connection& connection) {
  const auto mark = take(connection.first("SELECT committed FROM store_nodes WHERE node = $1",
                                          first_column<Row>, left_->node));
  if (mark && std::find(left_->marks.begin(), left_->marks.end(), mark) != left_->marks.end()) {
    return;
  }
  beyond_repair_ = fmt::format(
      "the database lacks what this process wrote as node {}: it was restored or replaced, or a "
      "standby that was behind was promoted; restart the service",
      left_->node);
  throw Failed{{ErrorCode::kUnavailable, beyond_repair_}};
}

void PostgresStore::join() {
  if (committed_) left_ = Left{node_, {committed_, attached_, doubtful_}};
  node_ = shared_->node();
  committed_.reset();
  attached_.reset();
  doubtful_.reset();
  if (connection_->lost()) return take(connection_->reopen());  // which attaches
  attach(*connection_);
}

Result<void> PostgresStore::lock(const Touched& touched) {
  if (shared_ == nullptr) return {};
  return attempt([&] { read_ahead(touched); });
}

// Locks models and then lists, each in the order of ids, so that two processes can't wait for each
// other. What they hold is read after the locks are had.
void PostgresStore::read_ahead(const Touched& touched) {
  if (!touched.models.empty()) {
    take(
        send("SELECT 1 FROM models WHERE id = ANY(string_to_array($1, ',')::bigint[]) ORDER BY id "
             "FOR NO KEY UPDATE",
             fmt::format("{}", fmt::join(touched.models, ","))));
  }
  std::vector<std::int64_t> impressions = touched.impressions;
  each_model(touched.given, ahead_.given, [&](std::int64_t model, const std::string& names) {
    take(connection_->each(
        "SELECT given, impression FROM given_ids WHERE model = $1 AND given = ANY($2::text[])",
        [&](const Row& row) {
          ahead_.given[{model, std::string(row.text(0))}] = row.integer(1);
          impressions.push_back(row.integer(1));
        },
        model, names));
  });
  take(postgres::read_rows(*connection_, impressions, postgres::Locks::kUpdate, ahead_));
  each_model(touched.event_ids, ahead_.event_ids,
             [&](std::int64_t model, const std::string& names) {
               take(connection_->each(
                   "SELECT event_id FROM events WHERE impression >> 40 = $1 AND event_id = "
                   "ANY($2::text[]) AND event_id IS NOT NULL",
                   [&](const Row& row) {
                     ahead_.event_ids[{model, std::string(row.text(0))}] = true;
                   },
                   model, names));
             });
}

Result<void> PostgresStore::commit() {
  if (!is_changed_) return connection_->commit();
  const std::int64_t mark = next_mark();
  // NULL is refused: then the transaction fails.
  if (auto sent = connection_->send(
          "UPDATE store_nodes SET committed = CASE WHEN committed = $2 AND ended = 0 THEN $3 END "
          "WHERE node = $1",
          node_, *committed_, mark);
      !sent) {
    return sent;
  }
  auto done = connection_->commit();
  if (done) {
    committed_ = mark;
    return done;
  }
  if (connection_->state() == "PL001") obstacle_ = Obstacle::kFenced;
  if (connection_->state() == kDivisionByZero) obstacle_ = Obstacle::kNoModel;
  if (connection_->state() == "23502" && shared_ != nullptr) {
    is_refused_ = true;
    return ended_by_others();
  }
  if (connection_->state() == "23502") {
    beyond_repair_ =
        fmt::format("another process writes to the store as node {}; restart the service", node_);
    return Error{ErrorCode::kUnavailable, beyond_repair_};
  }
  if (!connection_->in_doubt()) return done;
  doubtful_ = mark;
  doubtful_is_there_ = false;
  is_answered_ = false;
  connection_->roll_back();
  for (const auto end = Clock::now() + (options_.shared ? kSharedPatience : kPatience);;) {
    // Once attach() has committed, a standby that is waited for has all that it found, too.
    if (connection_->reopen()) break;
    if (!beyond_repair_.empty() || Clock::now() >= end) {
      is_answered_ = true;
      return done;
    }
    std::this_thread::sleep_for(kPause);
  }
  // attach() has looked.
  is_answered_ = true;
  return std::exchange(doubtful_is_there_, false) ? Result<void>() : done;
}

Result<void> PostgresStore::vacuum() {
  return attempt([&] {
    const std::string patience =
        take(connection_->first("SELECT current_setting('lock_timeout')", [](const Row& row) {
          return std::string(row.text(0));
        })).value_or("0");
    take(connection_->script("SET lock_timeout = '5s'"));
    Result<void> done;
    for (const char* table : kVacuumed) {
      done = connection_->script(fmt::format("VACUUM (FULL) {}", table));
      if (!done) break;
    }
    const bool is_locked = !done && connection_->state() == "55P03";
    [[maybe_unused]] const auto reset =
        connection_->script(fmt::format("SET lock_timeout = '{}'", patience));
    measure_disk();
    if (is_locked) {
      throw Failed{{ErrorCode::kConflict,
                    "another program uses the store; what was deleted leaves its files when it is "
                    "rewritten after that has ended"}};
    }
    take(done);
  });
}

void PostgresStore::measure_disk() {
  sized_at_ = Clock::now();
  if (const auto bytes = postgres::disk_bytes(*connection_)) disk_bytes_ = *bytes;
}

}  // namespace

Result<std::unique_ptr<Store>> open_postgres(const PostgresOptions& options) {
  auto store = std::make_unique<PostgresStore>(options);
  if (auto opened = attempt([&] { store->open(); }); !opened) {
    return opened.error().in(postgres::without_password(options.url));
  }
  return std::unique_ptr<Store>(std::move(store));
}

Result<std::unique_ptr<StoreReader>> read_postgres(const std::string& url,
                                                   const std::string& name) {
  auto connection =
      Connection::open({.url = url,
                        .name = name.empty() ? "plackett reader" : name,
                        .name_is_fixed = !name.empty(),
                        .read_only = true,
                        .patience = name.empty() ? std::chrono::seconds(0) : kReaderAnswer},
                       [](Connection& opened) { take(postgres::check_schema(opened)); });
  if (!connection) return connection.error().in(postgres::without_password(url));
  return postgres::make_reader(*std::move(connection));
}

}  // namespace plackett::store
