// The learning service without HTTP: models, rankings, feedback, snapshots, statistics. All calls
// may come from any thread. Calls that change something answer through `done`, once the change is
// durable in the store and what it closed is learned; the others answer at once, or block while
// they read the store: read() calls those. docs/path_of_a_click.md has all steps of a click.
//
//   caller's thread   ranks with the last published version, hands the impression to the writer
//   writer            the only one that writes the store: one commit for all waiting requests
//   learner           owns the models' parameters, learns in the log's order, publishes versions
//   reader            reads the store for requests that ask what is in it
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "offpolicy/lift.h"
#include "plackett/option.h"
#include "plackett/result.h"
#include "serving/experiment_spec.h"
#include "serving/impression.h"
#include "serving/model_spec.h"
#include "serving/shared_store.h"
#include "serving/store.h"

namespace plackett {
struct OffPolicyReport;  // plackett/off_policy.h
}  // namespace plackett

namespace plackett::serving {

class Model;           // a served model; lives as long as someone holds it
class RankingScratch;  // memory for ranking, and copies of the rankers; one per thread
struct ServiceParts;
struct WhatIfAnswer;  // what_if.h
struct WhatIfRequest;

using ModelHandle = std::shared_ptr<Model>;

// Called once with the outcome, by the caller's thread if the call is refused at once, else by the
// writer or the learner: must be quick, must not throw.
template <typename T>
using Done = std::function<void(Result<T>)>;

// Milliseconds since 1970, by the system's clock.
std::int64_t system_ms();
// By a clock that never steps, from an arbitrary start.
std::int64_t steady_ms();

struct ServiceOptions {
  std::size_t queue_limit = 4096;  // requests waiting for the writer; more are refused
  std::uint64_t number_block = std::uint64_t{1} << 18;  // impression numbers reserved at once
  std::string node_name{};  // of this process, if several serve the store; empty: the machine's
  std::uint64_t snapshot_every = 20'000;       // log entries between automatic snapshots
  std::uint32_t automatic_snapshots_kept = 5;  // per model
  std::uint64_t keep_days = 0;                 // older impressions are dropped; 0: none
  // Above this, without stored items, the oldest impressions are dropped; 0: none.
  ByteSize keep_bytes = 0;
  // Told, from any thread, what the operator should know, in one line; may be empty.
  std::function<void(const std::string&)> log{};
  // Both are asked from any thread; tests have their own.
  std::function<std::int64_t()> clock = system_ms;
  std::function<std::int64_t()> steady = steady_ms;
};

// Those that operators choose.
std::span<const Option<ServiceOptions>> service_options();

// What a model is, and its state.
struct ModelInfo {
  ModelSpec spec;
  std::int64_t created_at = 0;  // ms since 1970
  std::uint64_t version = 0;
  std::uint64_t updates = 0;
  std::uint64_t impressions = 0;  // shown
  std::uint64_t learned = 0;      // impressions learned from
  // Impressions that take feedback; none if several nodes serve the store: each knows its own.
  std::optional<std::uint64_t> open{};
  std::uint64_t items = 0;  // stored
  std::uint64_t parameters = 0;
  bool learning = true;
  std::string frozen_because;    // empty if it learns
  Mode serves = Mode::kExplore;  // how lists are made for requests without a mode
  std::string experiment;        // that runs; empty if none does
};

struct ImportOptions {
  std::string learner{};  // of a new model; empty: the file's
  std::string scaling{};  // that the file's parameters are for; empty: as the file says
};

// A model that is to be, or to be there. Of spec.logging, a model that exists takes over what is
// given here and keeps the rest as it is then, whoever changes it meanwhile.
struct WantedModel {
  WantedModel(ModelSpec wanted = {}) : spec(std::move(wanted)) {}  // NOLINT: a spec is one
  ModelSpec spec;
  bool candidates_given = true;
  bool events_given = true;
};

struct Created {
  ModelInfo info;
  bool is_new = false;
};

// Versions up to this are all that JSON can tell apart.
inline constexpr std::uint64_t kMaxVersion = std::uint64_t{1} << 53;

// A request to rank. Reused between requests; the views point into the caller's memory.
struct RankRequest {
  struct Pin {
    std::uint32_t item = 0;  // index into `items`
    std::uint32_t rank = 0;  // from 0
  };
  std::string_view id;                  // the caller's own; empty if none
  std::string_view unit;                // whom the list is for; empty if unknown
  std::vector<std::string_view> items;  // distinct ids
  std::vector<std::uint8_t> given;      // given[item]: its features are in `rows`
  AlignedVector<float> rows;            // padded_width(features) floats per item, finite
  std::vector<Pin> pinned;
  std::vector<std::uint8_t> blocked;  // blocked[item]
  std::uint32_t k = 0;                // 0: the model's
  // kGiven: the order of `items` is shown; no pins, no blocks. None: as the model's experiment or
  // its last promotion says, else kExplore.
  std::optional<Mode> mode;
  bool skip_missing = false;      // leave out items that are neither given nor stored
  std::uint64_t min_version = 0;  // of the model: see Service::prepare()
  std::string_view context;       // JSON, stored with the impression; empty if none

