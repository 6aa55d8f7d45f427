// Where the service keeps models, impressions, feedback and its log. The service owns this
// interface and src/store/ implements it, one folder per database; docs/formats/store.md describes
// the data. tests/store/ holds the tests that every implementation must pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "offpolicy/ratio_sums.h"
#include "plackett/result.h"

namespace plackett::serving {

// Times are milliseconds since 1970. The values of enums are part of the format: never renumber.

// The key of an impression: the model, and the impression's number within it, from 0.
struct ImpressionKey {
  std::int64_t model = 0;
  std::uint64_t number = 0;

  static constexpr int kNumberBits = 40;
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << kNumberBits;

  [[nodiscard]] std::int64_t id() const {
    return (model << kNumberBits) | static_cast<std::int64_t>(number);
  }
  static ImpressionKey of(std::int64_t id) {
    return {id >> kNumberBits, static_cast<std::uint64_t>(id) & (kNumbers - 1)};
  }
};

struct ModelRow {
  std::int64_t id = 0;  // never used again
  std::string name{};
  std::int64_t created_at = 0;
  std::string spec{};             // the service's to read
  std::uint64_t next_number = 0;  // no impression with this number or a higher one was shown
  std::uint64_t expired = 0;      // impressions with lower numbers take no more feedback
  std::int64_t dropped_log = 0;   // log entries up to this one may have been dropped
};

// How a shown list was made.
enum class Mode : std::uint8_t {
  kExplore = 0,      // sampled
  kExploit = 1,      // sorted by score
  kGiven = 2,        // in the caller's own order
  kInterleaved = 3,  // drafted from two orders in turns, for an experiment
};
inline std::string_view name_of(Mode mode) {
  constexpr std::array<std::string_view, 4> kNames{"explore", "exploit", "given", "interleaved"};
  return kNames.at(static_cast<std::size_t>(mode));
}

// Where a list belongs in an experiment.
struct ArmOfList {
  std::int64_t experiment = 0;  // its id; 0: in none
  std::string arm{};            // its name; empty if interleaved
  std::string teams{};          // if interleaved, per rank: '0' baseline, '1' challenger, '-' none
};

// A shown list. What SQL can read of it is in columns, the rest is packed by impression.h. Rows of
// stores that were made before version 2 have all in `data`, and no `shown`.
struct ImpressionRow {
  std::int64_t id = 0;
  std::int64_t shown_at = 0;
  std::uint64_t version = 0;  // of the model
  std::string given{};        // the caller's own id; empty if none
  std::string unit{};         // whom it was shown to; empty if unknown
  Mode mode = Mode::kExplore;
  double keep = 0;        // with which probability the other candidates are kept
  bool kept = false;      // whether they are
  std::string shown{};    // the shown items as JSON: shown_items.h
  std::string context{};  // JSON; empty if none
  std::vector<std::byte> data{};
  ArmOfList in{};
};

// Whether an impression takes feedback, and how it was closed.
enum class Closed : std::uint8_t {
  kNo = 0,
  kLearned = 1,    // by its user
  kExpired = 2,    // its time was up
  kUnlearned = 3,  // by its user, and not learned from
};

// What users did with an impression so far: one byte per shown rank, 0 or 1.
struct ResponseRow {
  std::vector<std::byte> clicked{};
  std::vector<std::byte> viewed{};
  Closed closed = Closed::kNo;
};

enum class EventKind : std::uint8_t {
  kClick = 0,
  kView = 1,
  kClose = 2,
  kNamed = 3,  // of a kind that the model's owner declared, such as a purchase
};

struct EventRow {
  std::int64_t impression = 0;
  std::optional<std::uint32_t> rank{};  // none for kClose
  EventKind kind = EventKind::kClick;
  std::int64_t at = 0;
  std::string_view event_id{};  // empty if none
  std::string_view name{};      // of kNamed
};

// The features of an item, as they were from one change to the next.
struct ItemVersion {
  std::string id{};
  std::vector<std::byte> features{};
};

// What happened to a model.
enum class LogKind : std::uint8_t {
  kLearn = 1,     // argument: id of an impression that its user closed
  kExpire = 2,    // argument: id of an impression whose time was up
  kRollback = 3,  // argument: id of a snapshot
  kFreeze = 4,
  kResume = 5,
  // What is shown if a request does not say. Argument: id of a snapshot that is loaded, or 0.
  kServeExplore = 6,
  kServeGiven = 7,
  kServeExploit = 8,
};

struct LogEntry {
  std::int64_t seq = 0;  // increases over all models
  std::int64_t model = 0;
  LogKind kind = LogKind::kLearn;
  std::int64_t argument = 0;
};

enum class SnapshotKind : std::uint8_t { kAsked = 0, kAutomatic = 1, kImported = 2 };
inline std::string_view name_of(SnapshotKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"asked", "automatic", "imported"};
  return kNames.at(static_cast<std::size_t>(kind));
}

