// The one thread that writes the store: takes the jobs that have gathered, commits them as one
// transaction, and hands their log entries to the learner.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
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
#include "serving/store.h"

namespace plackett::serving {

// What a job sees of the transaction that it is part of.
class Transaction {
 public:
  Transaction(Store& its_store, std::int64_t time, std::int64_t steady)
      : store(its_store), now(time), elapsed(steady) {}

  Store& store;
  const std::int64_t now;      // ms since 1970
  const std::int64_t elapsed;  // ms, by the steady clock

  // Appends to the log; the learner gets the entry after the commit.
  Result<void> log(const ModelHandle& model, LogKind kind, std::int64_t argument);
  // Models that earlier jobs of the transaction create, by name.
  std::unordered_map<std::string, ModelHandle> created;
  // Experiments that earlier jobs of the transaction end: nothing is counted in them any more.
  std::set<std::int64_t> ended;
  // Added to the model's series with the commit.
  SeriesRow& series(std::int64_t model) { return series_[model]; }
  // Added to the arm's sums with the commit.
  ArmSums& arm(std::int64_t experiment, std::uint32_t arm) { return arms_[{experiment, arm}]; }
  // Adds them now, for jobs that read them.
  Result<void> write_arms();

 private:
  friend class WriterThread;
  std::vector<LearningThread::Item> entries_;  // of the current job
  std::unordered_map<std::int64_t, SeriesRow> series_;
  std::map<std::pair<std::int64_t, std::uint32_t>, ArmSums> arms_;
};

// A part of a transaction.
struct Job {
  // Part of an attempt. ErrorCode::kUnavailable: the store failed, and the whole transaction with
  // it. Any other error refuses this job alone, which must not have changed anything.
  std::function<void(Transaction&)> apply;
  // After the commit, before the next transaction begins; may be empty.
  std::function<void()> committed{};
  // Once: when what it logged is learned and published, or with the reason why nothing was stored.
  std::function<void(const Result<void>&)> answer;
  bool own = false;  // the service's own: taken even if the queue is full
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
    // Called between transactions, at most every `upkeep_every`.
    std::function<void()> upkeep;
    std::chrono::milliseconds upkeep_every{200};
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
  };
  void run();
  Result<void> write(std::vector<Job>& jobs, std::vector<Applied>& applied);
  // Whether the store takes a change.
  Result<void> probe();
  void settle(std::vector<Job>& jobs, std::vector<Applied>& applied) noexcept;

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
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<double> commit_seconds_{0};
  std::atomic<double> sync_seconds_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::thread thread_;
};

}  // namespace plackett::serving
