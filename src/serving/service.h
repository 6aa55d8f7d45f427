// The learning service without HTTP: models, rankings, feedback, snapshots, and what there is to
// see of them. All calls may come from any thread. Calls that change something end when that is
// in the store, and tell so through `done`; the others answer at once.
//
//   caller's thread   ranks with the last published version, hands the impression to the writer
//   writer            the only one that writes the store: groups of requests, one commit a group
//   syncer            brings the writer's commits to the disk, one sync for a group
//   learner           owns the models' parameters, learns in the log's order, publishes versions
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::serving {

class Model;        // a served model; lives as long as someone holds it
class RankingRoom;  // what one thread needs to rank: scratch, and its own copy of the rankers
struct ServiceParts;

using ModelHandle = std::shared_ptr<Model>;

// Called once with the outcome, from one of the service's threads: must be quick, must not throw.
template <typename T>
using Done = std::function<void(Result<T>)>;

// Milliseconds since 1970, as the system's clock has them.
std::int64_t system_ms();

struct ServiceOptions {
  std::filesystem::path db;
  std::size_t queue_limit = 4096;  // requests waiting for the writer; more are refused
  std::uint64_t number_block = std::uint64_t{1} << 18;  // impressions' numbers reserved at once
  std::uint64_t snapshot_every = 20'000;                // log entries between automatic snapshots
  std::uint32_t automatic_snapshots_kept = 5;           // a model
  std::uint64_t keep_seconds = 0;  // impressions older are dropped; 0: none are
  std::string vfs{};               // SQLite's, for tests that fail it; empty: the system's
  std::uint64_t keep_bytes = 0;    // the oldest are dropped above this; 0: none are
  std::uint64_t log_pages = 8000;  // 64 MB: with more, the store's log of writes is moved
  // What time it is, asked from any thread; tests have one of their own.
  std::function<std::int64_t()> clock = system_ms;
};

// What a model is and how it stands.
struct ModelInfo {
  ModelSpec spec;
  std::int64_t created_at = 0;  // ms since 1970
  std::uint64_t version = 0;
  std::uint64_t updates = 0;
  std::uint64_t impressions = 0;  // shown
  std::uint64_t learned = 0;      // impressions learned from
  std::uint64_t open = 0;         // impressions that wait for feedback
  std::uint64_t items = 0;        // stored
  std::uint64_t parameters = 0;
  bool learning = true;
  std::string frozen_because;  // empty where it learns
};

struct Created {
  ModelInfo info;
  bool is_new = false;
};

// A request to rank. Reused between requests; the views point into the caller's memory.
struct RankRequest {
  struct Pin {
    std::uint32_t item = 0;  // index into `items`
    std::uint32_t rank = 0;  // from 0
  };
  std::string_view id;                  // the caller's own; empty: none
  std::vector<std::string_view> items;  // distinct ids
  std::vector<std::uint8_t> given;      // given[item]: its features stand in `rows`
  AlignedVector<float> rows;            // a row of padded_width(features) an item, finite
  std::vector<Pin> pinned;
  std::vector<std::uint8_t> blocked;  // blocked[item]
  std::uint32_t k = 0;                // 0: the model's
  bool exploit = false;
  std::string_view context;  // any text, kept with the impression

  void clear();
};

struct RankedItem {
  std::uint32_t item = 0;  // index into the request's items
  double score = 0;
  bool pinned = false;
};

struct ImpressionToKeep;  // opaque: what the store will hold

struct Ranked {
  std::string impression;
  std::uint64_t model_version = 0;
  std::vector<RankedItem> items;  // items[rank]
  double log_probability = 0;
  double entropy = 0;
  std::shared_ptr<ImpressionToKeep> record;
};

enum class EventKind : std::uint8_t { kClick = 0, kView = 1, kClose = 2 };

struct FeedbackEvent {
  std::string impression;
  std::string item;      // empty for kClose
  std::string event_id;  // empty: none
  EventKind kind = EventKind::kClick;
};

enum class FeedbackStatus : std::uint8_t {
  kAccepted = 0,
  kDuplicate = 1,
  kLate = 2,
  kUnknownImpression = 3,
  kUnknownItem = 4,
};
inline constexpr std::size_t kFeedbackStatuses = 5;
std::string_view name_of(FeedbackStatus status);  // "accepted", "unknown_impression", ...

struct SnapshotInfo {
  std::int64_t id = 0;
  std::int64_t created_at = 0;
  std::uint64_t updates = 0;
  std::uint64_t learned = 0;
  std::uint64_t log = 0;  // the log's entry that it stands after
  std::string kind;       // "asked", "automatic", "imported"
  std::string note;
};

struct FeatureWeight {
  std::uint32_t feature = 0;  // its id in the source, from 1
  std::string name;           // empty: none
  std::optional<double> weight;
  double strength = 0;
};

struct Weights {
  std::uint64_t version = 0;
  std::vector<FeatureWeight> features;
};

struct Totals {
  std::uint64_t impressions = 0;
  std::uint64_t clicked = 0;  // impressions with a click
  std::uint64_t clicks = 0;
  double reciprocal_ranks = 0;  // summed over clicked impressions
};

struct StatsPoint {
  std::int64_t at = 0;  // ms, the bucket's start
  Totals totals;
  double entropies = 0;  // summed over impressions
  std::uint64_t updates = 0;
  double update_norms = 0;  // summed over updates
};

struct Stats {
  std::uint32_t step_seconds = 0;
  Totals first_day;
  Totals total;
  std::vector<StatsPoint> points;  // oldest first
};

struct SeenItem {
  std::string id;
  double score = 0;
  bool pinned = false;
  bool clicked = false;
  bool viewed = false;
};

struct SeenPair {
  std::uint32_t winner = 0;  // ranks, from 0
  std::uint32_t loser = 0;
  double rho = 0;
  double weight = 0;
};

struct SeenImpression {
  std::string id;
  std::int64_t shown_at = 0;
  std::uint64_t model_version = 0;
  bool exploit = false;
  std::string state;            // "open", "learned", "expired", "closed"
  std::vector<SeenItem> items;  // items[rank]
  double log_probability = 0;
  double entropy = 0;
  std::string context;  // empty: none
  std::vector<SeenPair> pairs;
};

// Counters and gauges of one model, for metrics.
struct ModelMeters {
  std::string name;
  std::uint64_t impressions = 0;
  std::uint64_t open = 0;
  std::uint64_t events[kFeedbackStatuses] = {};  // by status; clicks, views and closes alike
  std::uint64_t clicks[kFeedbackStatuses] = {};  // clicks alone
  std::uint64_t updates = 0;
  std::uint64_t version = 0;
  double update_norm = 0;  // of the last update
  double entropy = 0;      // of the last ranking
  std::uint64_t items = 0;
  bool learning = true;
};

struct ServiceMeters {
  std::vector<ModelMeters> models;
  std::uint64_t writer_queue = 0;    // requests waiting
  double store_lag_seconds = 0;      // age of the oldest of them
  std::uint64_t learning_queue = 0;  // log entries committed and not yet learned
  double learning_lag_seconds = 0;   // age of the oldest of them
  std::uint64_t commits = 0;
  double commit_seconds = 0;  // summed
  std::uint64_t syncs = 0;
  double sync_seconds = 0;  // summed
  std::uint64_t write_failures = 0;
  std::uint64_t store_bytes = 0;
};

class Service {
 public:
  // Opens or makes the store, and brings every model back: its last snapshot, and the log since.
  static Result<std::unique_ptr<Service>> open(const ServiceOptions& options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  // Refuses what comes from now on, finishes what was taken, learns from it, takes snapshots,
  // syncs and closes. Blocks; a second call does nothing.
  void stop();

  // Why it could not take writes now; empty where it can.
  [[nodiscard]] std::string not_ready() const;

  [[nodiscard]] ModelHandle find(std::string_view name) const;  // null: there is none
  [[nodiscard]] std::vector<ModelInfo> models() const;          // by name
  [[nodiscard]] ModelInfo info(const Model& model) const;
  void create(ModelSpec spec, Done<Created> done);
  void remove(const ModelHandle& model, Done<void> done);

  // `rows`: one of padded_width(features) floats an id. All or none; `done` has the stored count.
  void put_items(const ModelHandle& model, std::vector<std::string> ids, AlignedVector<float> rows,
                 Done<std::uint64_t> done);
  void remove_item(const ModelHandle& model, const std::string& id, Done<void> done);
  [[nodiscard]] Result<std::vector<float>> item(const Model& model, std::string_view id) const;

  // One a thread.
  [[nodiscard]] std::unique_ptr<RankingRoom, void (*)(RankingRoom*)> make_room() const;

  // Ranks with the last published version; never waits for the learner or the store. What it
  // gives is to be shown only when keep() has said that it is in the store.
  [[nodiscard]] Result<Ranked> rank(Model& model, const RankRequest& request,
                                    RankingRoom& room) const;
  void keep(const ModelHandle& model, std::shared_ptr<ImpressionToKeep> record, Done<void> done);

  // All events or, where the store fails, none. Done when they are on the disk and what they
  // closed is learned.
  void feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                Done<std::vector<FeedbackStatus>> done);

  [[nodiscard]] Result<std::vector<SnapshotInfo>> snapshots(const Model& model) const;
  void take_snapshot(const ModelHandle& model, std::string note, Done<SnapshotInfo> done);
  void roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done);
  void set_learning(const ModelHandle& model, bool on, Done<ModelInfo> done);
  [[nodiscard]] Weights weights(const Model& model) const;

  // The model file of the published version; and one taken in, into a model that is there or,
  // where there is none of that name, a new one.
  [[nodiscard]] std::vector<std::byte> export_file(const Model& model) const;
  void import_file(std::string name, std::vector<std::byte> file, Done<ModelInfo> done);

  [[nodiscard]] Result<Stats> stats(const Model& model, std::uint32_t points) const;
  [[nodiscard]] Result<std::vector<SeenImpression>> impressions(const Model& model,
                                                                std::uint32_t limit,
                                                                bool clicked_only) const;
  [[nodiscard]] Result<SeenImpression> impression(const Model& model, std::string_view id) const;

  [[nodiscard]] ServiceMeters meters() const;

 private:
  explicit Service(std::unique_ptr<ServiceParts> parts);
  std::unique_ptr<ServiceParts> parts_;
};

// What callers may know of a model without asking the service. Never changes.
const ModelSpec& spec_of(const Model& model);

}  // namespace plackett::serving