// A model at one moment.
struct SnapshotRow {
  std::int64_t id = 0;
  std::int64_t model = 0;
  std::int64_t log = 0;  // the last log entry that it includes
  std::int64_t created_at = 0;
  SnapshotKind kind = SnapshotKind::kAsked;
  std::string note{};
  std::uint64_t version = 0;
  std::uint64_t updates = 0;
  std::uint64_t learned = 0;
  bool learning = true;
  std::string frozen_because{};
  Mode serves = Mode::kExplore;   // how lists are made if a request does not say
  std::vector<std::byte> file{};  // a model file; left out of lists
};

// Sums over a span of time.
struct SeriesRow {
  std::int64_t at = 0;  // start of the span
  std::uint64_t impressions = 0;
  std::uint64_t clicked = 0;  // impressions with a click
  std::uint64_t clicks = 0;
  double reciprocal_ranks = 0;
  double entropies = 0;
  std::uint64_t updates = 0;
  double update_norms = 0;

  void add(const SeriesRow& other) {
    impressions += other.impressions;
    clicked += other.clicked;
    clicks += other.clicks;
    reciprocal_ranks += other.reciprocal_ranks;
    entropies += other.entropies;
    updates += other.updates;
    update_norms += other.update_norms;
  }
};

// A test of policies on live traffic.
struct ExperimentRow {
  std::int64_t id = 0;  // never used again
  std::int64_t model = 0;
  std::string name{};   // unique within the model
  std::string spec{};   // the service's to read
  std::string state{};  // likewise
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;  // 0: it runs
};

// Sums over the lists of one arm.
struct ArmSums {
  std::uint64_t impressions = 0;
  std::uint64_t clicks = 0;
  RatioSums units{};  // over units, of what the service compares
};

// The sums of an experiment's arms at one time.
struct ArmsPoint {
  std::int64_t at = 0;
  std::vector<ArmSums> arms{};
};

// What a transaction is about to read and to change. A store that other processes write, too, locks
// all of it at once, and reads it in one go.
struct Touched {
  using Names = std::vector<std::pair<std::int64_t, std::string>>;  // with their models

  std::vector<std::int64_t> models{};       // whose rows change
  std::vector<std::int64_t> impressions{};  // whose feedback may change
  Names given{};                            // the same, by the ids that their callers gave
  Names event_ids{};
};

// What was in the way of a transaction that failed.
enum class Obstacle : std::uint8_t {
  kNone,      // nothing that a second try would change
  kOther,     // another process
  kDeadlock,  // one that waited for this transaction, which waited for it
  kFenced,    // another process leads a model: Store::fence()
  kNoModel,   // another process has removed a model: Store::expect_models()
};

// Numbers that a node may give to lists.
struct NumberBlock {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int64_t node = 0;  // whose they are
};

class SharedStore;  // shared_store.h

// Reads a store: each call sees what was committed when it began. One thread at a time.
// A call fails, with ErrorCode::kUnavailable, only if the database can't be read.
class StoreReader {
 public:
  StoreReader() = default;
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;
  virtual ~StoreReader() = default;

