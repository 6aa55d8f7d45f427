// One node among several that serve the same store: follows what the others publish and change, and
// leads some of the models. docs/nodes.md has the whole of it.
//
// A model is led by one node: it alone writes the model's log and learns. The others rank with the
// versions that it publishes, and queue what users close for its log. Leads are spread over the
// nodes by a hash, so that few move when a node comes or goes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serving/shared_store.h"
#include "serving/trainer.h"
#include "serving/writer_thread.h"

namespace plackett::serving {

struct ServiceParts;

// Which of the nodes is to lead a model: the same answer on every node. Nodes by id; 0 if none.
std::int64_t preferred_node(const std::vector<NodeRow>& nodes, std::int64_t model);

class Cluster {
 public:
  Cluster(ServiceParts& parts, SharedStore& store, std::unique_ptr<StoreReader> reader);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster() { stop(); }

  // Reads the clock and what there is, before models are loaded; joins once they are, so that the
  // others don't wait for it. Before the threads of the service start.
  Result<void> look();
  Result<void> join();
  // The model is served here from now on, and led by another node until this one leads it. Its
  // trainer is at the version that is published here.
  void follow(const ModelHandle& model, Trainer trainer, std::uint64_t revision);
  void start();
  // Hands its models over, answers all who wait, and leaves.
  void stop();

  // From any thread.

  // A model that is new and has the lead: see Store::insert_model().
  void add_new(const ModelHandle& model);
  void forget(const ModelHandle& model);
  // The learner has published a new version.
  void learned(const ModelHandle& model);
  void await(std::vector<QueuedEntry> entries, std::function<void(bool)> answer);
  void tell(std::vector<ClusterNote> notes);
  void doubt(const std::vector<ModelHandle>& models);
  // Answers once this node leads the model, or why it can't.
  void lead(const ModelHandle& model, Done<void> done);
  // Reads what others have changed, and answers then.
  void refresh(Done<void> done);
  // The same if the model was changed: one small read if it was not.
  void refresh(const ModelHandle& model, Done<void> done);
  // The same of a model's items alone.
  void refresh_items(const ModelHandle& model, Done<void> done);
  // The newest state that was published for a model that another node leads.
  [[nodiscard]] std::optional<SnapshotRow> state_of(const Model& model) const;

  [[nodiscard]] std::int64_t node() const { return store_.node(); }
  [[nodiscard]] ClusterView view() const;
  // How old what this node knows of the others is, and of their versions.
  [[nodiscard]] double lag_seconds() const;
  // The shared clock, ms since 1970.
  [[nodiscard]] std::int64_t now() const;
  // Why only a restart helps: the database lacks what this node has from it. Empty if it may go on.
  [[nodiscard]] std::string beyond_repair() const;

 private:
  using Clock = std::chrono::steady_clock;

  // Between two versions that are published of a model.
  static constexpr std::chrono::milliseconds kBetweenVersions{20};
  // How long a model stays whose lead a request has asked for, or another node did not take.
  static constexpr std::chrono::seconds kKeepLead{30};

  static Error unreachable() { return {ErrorCode::kUnavailable, "the database can't be reached"}; }

  // A model that this node serves.
  struct Member {
    ModelHandle model;
    std::uint64_t revision = 0;        // ModelMark::revision, of what is here
    std::uint64_t wanted = 0;          // the same of what is being read; 0: nothing is
    bool reloading = false;            // the writer is to take over what is newer
    bool going = false;                // it was removed, and the writer is to drop it
    std::optional<Trainer> trainer{};  // while another node leads it
    std::shared_ptr<const SnapshotRow> state{};
    std::int64_t items = 0;                // the last change of items that is here
    std::uint64_t items_revision = 0;      // all that this revision has are
    Clock::time_point items_checked_at{};  // whether there is a newer revision
    // Lists of all nodes that were shown before a time, and that time.
    std::uint64_t counted = 0;
    std::int64_t counted_to = 0;
    // While this node leads it.
    std::int64_t epoch = 0;
    bool leaving = false;  // it hands the model over
    bool dirty = false;    // there is a version to publish
    bool asked = false;    // the learner was asked for it
    Clock::time_point published_at{};
    std::uint64_t published = 0;  // version
    // While it does not.
    Clock::time_point free_since{};    // nobody leads it
    Clock::time_point behind_since{};  // a newer version is published than is here
    Clock::time_point keep_until{};    // a request asked for the lead: it stays that long
    std::int64_t passed_over = 0;      // the node that was to take it, and did not
    Clock::time_point passed_over_at{};
    Clock::time_point not_before{};  // it could not be taken over
  };
  struct Awaiting {
    std::vector<std::int64_t> impressions{};  // that are not learned yet
    std::int64_t log = 0;                     // the entry that must be learned, too
    std::function<void(bool)> answer{};
    Clock::time_point until{};

