// The one thread that writes the store: takes the jobs that have gathered, commits them as one
// transaction, and hands their log entries to the learner.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/attempt.h"
#include "plackett/result.h"
#include "serving/learning_thread.h"
#include "serving/service.h"
#include "serving/shared_store.h"
#include "serving/store.h"

namespace plackett::serving {

// Requests that waited for something that took this long, and failed, are not tried.
inline constexpr std::chrono::seconds kLongFailure{2};

// Another node may have made it again.
inline Error model_removed() {
  return {ErrorCode::kNotFound, "the model was removed", Hint::kRefresh};
}

inline Error another_leads() {
  return {ErrorCode::kBusy, "another node has taken over the model; try again"};
}

// What was stored here and is learned by another node: a list that was closed, or an entry of the
// log.
struct QueuedEntry {
  ModelHandle model;
  std::int64_t impression = 0;  // 0: an entry
  std::int64_t before = 0;      // an entry of the log that was there before the list was queued
  std::int64_t entry = 0;
};

// What a transaction adds to the totals of an experiment's unit.
struct UnitChange {
  std::uint32_t arm = 0;  // whose sums change with them
  UnitTotals start{};     // the totals, if it has no row
  UnitTotals more{};
};

// In the order in which all nodes lock them.
struct ByModelId {
  bool operator()(const ModelHandle& one, const ModelHandle& other) const;
};
// Epochs of the models that a transaction writes as their leader.
using Fences = std::map<ModelHandle, std::int64_t, ByModelId>;

// What a job sees of the transaction that it is part of.
class Transaction {
 public:
  Transaction(Store& its_store, std::int64_t time, std::int64_t steady)
      : store(its_store), now(time), elapsed(steady) {}

  Store& store;
  const std::int64_t now;      // ms since 1970
  const std::int64_t elapsed;  // ms, by the steady clock

  // Appends to the log; the learner gets the entry after the commit. If another node leads the
  // model, what its users closed is queued for it, and everything else is refused.
  Result<void> log(const ModelHandle& model, LogKind kind, std::int64_t argument);
  // What this node alone may change: that a commit fails if another node leads the model by then.
  // Throws Failed if one does already. Call it before anything is changed.
  void lead(const ModelHandle& model);
  // See Store::change_model(). Throws Failed.
  void change(const ModelHandle& model);
  // Removes it from the store. Throws Failed.
  void remove(const ModelHandle& model);
  // Something is added to the model. If another node has removed it, the transaction is made again,
  // and the model is removed here, too. Throws Failed if this transaction has removed it.
  void use(const ModelHandle& model);
  // Models that earlier jobs of the transaction create, by name.
  std::unordered_map<std::string, ModelHandle> created;
  // Models that earlier jobs of the transaction have reserved numbers for.
  std::set<ModelHandle> numbered;
  // Experiments that earlier jobs of the transaction end: nothing is counted in them any more.
  std::set<std::int64_t> ended;
  // Added to the model's series with the commit.
  SeriesRow& series(std::int64_t model) { return series_[model]; }
  // Added to the arm's sums with the commit.
  ArmSums& arm(std::int64_t experiment, std::uint32_t arm) { return arms_[{experiment, arm}]; }
  // The change of a unit's totals, which is made when the transaction ends.
  UnitChange& unit(std::int64_t experiment, std::int64_t key, std::uint32_t arm) {
    UnitChange& change = units_[{experiment, key}];
    change.arm = arm;
    return change;
  }
  // Logs what other nodes have queued for the model, which this one must lead. Throws Failed.
  void take_queued(const ModelHandle& model);
  // Adds them now, for jobs that read them.
  Result<void> write_arms();

