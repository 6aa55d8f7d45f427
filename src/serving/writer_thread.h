// The one thread that writes the store: takes what has gathered, commits it as a group, and hands
// it on to be synced and learned from.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "plackett/result.h"
#include "serving/learning_thread.h"
#include "serving/pending.h"
#include "serving/service.h"
#include "serving/sync_thread.h"
#include "store/writer.h"

namespace plackett::serving {

// What a job sees of the transaction that it is part of.
std::int64_t id_of(const Model& model);

class Group {
 public:
  Group(store::Writer& writer, std::int64_t time) : store(writer), now(time) {}

  store::Writer& store;
  const std::int64_t now;  // ms

  // Appends to the log; the learner gets it after the commit.
  Result<void> log(const ModelHandle& model, store::LogKind kind, std::int64_t argument);
  // Added to the model's series with the commit.
  store::SeriesRow& series(const ModelHandle& model) { return series_[id_of(*model)]; }

 private:
  friend class WriterThread;
  std::vector<LearningThread::Item> entries_;  // of the present job
  std::unordered_map<std::int64_t, store::SeriesRow> series_;
};

struct Job {
  // Changes the store. An error is the store's failure and fails the whole group; what is wrong
  // with a request alone is the job's to remember.
  std::function<Result<void>(Group&)> apply;
  // After the commit, on the writer's thread, before anything later is applied. May be empty.
  std::function<void()> committed;
  // Once: after the commit, the sync if `sync`, and the learning of what it logged; or the
  // refusal.
  Done<void> settled;
  bool sync = true;
  bool own = false;  // the service's own: taken where the queue is full, too
};

class WriterThread {
 public:
  struct Options {
    std::size_t queue_limit = 0;
    std::function<std::int64_t()> clock;  // ms since 1970
    // Called after every group of requests.
    std::function<void()> after_group;
    // Called between groups, at most every `upkeep_every`.
    std::function<void()> upkeep;
    std::chrono::milliseconds upkeep_every{200};
  };

  WriterThread(store::Writer& store, SyncThread& syncer, LearningThread& learner, Options options);
  // Once; what is submitted before waits.
  void start();
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  ~WriterThread() { stop(); }

  // Error at once, through `settled`, where the queue is full or the thread is stopping.
  void submit(Job job);
  // For the upkeep, on the writer's own thread: at once, as a group of its own.
  Result<void> run_now(std::vector<Job> jobs);

  // Finishes what was submitted, refuses what comes later.
  void stop();

  [[nodiscard]] std::string failure() const;  // of the last group; empty where it went well
  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] double lag_seconds() const;
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] double commit_seconds() const { return commit_seconds_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }

 private:
  void run();
  Result<void> write(std::vector<Job>& jobs, Group& group,
                     std::vector<std::vector<LearningThread::Item>>& entries);
  void settle(std::vector<Job>& jobs, std::vector<std::vector<LearningThread::Item>>& entries);

  store::Writer& store_;
  SyncThread& syncer_;
  LearningThread& learner_;
  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Job> queue_;
  std::chrono::steady_clock::time_point oldest_{};
  bool stopping_ = false;
  std::string failure_;
  std::atomic<std::uint64_t> commits_{0};
  std::atomic<double> commit_seconds_{0};
  std::atomic<std::uint64_t> failures_{0};
  std::thread thread_;
};

}  // namespace plackett::serving