    // Requires: `impressions` has nothing that is in the log up to the entry `upto`.
    [[nodiscard]] bool is_learned(std::int64_t upto) const {
      return impressions.empty() && log <= upto;
    }
  };
  struct Asked {
    Done<void> done;
    Clock::time_point until;
  };

  Result<void> take_first(Result<ClusterView> view);
  void run();
  // False if nobody runs it any more.
  bool post(std::function<void()> task);
  void step();
  void beat();
  // Within work that takes long: shows that this node lives. Throws Failed; the first one also if
  // it is to stop.
  void stay();
  void stay_seen();
  void lose_all();
  // Readers of this thread and of the learner that are new. False if there are none to be had.
  Result<void> renew_readers();
  // The database answers, but not all that a beat asks. Logged once per reason.
  void give_beat_up(const Error& why);
  // Whether the database lacks what this node has from it: it was replaced by an older copy, or by
  // a standby that was behind. Looks closer at models of which the database has an older version,
  // and at all models if asked to. Fails if the database can't be read.
  Result<bool> went_back(const ClusterView& view, bool all);
  void handle(const ClusterNote& note);
  // The members that the view lacks go, those that are new come, the others are brought up to date.
  // Throws Failed.
  void follow_models(const ClusterView& view);
  void load_model(std::int64_t id);
  void drop(Member& member);
  // The model is not served here any more; answers who waits for something of it.
  void erase(std::int64_t id);
  // Reads what others have changed, for some milliseconds: who waits for versions waits for this.
  void read_changes();
  // The next member of which something is to be read, in turns; null if there is none.
  Member* next_changed();
  // Reads some changes of items, and everything else once that were the last.
  void read_some(Member& member);
  void reload(Member& member, std::uint64_t revision);
  void read_published(Member& member);
  void show(Member& member, SnapshotRow state);
  // Takes over and hands over models, for some milliseconds: what is left comes with the next beat,
  // at once.
  void spread_leads(const ClusterView& view);
  void take_over(Member& member);
  // Logs what other nodes have queued for the model, if this one leads it.
  void take_queued(Member& member);
  Trainer catch_up(Member& member);
  void hand_over(Member& member);
  void lose(Member& member);
  // As far as the store holds it: another node may lead then.
  void give_up(Member& member);
  // Brings Model::shown up to date, for some milliseconds: of a part of the models.
  void count_lists();
  void publish_due();
  // A state that the learner gave in this epoch.
  struct Learned {
    std::int64_t epoch = 0;
    SnapshotRow state{};
    bool last = false;  // the lead is given up with it
  };
  void publish(std::int64_t id, Learned learned);
  // Removes the lists that the log has no later than the entry `log`, which is learned here.
  void note_learned(std::span<Awaiting> waiting, std::int64_t log);
  void answer_learned(std::int64_t model, std::int64_t log);
  void answer_late();
  // Whether this node goes on leading the model, which another one is to lead.
  static bool is_kept(const Member& member, std::int64_t next, Clock::time_point now);
  // Whether a version is to be published.
  static bool has_news(const Member& member);
  Member* find(std::int64_t model);

  ServiceParts& parts_;
  SharedStore& store_;
  std::unique_ptr<StoreReader> reader_;
  const std::string name_;
  std::atomic<std::int64_t> node_{0};
  std::atomic<std::int64_t> offset_{0};         // of the shared clock to the steady one
  std::atomic<std::int64_t> beat_ok_at_{0};     // steady
  std::atomic<std::int64_t> behind_since_{0};   // steady; 0: no model is behind
  std::atomic<std::int64_t> failing_since_{0};  // steady; 0: the last beat was not given up

  mutable std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  ClusterView view_;
  std::string beyond_repair_;
  std::unordered_map<std::int64_t, std::shared_ptr<const SnapshotRow>> states_;
  bool stopping_ = false;
  bool stopped_ = false;

  // Only the thread uses these.
  std::map<std::int64_t, Member> members_;
  std::map<std::int64_t, std::vector<Awaiting>> awaiting_;    // by model
  std::map<std::int64_t, std::vector<Asked>> wanted_;         // by model
  std::vector<Asked> refreshing_;                             // until nothing is being read
  std::map<std::int64_t, std::vector<Asked>> reading_items_;  // by model, until its items are here
  std::vector<ClusterNote> notes_;                            // to tell
  Clock::time_point beat_at_{};
  std::string trouble_;            // why the last beat was given up
  std::int64_t next_counted_ = 0;  // a model
  std::int64_t next_read_ = 0;     // likewise
  bool connected_ = false;
  std::uint64_t connections_ = 0;  // ClusterView::connections

  std::thread thread_;
};

}  // namespace plackett::serving