 private:
  friend class WriterThread;
  std::vector<LearningThread::Item> entries_;  // of the current job
  std::vector<QueuedEntry> queued_;            // likewise
  Fences fences_;
  std::set<ModelHandle> used_;
  std::set<ModelHandle> removed_;
  std::set<std::pair<int, std::int64_t>> notes_{};  // for other nodes: ClusterNote
  std::unordered_map<std::int64_t, SeriesRow> series_;
  std::map<std::pair<std::int64_t, std::uint32_t>, ArmSums> arms_;
  // In the order in which all transactions lock them, so that none waits for each other.
  std::map<std::pair<std::int64_t, std::int64_t>, UnitChange> units_;
};

// A part of a transaction.
struct Job {
  // Part of an attempt. ErrorCode::kUnavailable: the store failed, and the whole transaction with
  // it. Any other error refuses this job alone, which must not have changed anything. Called again
  // if another node was in the transaction's way; what the first call did is undone then.
  std::function<void(Transaction&)> apply;
  // After the commit, before the next transaction begins; may be empty.
  std::function<void()> committed{};
  // Once: when what it logged is learned and published, or with the reason why nothing was stored.
  std::function<void(const Result<void>&)> answer;
  bool own = false;   // the service's own: taken even if the queue is full
  Touched touched{};  // what is known of it in advance
  // Set to false before `answer` is called if another node did not learn in time; may be empty.
  std::shared_ptr<bool> learned{};
};

// A job whose apply() gives the answer. `committed` is called with the answer, after the commit,
// unless the job was refused; `done` as Job::answer.
template <typename T>
Job job(
    std::function<T(Transaction&)> apply, Done<T> done,
    std::function<void(T&)> committed = [](T&) {}) {
  auto answer = std::make_shared<std::optional<T>>();
  return {.apply = [answer, apply = std::move(apply)](
                       Transaction& transaction) { *answer = apply(transaction); },
          .committed = [answer, committed = std::move(committed)] { committed(**answer); },
          .answer =
              [answer, done = std::move(done)](const Result<void>& settled) {
                done(settled ? Result<T>(std::move(**answer)) : settled.error());
              }};
}

class WriterThread {
 public:
  struct Options {
    std::size_t queue_limit = 0;
    std::function<std::int64_t()> clock;          // ms since 1970
    std::function<std::int64_t()> steady;         // ms
    std::function<void(const std::string&)> log;  // may be empty
    // Called between transactions, at most every `upkeep_every`. Fails if the store does.
    std::function<Result<void>()> upkeep;
    std::chrono::milliseconds upkeep_every{200};
    // Where several nodes serve the store; all empty otherwise.
    // Answers once the other node's versions with these entries are here, or with false if that
    // takes too long.
    std::function<void(std::vector<QueuedEntry>, std::function<void(bool)>)> await{};
    // Tells other nodes.
    std::function<void(std::vector<ClusterNote>)> tell{};
    // A transaction that logged something for these models failed, perhaps after its commit.
    std::function<void(std::vector<ModelHandle>)> doubt{};
    // Another node has removed the model.
    std::function<void(const ModelHandle&)> removed{};
  };

  WriterThread(Store& store, LearningThread& learner, Options options);
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  ~WriterThread() { stop(); }

  // Begins to take jobs; until then they wait in the queue.
  void start();
  // If the queue is full or the thread is stopping, the job is refused at once.
  void submit(Job job);
  // For the upkeep, on the writer's own thread: at once, as a transaction of its own.
  Result<void> run_now(std::vector<Job> jobs);
  // A change that nobody waits for.
  Result<void> run_now(std::function<void(Transaction&)> apply,
                       std::function<void()> committed = {});

  // Rewrites the store after the current transaction, while all others wait.
  void vacuum(std::function<void(const Result<void>&)> done);

  // Finishes what was submitted, refuses what comes later.
  void stop();

  [[nodiscard]] std::string failure() const;  // of the last transaction; empty if it succeeded
  [[nodiscard]] std::string beyond_repair() const;  // Store::beyond_repair()
  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] double lag_seconds() const;
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] double commit_seconds() const { return commit_seconds_; }
  [[nodiscard]] double sync_seconds() const { return sync_seconds_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  // A job whose changes are made, with the log entries that the learner is to get.
  struct Applied {
    Result<void> outcome{};
    std::vector<LearningThread::Item> entries{};
    std::vector<QueuedEntry> queued{};
  };
  // What a transaction leaves for others.
  struct Outcome {
    std::vector<Applied> applied{};  // per job
    Fences fences{};
    std::set<ModelHandle> used{};
    std::set<std::pair<int, std::int64_t>> notes{};
  };
  void run();
  // Each in a transaction of its own; fails if one does.
  Result<void> run_each(std::vector<Job> jobs);
  Result<void> write(std::vector<Job>& jobs, Outcome& outcome);
  // What the models that it leads have in the log is not known for sure.
  void doubt(const Outcome& outcome);
  // Removes those models that the store lacks.
  void remove_lost(const std::set<ModelHandle>& models);
  // Whether the store takes a change.
  Result<void> probe();
  void settle(std::vector<Job>& jobs, Outcome& outcome) noexcept;
  // Answers once all of it is learned. `learned` as in Job.
  void await(std::vector<QueuedEntry> entries,
             const std::function<void(const Result<void>&)>& answer,
             const std::shared_ptr<bool>& learned);
  // Answers all requests that are queued.
  void refuse_waiting(const Error& why);

  Store& store_;
  LearningThread& learner_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> queue_;
  std::vector<std::function<void(const Result<void>&)>> vacuums_;
  std::chrono::steady_clock::time_point oldest_{};
  bool stopping_ = false;
  std::string failure_;
  std::string beyond_repair_;
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<double> commit_seconds_{0};
  std::atomic<double> sync_seconds_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::thread thread_;
};

}  // namespace plackett::serving
