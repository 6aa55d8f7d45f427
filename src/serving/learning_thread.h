// The one thread that owns the models' parameters: learns in the log's order, and publishes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "serving/pending.h"
#include "serving/service.h"
#include "serving/trainer.h"
#include "store/reader.h"

namespace plackett::serving {

// Where it hands what it measures.
struct LearningHooks {
  // An update changed the parameters by this much.
  std::function<void(Model&, double norm)> updated;
  // A snapshot is due.
  std::function<void(const ModelHandle&, store::SnapshotRow)> snapshot;
};

class LearningThread {
 public:
  struct Item {
    ModelHandle model;
    std::optional<store::LogEntry> entry;     // to learn from; and, or
    std::function<void(const Trainer&)> ask;  // to be called in turn
    PendingHandle pending;                    // released once published; may be null
    std::chrono::steady_clock::time_point since{};
  };

  LearningThread(store::Reader reader, std::uint64_t snapshot_every, LearningHooks hooks);
  LearningThread(const LearningThread&) = delete;
  LearningThread& operator=(const LearningThread&) = delete;
  ~LearningThread() { stop(); }

  // Requires: the thread has nothing of the model queued. Neither waits for learning.
  void adopt(const ModelHandle& model, Trainer trainer);
  void forget(const ModelHandle& model);

  void submit(std::vector<Item> items);
  // Finishes what was submitted.
  void stop();

  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] double lag_seconds() const;  // how long the oldest has waited

  // After stop(): the trainers, for the last snapshots.
  void for_each(const std::function<void(const ModelHandle&, const Trainer&,
                                         std::int64_t snapshot_log)>& each) const;

 private:
  struct Pupil {
    ModelHandle model;
    Trainer trainer;
    std::int64_t snapshot_log;  // where its newest snapshot stands
    std::uint64_t snapshot_version;
    std::string stalled{};  // why it can't follow the log, until the next start
  };
  using PupilHandle = std::shared_ptr<Pupil>;
  PupilHandle pupil_of(const Model& model);
  void publish(Pupil& pupil);
  void run();
  void work(std::vector<Item>& batch);

  store::Reader reader_;
  const std::uint64_t snapshot_every_;
  LearningHooks hooks_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Item> queue_;
  std::size_t working_ = 0;  // items taken and not done
  std::chrono::steady_clock::time_point working_since_{};
  bool stopping_ = false;
  std::mutex pupils_mutex_;  // of the table alone: what it leads to is the thread's
  std::unordered_map<std::int64_t, PupilHandle> pupils_;
  std::thread thread_;
};

}  // namespace plackett::serving