  void clear();
};

struct RankedItem {
  std::uint32_t item = 0;  // index into the request's items
  std::string id;
  double score = 0;
  bool pinned = false;
};

struct Ranked {
  bool is_unnumbered = false;  // other requests took the last numbers: see Service::prepare()
  std::string impression{};
  std::uint64_t model_version = 0;
  std::vector<RankedItem> items{};     // items[rank]
  std::vector<std::string> skipped{};  // RankRequest::skip_missing
  std::string experiment{};            // that the list belongs to; empty if to none
  std::string arm{};                   // of it; empty if interleaved
  double log_probability = 0;
  double entropy = 0;
};

struct FeedbackEvent {
  std::string impression;
  std::string item;      // empty for kClose
  std::string event_id;  // empty if none
  EventKind kind = EventKind::kClick;
  std::string name{};  // of kNamed: one of the model's
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

struct FeedbackAnswer {
  std::vector<FeedbackStatus> statuses;  // one per event
  // A version that has learned from what the events closed. None if another node learns, and did
  // not say in time that it has: the events are stored all the same.
  std::optional<std::uint64_t> version{};
};

struct FeatureWeight {
  std::uint32_t feature = 0;  // its id in model files
  std::string name;           // empty if none
  std::optional<double> weight;
  double strength = 0;
};

struct Weights {
  std::uint64_t version = 0;
  std::vector<FeatureWeight> features;
};

struct Stats {
  std::uint32_t step_seconds = 0;
  SeriesRow first_day;
  SeriesRow total;
  std::vector<SeriesRow> points;  // oldest first
};

struct SeenPair {
  std::uint32_t winner = 0;  // ranks, from 0
  std::uint32_t loser = 0;
  double rho = 0;
  double weight = 0;
};

// An impression without its features, and what became of it.
struct SeenImpression {
  std::string id;     // that callers know
  std::string state;  // "open", "learned", "expired", "closed"
  StoredImpression kept;
  ResponseRow response;  // for every shown rank
  std::vector<SeenPair> pairs;
  std::string experiment;  // its name; empty if in none, or if that was deleted
};

struct ImpressionPage {
  std::vector<SeenImpression> impressions;  // oldest first
  std::uint64_t next = 0;                   // the number to go on with
};

// An arm of an experiment and what it came to.
struct ArmInfo {
  ArmSpec spec;
  std::string model;            // that makes its lists; empty if none does
  std::string stopped_because;  // empty if it was not stopped
  std::uint64_t impressions = 0;
  std::uint64_t units = 0;
  std::uint64_t clicks = 0;
  std::optional<double> value;  // per list
  std::optional<Lift> lift;     // over the baseline
  std::string no_lift;          // why there is none yet
  struct Detects {
    double effect = 0;
    double seconds = 0;  // until it would show
  };
  std::vector<Detects> detects;
};

struct ExperimentPoint {
  std::int64_t at = 0;
  std::vector<ArmInfo> arms;  // with value and lift alone
};

struct ExperimentInfo {
  ExperimentSpec spec;
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;  // 0: it runs
  std::string ended_because;
  std::string promoted;  // an arm; empty if none
  bool can_undo = false;
  std::vector<ArmInfo> arms;
  std::vector<ExperimentPoint> points;  // oldest first
};

struct PutExperiment {
  ExperimentInfo info;
  bool is_new = false;
};

// Counters and gauges of one model, for metrics.
struct ModelMeters : ModelInfo {
  std::uint64_t events[kFeedbackStatuses] = {};  // by status; clicks, views and closes
  std::uint64_t clicks[kFeedbackStatuses] = {};  // clicks only
  double update_norm = 0;                        // of the last update
  double entropy = 0;                            // of the last ranking
};

// The processes that serve the store.
struct NodesInfo {
  std::int64_t node = 0;   // this one
  double lag_seconds = 0;  // how far it is behind the others
  struct Node : NodeRow {
    std::vector<std::string> leads{};  // models, by name
  };
  std::vector<Node> nodes{};  // by id
};

struct ServiceMeters {
  std::vector<ModelMeters> models;
  std::uint64_t writer_queue = 0;    // requests waiting
  double store_lag_seconds = 0;      // age of the oldest of them
  std::uint64_t learning_queue = 0;  // log entries committed and not yet learned
  double learning_lag_seconds = 0;   // age of the oldest of them
  std::uint64_t commits = 0;         // transactions
  double commit_seconds = 0;         // summed, from begin to end
  std::uint64_t syncs = 0;           // to the disk: one per commit
  double sync_seconds = 0;           // summed, of the last step of each commit, which syncs
  std::uint64_t write_failures = 0;
  std::uint64_t store_bytes = 0;
  std::optional<NodesInfo> nodes{};  // none if the store is one process's alone
};

class Service {
 public:
  // Recovers every model in the store: its last snapshot, and the log since.
  static Result<std::unique_ptr<Service>> open(std::unique_ptr<Store> store,
                                               const ServiceOptions& options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  // Refuses new requests, finishes those it has, learns from them, takes snapshots and closes the
  // store. Blocks; a second call does nothing.
  void stop();

  // Why it can't take writes now; empty if it can.
  [[nodiscard]] std::string not_ready() const;
  // Why the process must be started again; empty if it may go on.
  [[nodiscard]] std::string beyond_repair() const;
  // Models that had to be frozen, and why.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> faults() const;

  [[nodiscard]] ModelHandle find(std::string_view name) const;  // null if there is none
  [[nodiscard]] std::vector<ModelInfo> models() const;          // by name
  [[nodiscard]] ModelInfo info(const Model& model) const;
  void create(WantedModel wanted, Done<Created> done);
  // With the models that snapshots became for its experiments.
  void remove(const ModelHandle& model, Done<void> done);

  // `rows`: padded_width(features) floats per id. Stores all or none; `done` gets the number of
  // stored items.
  void put_items(const ModelHandle& model, std::vector<std::string> ids, AlignedVector<float> rows,
                 Done<std::uint64_t> done);
  void remove_item(const ModelHandle& model, const std::string& id, Done<void> done);
  [[nodiscard]] Result<std::vector<float>> item(const Model& model, std::string_view id) const;

  // One per thread.
  [[nodiscard]] std::unique_ptr<RankingScratch, void (*)(RankingScratch*)> make_scratch() const;

  // Whether a list can be made at once, with this version of the model or a later one.
  [[nodiscard]] bool is_prepared(const Model& model, std::uint64_t min_version) const;
  // Answers when it can be: numbers are reserved, and the version is here. Fails if that takes
  // longer than two seconds.
  void prepare(const ModelHandle& model, std::uint64_t min_version, Done<void> done);
  // Whether other processes serve the store, too; then a name or an item that is unknown here may
  // be known there, and refresh() reads what they have changed.
  [[nodiscard]] bool is_shared() const;
  void refresh(Done<void> done);
  // The same of a model's items alone, for less.
  void refresh_items(const ModelHandle& model, Done<void> done);
  // Whether all items of the request are given or stored.
  [[nodiscard]] bool knows_items(const Model& model, const RankRequest& request) const;

  // Ranks with the last published version, and answers when the impression is in the store. Never
  // waits for the learner. If the answer is unnumbered, nothing was ranked: prepare() it again. The
  // request is not used after the call returns.
  void rank(const ModelHandle& model, const RankRequest& request, RankingScratch& scratch,
            Done<Ranked> done) const;

  // Takes all events, or none if the store fails. Answers when what they closed is learned.
  void feedback(const ModelHandle& model, std::vector<FeedbackEvent> events,
                Done<FeedbackAnswer> done);

  // Calls `work`, which may block for the store, on the thread for that, one at a time. Fails with
  // ErrorCode::kUnavailable if too many wait, or if its turn does not come within 5 s.
  template <typename T>
  void read(std::function<Result<T>()> work, Done<T> done) const {
    queue_read([work = std::move(work), done = std::move(done)](const Result<void>& turn) {
      if (!turn) return done(turn.error());
      Result<T> result = Error{};
      try {
        result = work();
      } catch (const std::exception&) {
        result = Error{ErrorCode::kUnavailable, "not enough memory for this request"};
      }
      done(std::move(result));
    });
  }

  // Newest first, without files. Blocks while it reads the store, as stats(), impressions() and
  // experiments() and their like do.
  [[nodiscard]] Result<std::vector<SnapshotRow>> snapshots(const Model& model) const;
  void take_snapshot(const ModelHandle& model, std::string note, Done<SnapshotRow> done);
  void roll_back(const ModelHandle& model, std::int64_t snapshot, Done<ModelInfo> done);
  void set_learning(const ModelHandle& model, bool on, Done<ModelInfo> done);
  [[nodiscard]] Weights weights(const Model& model) const;

  // The model file of the published version.
  [[nodiscard]] std::vector<std::byte> export_file(const Model& model) const;
  // Loads a model file into the model of that name, which is created if there is none. A model that
  // exists takes all of a file of its own kind, and the parameters of one of another learner; one
  // with the ranker linear+neural takes those of a linear file, too.
  void import_file(std::string name, std::vector<std::byte> file, ImportOptions options,
                   Done<ModelInfo> done);
  // Starts the model over with these weights, one per feature; the log and its impressions stay.
  void set_weights(const ModelHandle& model, const std::vector<float>& weights,
                   Done<ModelInfo> done);

  [[nodiscard]] Result<Stats> stats(const Model& model, std::uint32_t points) const;
  [[nodiscard]] Result<std::vector<SeenImpression>> impressions(const Model& model,
                                                                std::uint32_t limit,
                                                                bool clicked_only) const;
  // From this number on, so that repeated calls see every impression once.
  [[nodiscard]] Result<ImpressionPage> impressions_from(const Model& model, std::uint64_t number,
                                                        std::uint32_t limit) const;
  [[nodiscard]] Result<SeenImpression> impression(const Model& model, std::string_view id) const;

  // Starts it, or finds one that is the same. Fails if another of the model's runs, or if an arm
  // does not fit the model.
  void put_experiment(const ModelHandle& model, ExperimentSpec spec, Done<PutExperiment> done);
  // Newest first, without points.
  [[nodiscard]] Result<std::vector<ExperimentInfo>> experiments(const Model& model) const;
  [[nodiscard]] Result<ExperimentInfo> experiment(const Model& model, std::string_view name) const;
  // Ends it; what was served before its start is served again. One that has ended stays as it is.
  void stop_experiment(const ModelHandle& model, std::string name, Done<ExperimentInfo> done);
  // Ends it, if it runs, and serves the arm: one log entry.
  void promote(const ModelHandle& model, std::string name, std::string arm,
               Done<ExperimentInfo> done);
  // Serves what was served before the promotion, parameters included. Only of the last one.
  void undo_promotion(const ModelHandle& model, std::string name, Done<ExperimentInfo> done);
  // Of one that has ended, with the models that its snapshots became.
  void delete_experiment(const ModelHandle& model, std::string name, Done<void> done);

  // Removes what tells whom a unit's impressions were shown to: the unit, their contexts, all ids
  // of theirs and of their items and events, in the models of its experiments' arms too. Features
  // and clicks stay, so that the log gives the same model. `drop`: the impressions go, too; what
  // was learned from them stays in a snapshot, and the log before it goes. Gives the number of
  // impressions. The store's files may have the bytes until vacuum().
  void forget_unit(const ModelHandle& model, std::string unit, bool drop, Done<std::uint64_t> done);
  // Writes the store anew, without anything that was deleted. All changes wait for it.
  void vacuum(Done<void> done);

  // What other policies would have been worth. One evaluation at a time: while another runs, it
  // fails with ErrorCode::kUnavailable. Nothing waits for it.
  void what_if(const ModelHandle& model, WhatIfRequest request, Done<WhatIfAnswer> done);

  [[nodiscard]] ServiceMeters meters() const;
  // None if the store is one process's alone.
  [[nodiscard]] std::optional<NodesInfo> nodes() const;

 private:
  explicit Service(std::unique_ptr<ServiceParts> parts);
  void queue_read(std::function<void(const Result<void>& turn)> job) const;
  std::unique_ptr<ServiceParts> parts_;
};

// Both never change.
const ModelSpec& spec_of(const Model& model);
const FeatureNames& names_of(const Model& model);

}  // namespace plackett::serving
