// What a store gives to several processes, its nodes, that serve it at the same time: who is there,
// who leads which model, and what the others have changed. docs/nodes.md tells how the
// service uses it.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plackett/result.h"
#include "serving/store.h"

namespace plackett::serving {

// What a node tells of itself. Counts are since its start.
struct NodeMeters {
  std::uint64_t ranked = 0;
  std::uint64_t events = 0;
  double lag_seconds = 0;  // how far its models are behind those who lead them
};

// A process that serves the store.
struct NodeRow {
  std::int64_t id = 0;  // never used again
  std::string name{};   // its operator's
  std::int64_t started_at = 0;
  std::int64_t seen_at = 0;  // by the database's clock
  NodeMeters meters{};
};

// What nodes must know of a model without reading all of it.
struct ModelMark {
  std::int64_t model = 0;
  std::uint64_t revision = 0;   // rises with Store::change_model()
  std::uint64_t published = 0;  // version; 0 if none is there
  std::int64_t leader = 0;      // the node that led it last; 0: none has
  std::int64_t epoch = 0;
  bool led = false;         // somebody holds the lead now
  bool held = false;        // this node does, by the store
  std::int64_t wanted = 0;  // the node that asked for the lead; 0: none
  bool queued = false;      // there is something for Store::take_queued()
};

// The store and its nodes at one moment.
struct ClusterView {
  std::int64_t now = 0;           // by the database's clock, ms since 1970
  std::uint64_t connections = 0;  // how often it connected: its readers may be cut off, too
  std::int64_t node = 0;          // this one: others had ended it if it differs from before
  std::vector<NodeRow> nodes{};   // by id
  std::vector<ModelMark> models{};
};

// What another node did.
struct ClusterNote {
  enum class Kind : std::uint8_t {
    kPublished,  // a version of the model
    kQueued,     // something for the log of a model
    kChanged,    // what Store::change_model() announced
    kFreed,      // a lead can be had; of any model if the model is 0
  };
  Kind kind = Kind::kPublished;
  std::int64_t model = 0;

  auto operator<=>(const ClusterNote&) const = default;
};

// On a connection of its own. One thread at a time, but for wake(). Fails with
// ErrorCode::kUnavailable if the database can't be reached: all leads are lost then, and the next
// call connects again.
class SharedStore {
 public:
  SharedStore() = default;
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;
  virtual ~SharedStore() = default;

  // Says that this node lives, and gives a view of all. Joins, as a new node, at the first call and
  // if others have ended this one.
  virtual Result<ClusterView> beat(const std::string& name, const NodeMeters& meters) = 0;
  // Says so within work that takes long. Fails if others have ended this node.
  virtual Result<void> stay() = 0;
  // The same view, of a process that need not have joined.
  virtual Result<ClusterView> look() = 0;
  // This node's id; 0 before it has joined. From any thread.
  [[nodiscard]] virtual std::int64_t node() const = 0;
  // Ends a node: closes its connections, so that it holds no lock, and forgets it.
  virtual Result<void> end_node(std::int64_t node) = 0;
  // Leaves; what it led is free, and the others are told so.
  virtual void leave() = 0;

  // For reads of milliseconds: gives up a server that is silent for seconds. From any thread.
  virtual Result<std::unique_ptr<StoreReader>> open_quick_reader() = 0;
  // For reads that clients wait for: the database ends each after three seconds, and it fails with
  // ErrorCode::kUnavailable. From any thread.
  virtual Result<std::unique_ptr<StoreReader>> open_request_reader() = 0;

  // Waits until another node has done something, wake() was called or the time is up. No note comes
  // twice, however often it was told meanwhile.
  virtual Result<std::vector<ClusterNote>> wait(std::chrono::milliseconds most) = 0;
  // Ends wait(). From any thread.
  virtual void wake() = 0;
  // Tells the other nodes, about what is committed.
  virtual Result<void> tell(const std::vector<ClusterNote>& notes) = 0;

  // Leads the model if nobody does, and gives the epoch. From then on, no transaction of an earlier
  // leader commits: see Store::fence().
  virtual Result<std::optional<std::int64_t>> lead(std::int64_t model) = 0;
  // Does nothing if it does not hold the lead, or has lost it with the connection.
  virtual Result<void> release(std::int64_t model) = 0;
  // Asks the node that leads the model to hand it to this one.
  virtual Result<void> ask_for_lead(std::int64_t model) = 0;

  // Keeps the state of a model for the other nodes, and tells them. False if another node has led
  // it since `epoch`, or has kept a state with later log entries. It need not survive a crash: it
  // follows from the log.
  virtual Result<bool> publish(const SnapshotRow& state, std::int64_t epoch) = 0;
  // The last one, if its version is above `version`.
  virtual Result<std::optional<SnapshotRow>> published(std::int64_t model,
                                                       std::uint64_t version) = 0;

  // Those of these lists that are in the log, no later than the entry `log`.
  virtual Result<std::vector<std::int64_t>> logged(const std::vector<std::int64_t>& impressions,
                                                   std::int64_t log) = 0;

  // ModelMark::revision as it is now; 0 if there is no such model.
  virtual Result<std::uint64_t> revision(std::int64_t model) = 0;

  // Changes of a model's items since another one, in order; a removed item has no features.
  struct ItemChange {
    std::string id{};
    std::int64_t version = 0;
    std::optional<std::vector<std::byte>> features{};
  };
  virtual Result<std::vector<ItemChange>> item_changes(std::int64_t model, std::int64_t after,
                                                       std::uint32_t limit) = 0;
};

}  // namespace plackett::serving