  // Whether a call that failed is worth another attempt after a while: the database is another
  // process, which may come back.
  [[nodiscard]] virtual bool may_recover() const { return false; }

  // By id.
  virtual Result<std::vector<ModelRow>> models() = 0;
  virtual Result<std::optional<ModelRow>> model(std::int64_t id) = 0;
  // Deleted models that still have rows.
  virtual Result<std::vector<std::int64_t>> deleted_models() = 0;
  // Calls `each` with id, version and features of every item; stops at its first error.
  using EachItem =
      std::function<Result<void>(std::string_view, std::int64_t, std::span<const std::byte>)>;
  virtual Result<void> items(std::int64_t model, const EachItem& each) = 0;
  virtual Result<std::optional<ItemVersion>> item_version(std::int64_t version) = 0;
  // The present versions of items, in the order of `ids`; 0 of those that are not stored.
  virtual Result<std::vector<std::int64_t>> versions_of(std::int64_t model,
                                                        std::span<const std::string> ids) = 0;

  // Reads these impressions and their responses in one go, where each call costs a round trip.
  // Until the next call, those that read one of them may give what this call has read.
  virtual Result<void> read_ahead(std::span<const std::int64_t> /*impressions*/) { return {}; }
  virtual Result<std::optional<ImpressionRow>> impression(std::int64_t id) = 0;
  // The impression with the caller's own id.
  virtual Result<std::optional<std::int64_t>> given_id(std::int64_t model,
                                                       std::string_view given) = 0;
  // Ids, newest first. `clicked_only`: only those with a click, among the newest few thousand with
  // feedback.
  virtual Result<std::vector<std::int64_t>> recent(std::int64_t model, std::uint32_t limit,
                                                   bool clicked_only) = 0;
  // Ids of impressions with this number or a higher one, in order; at most `limit`.
  virtual Result<std::vector<std::int64_t>> from(std::int64_t model, std::uint64_t number,
                                                 std::uint32_t limit) = 0;
  // Ids of a unit's impressions with this number or a higher one, in order; at most `limit`.
  virtual Result<std::vector<std::int64_t>> of_unit(std::int64_t model, std::string_view unit,
                                                    std::uint64_t number, std::uint32_t limit) = 0;
  // Whether some impression has its candidates.
  virtual Result<bool> has_candidates(std::int64_t model) = 0;
  // The number and time of the first impression with this number or a higher one.
  using Shown = std::pair<std::uint64_t, std::int64_t>;
  virtual Result<std::optional<Shown>> shown_from(std::int64_t model, std::uint64_t number) = 0;
  // The same of the last impression with a lower number.
  virtual Result<std::optional<Shown>> shown_before(std::int64_t model, std::uint64_t number) = 0;

  // The number of the last of the newest `count` impressions, by number, among those that were
  // shown at `time` or before; none if there are fewer.
  virtual Result<std::optional<std::uint64_t>> newest_shown(std::int64_t model, std::int64_t time,
                                                            std::uint64_t count) = 0;
  // Whether impressions with higher numbers were shown later, unless a clock was wrong.
  [[nodiscard]] virtual bool numbers_follow_time() const { return true; }

  // Where several nodes make lists: every list with a lower number that will ever be stored is
  // stored.
  virtual Result<std::uint64_t> end_of_stored(std::int64_t /*model*/) {
    return ImpressionKey::kNumbers;
  }

