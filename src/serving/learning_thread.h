// The one thread that owns the models' parameters: learns in the log's order, and publishes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "serving/service.h"
#include "serving/store.h"
#include "serving/trainer.h"

namespace plackett::serving {

// What it reports.
struct LearningHooks {
  // An update changed the parameters by this much.
  std::function<void(Model&, double norm)> updated;
  // It had to freeze the model.
  std::function<void(const Model&, const Version&)> frozen;
  // There is a new version.
  std::function<void(const ModelHandle&)> published;
  // A snapshot is due.
  std::function<void(const ModelHandle&, SnapshotRow)> snapshot;
  // It can't follow the model's log. True: somebody sees to it; false: it is shown as frozen until
  // the next start. May be empty.
  std::function<bool(const ModelHandle&)> stalled{};
};

class LearningThread {
 public:
  // Work for the thread: a log entry to learn from, a question, or both.
  struct Item {
    ModelHandle model;
    std::optional<LogEntry> entry{};
    std::function<void(const Trainer&)> ask{};  // not called if the model was removed
    // Called when what was learned is published. Nothing was, if the model was forgotten or could
    // not follow the log: Version::log tells.
    std::function<void()> answer{};
    std::chrono::steady_clock::time_point since{};
  };

  LearningThread(std::unique_ptr<StoreReader> reader, std::uint64_t snapshot_every,
                 LearningHooks hooks);
  LearningThread(const LearningThread&) = delete;
  LearningThread& operator=(const LearningThread&) = delete;
  ~LearningThread() { stop(); }

  // Entries that the trainer has learned from are skipped, so that some may be queued. Neither call
  // waits for learning.
  void adopt(const ModelHandle& model, Trainer trainer);
  void forget(const ModelHandle& model);

  // Another reader, from the next batch on: the one before may be cut off, and wait in vain.
  void use(std::unique_ptr<StoreReader> reader);

  void submit(std::vector<Item> items);
  void submit(Item item);
  // Finishes what was submitted.
  void stop();

  [[nodiscard]] std::uint64_t queued() const;
  [[nodiscard]] double lag_seconds() const;  // how long the oldest has waited

  // After stop(): snapshots of the models that have learned since their last one.
  [[nodiscard]] std::vector<SnapshotRow> last_snapshots() const;

 private:
  struct TrainedModel {
    ModelHandle model;
    Trainer trainer;
    std::int64_t snapshot_log;  // the newest snapshot includes the log up to here
    std::uint64_t snapshot_version;
    std::string stalled{};  // why it can't follow the log until the next start
  };
  using TrainedHandle = std::shared_ptr<TrainedModel>;
  TrainedHandle find(const Model& model);
  Result<double> apply(Trainer& trainer, const LogEntry& entry);
  void publish(const TrainedHandle& trained);
  // False if the model was forgotten, or adopted again, meanwhile: what was learned counts no more.
  bool show(const TrainedHandle& trained, std::shared_ptr<const Version> version);
  void run();
  void work(std::vector<Item>& batch);

  std::unique_ptr<StoreReader> reader_;
  const std::uint64_t snapshot_every_;
  LearningHooks hooks_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Item> queue_;
  std::unique_ptr<StoreReader> next_reader_;  // null: the one that it has
  std::size_t working_ = 0;                   // items taken and not done
  std::chrono::steady_clock::time_point working_since_{};
  bool stopping_ = false;
  std::mutex models_mutex_;  // of the table only; its values belong to the thread
  std::unordered_map<std::int64_t, TrainedHandle> models_;
  std::thread thread_;
};

}  // namespace plackett::serving