  virtual Result<std::optional<ResponseRow>> response(std::int64_t impression) = 0;
  // How many impressions with numbers in [from, to) are closed.
  virtual Result<std::uint64_t> closed_count(std::int64_t model, std::uint64_t from,
                                             std::uint64_t to) = 0;
  // The number of the first impression in [from, to) that is not closed and was shown after `time`.
  virtual Result<std::optional<std::uint64_t>> first_open(std::int64_t model, std::uint64_t from,
                                                          std::uint64_t to, std::int64_t time) = 0;
  // Ids of impressions below number `end` that have feedback and are not closed; in order, at most
  // `limit`.
  virtual Result<std::vector<std::int64_t>> waiting(std::int64_t model, std::uint64_t end,
                                                    std::uint32_t limit) = 0;
  // The same of impressions that were shown at `time` or before; oldest first.
  virtual Result<std::vector<std::int64_t>> waiting_since(std::int64_t model, std::int64_t time,
                                                          std::uint32_t limit) = 0;
  virtual Result<bool> event_seen(std::int64_t model, std::string_view event_id) = 0;
  // Events of kind kNamed about an impression: their ranks and names.
  using NamedEvent = std::pair<std::uint32_t, std::string>;
  virtual Result<std::vector<NamedEvent>> named_events(std::int64_t impression) = 0;

  // Entries after `seq`, in order; at most `limit`.
  virtual Result<std::vector<LogEntry>> log(std::int64_t model, std::int64_t after,
                                            std::uint32_t limit) = 0;
  // The last entry about an impression with a number in [from, to); 0 if there is none.
  virtual Result<std::int64_t> last_log_of(std::int64_t model, std::uint64_t from,
                                           std::uint64_t to) = 0;
  // Whether a log entry loads it.
  virtual Result<bool> is_loaded(std::int64_t snapshot) = 0;

  // Newest first, without files.
  virtual Result<std::vector<SnapshotRow>> snapshots(std::int64_t model) = 0;
  virtual Result<std::optional<SnapshotRow>> snapshot(std::int64_t id) = 0;
  // SnapshotRow::log of the oldest snapshot that includes entry `seq` and was not imported.
  virtual Result<std::optional<std::int64_t>> base_snapshot(std::int64_t model,
                                                            std::int64_t seq) = 0;

  // In steps of `step_ms`, oldest first.
  virtual Result<std::vector<SeriesRow>> series(std::int64_t model, std::int64_t step_ms) = 0;
  // Over spans that start in [from, before); `at` is the first one's.
  virtual Result<SeriesRow> series_total(std::int64_t model, std::int64_t from,
                                         std::int64_t before) = 0;

  // Of all models, oldest first; without those that retire_experiment() deleted.
  virtual Result<std::vector<ExperimentRow>> experiments() = 0;
  // What retire_experiment() left of a model's: id, model and state.
  virtual Result<std::vector<ExperimentRow>> retired_experiments(std::int64_t model) = 0;
  // One per arm; those without a list have none at the end.
  virtual Result<std::vector<ArmSums>> arm_sums(std::int64_t experiment) = 0;
  // What a unit came to in an experiment. `unit`: the service's key of it.
  virtual Result<UnitTotals> unit_totals(std::int64_t experiment, std::int64_t unit) = 0;
  // Experiments, deleted ones too, that have totals of units.
  virtual Result<std::vector<std::int64_t>> experiments_with_units() = 0;
  // Oldest first.
  virtual Result<std::vector<ArmsPoint>> arm_points(std::int64_t experiment) = 0;
};

// Writes a database. One thread at a time. Its process is the only one that does, unless shared()
// says otherwise.
//
// Changes are made between begin() and commit() or roll_back(); all of them are kept or none. A
// store may say only at a later call, or at the commit, that a change has failed. A commit that
// returned success survives the loss of power. After a failed change or commit, call roll_back():
// nothing of the transaction is visible then, and the next one starts clean (but a loss of power
// may still bring back a transaction whose commit failed).
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // Another reader, for use by another thread. From any thread.
  virtual Result<std::unique_ptr<StoreReader>> open_reader() = 0;
  // Sees the changes of the current transaction.
  virtual StoreReader& read() = 0;

  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  virtual void roll_back() = 0;
  // Of the transaction that failed last: if there was one, it may succeed if it is made again from
  // its beginning.
  [[nodiscard]] virtual Obstacle obstacle() const { return Obstacle::kNone; }

  // What several nodes need of the store; null if there is only one.
  virtual SharedStore* shared() { return nullptr; }
  // The node that the transaction is of; 0 if there is only one.
  [[nodiscard]] virtual std::int64_t node() const { return 0; }
  // Keeps other nodes from changing this until the transaction ends. No more than a hint if there
  // is one node.
  virtual Result<void> lock(const Touched& /*touched*/) { return {}; }
  // The transaction changes the model's settings, items, experiments or snapshots. Other nodes
  // can't do so until it ends, and are told then. Fails with ErrorCode::kNotFound if another node
  // has removed the model.
  virtual Result<void> change_model(std::int64_t /*id*/) { return {}; }
  // Fails the transaction if another node has removed one of the models before.
  virtual Result<void> expect_models(std::span<const std::int64_t> /*ids*/) { return {}; }
  // Fails the transaction if another node has led the model since this one got the lead with
  // `epoch`.
  virtual Result<void> fence(std::int64_t /*model*/, std::int64_t /*epoch*/) { return {}; }
  // Asks the node that leads the model to log this.
  virtual Result<void> queue_log(const LogEntry& /*entry*/, std::int64_t /*at*/) {
    return Error{ErrorCode::kUnavailable, "no other node leads the model"};
  }
  // What other nodes asked it to log, without seq, oldest first; they are no longer queued.
  virtual Result<std::vector<LogEntry>> take_queued(std::int64_t /*model*/,
                                                    std::uint32_t /*limit*/) {
    return std::vector<LogEntry>();
  }
  // Numbers that no node has had before.
  virtual Result<NumberBlock> reserve_numbers(std::int64_t model, std::uint64_t count) = 0;
  // The node gives no number of its blocks below this one to lists any more.
  virtual Result<void> set_numbers_used(std::int64_t /*model*/, std::uint64_t /*below*/) {
    return {};
  }

  // The store's own housekeeping; call it between transactions, when no answer waits.
  virtual void tidy() = 0;
  // A change without effect: fails if nothing can be written.
  virtual Result<void> probe() = 0;
  // Why only a restart of the process helps: what it has in memory is not what the database has.
  // Empty if it may go on.
  [[nodiscard]] virtual std::string beyond_repair() const { return ""; }

  // Gives up the numbers that were reserved for log entries: to be called when another process may
  // have appended to the log of a model that this one appends to next.
  virtual void discard_reserved() {}

  // Inserts and gives the id. If the name is taken, it fails with ErrorCode::kConflict, and the
  // transaction can go on.
  virtual Result<std::int64_t> insert_model(const ModelRow& model) = 0;
  // Deletes the row alone; drop_rows() deletes what belongs to it.
  virtual Result<void> delete_model(std::int64_t id) = 0;
  virtual Result<void> set_model_spec(std::int64_t id, std::string_view spec) = 0;
  // Sets next_number, expired and dropped_log.
  virtual Result<void> set_model_marks(const ModelRow& model) = 0;

  // Inserts or replaces, and gives the new version, which is above 0 and never used again. What it
  // replaces can be read until drop_impressions() drops all below number `end`; if that is 0, it is
  // dropped at once. A store of several nodes finds `end` itself, from the numbers that they have.
  virtual Result<std::int64_t> put_item(std::int64_t model, std::string_view id,
                                        std::span<const std::byte> features, std::uint64_t end) = 0;
  // Gives the version that it had, 0 if it was not there. That can be read as long as one that was
  // replaced.
  virtual Result<std::int64_t> delete_item(std::int64_t model, std::string_view id,
                                           std::uint64_t end) = 0;

  // No impression with this number or a higher one refers to what was replaced or deleted so far.
  virtual Result<void> limit_references(std::int64_t model, std::uint64_t end) = 0;

  // If the caller's own id is taken, it may fail with ErrorCode::kConflict, and the transaction can
  // go on; or as any other change.
  virtual Result<void> insert_impression(const ImpressionRow& impression) = 0;
  // Inserts or replaces.
  virtual Result<void> set_response(std::int64_t impression, const ResponseRow& response) = 0;
  virtual Result<void> add_event(const EventRow& event) = 0;
  // Gives the entry its seq, which is higher than any before.
  virtual Result<LogEntry> append_log(LogEntry entry, std::int64_t at) = 0;
  virtual Result<std::int64_t> insert_snapshot(const SnapshotRow& snapshot) = 0;
  virtual Result<void> delete_snapshot(std::int64_t id) = 0;
  virtual Result<void> add_to_series(std::int64_t model, const SeriesRow& sums) = 0;
  // Merges spans that start before `before` into spans of `step_ms`.
  virtual Result<void> coarsen_series(std::int64_t model, std::int64_t before,
                                      std::int64_t step_ms) = 0;

  // If the model has an experiment of that name, it fails with ErrorCode::kConflict, and the
  // transaction can go on.
  virtual Result<std::int64_t> insert_experiment(const ExperimentRow& experiment) = 0;
  // Sets state and ended_at.
  virtual Result<void> set_experiment_state(const ExperimentRow& experiment) = 0;
  // With its sums and points, but for its units' totals. Lists keep its number.
  virtual Result<void> delete_experiment(std::int64_t id) = 0;
  // As delete_experiment(), but its number still says whose it was, and its state what the caller
  // put there: until the model is deleted. The name can be used again.
  virtual Result<void> retire_experiment(std::int64_t id, std::string_view state) = 0;
  // Drops totals of units, at most `limit`; true if none is left.
  virtual Result<bool> drop_unit_totals(std::int64_t experiment, std::uint32_t limit) = 0;
  virtual Result<void> add_to_arm(std::int64_t experiment, std::uint32_t arm,
                                  const ArmSums& sums) = 0;
  virtual Result<void> set_unit_totals(std::int64_t experiment, std::int64_t unit,
                                       const UnitTotals& totals) = 0;
  virtual Result<void> delete_unit_totals(std::int64_t experiment, std::int64_t unit) = 0;
  // Keeps the sums of the arms as they are now, in place of those at the same time.
  virtual Result<void> add_arm_point(std::int64_t experiment, std::int64_t at) = 0;
  virtual Result<void> delete_arm_point(std::int64_t experiment, std::int64_t at) = 0;

  // Replaces what impression.h packs, and removes unit, context, the caller's own id and the ids of
  // the impression's events.
  virtual Result<void> anonymise(const ImpressionRow& impression) = 0;
  // Drops an impression and all feedback about it.
  virtual Result<void> drop_impression(std::int64_t id) = 0;
  // Drops the impressions below number `end`, all feedback about them, and the versions of items
  // that no later impression can refer to.
  virtual Result<void> drop_impressions(std::int64_t model, std::uint64_t end) = 0;
  // Drops the oldest entries up to `up_to`, at most `limit`; true if none is left.
  virtual Result<bool> drop_log(std::int64_t model, std::int64_t up_to, std::uint32_t limit) = 0;
  // Drops rows of a deleted model, about `limit` per call; true if none is left.
  virtual Result<bool> drop_rows(std::int64_t model, std::uint32_t limit) = 0;

  // Bytes that the data takes, without space that is free inside the files.
  virtual Result<std::uint64_t> used_bytes() = 0;
  // How much of it the items take, without what is kept of replaced and deleted ones; about. Reads
  // all of them, half a second per gigabyte.
  virtual Result<std::uint64_t> item_bytes() = 0;
  // Gives free space back to the system, a part per call. Outside of transactions.
  virtual Result<void> shrink() = 0;
  // Writes the whole store anew, so that its files have nothing that was deleted. Takes time in
  // proportion to the data, and twice as much space again. If others read the store for long, it
  // fails with ErrorCode::kConflict, and the files are rid of it once they have ended. Outside of
  // transactions.
  virtual Result<void> vacuum() = 0;
  // Bytes on the disk. From any thread.
  [[nodiscard]] virtual std::uint64_t disk_bytes() const = 0;
  // Readies the files for being copied or moved; nothing is written later. No reader is open.
  virtual void close() = 0;
};

}  // namespace plackett::serving
