// What the service is made of.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file_lock.h"
#include "serving/learning_thread.h"
#include "serving/model.h"
#include "serving/service.h"
#include "serving/sync_thread.h"
#include "serving/upkeep.h"
#include "serving/writer_thread.h"
#include "store/checkpointer.h"
#include "store/reader.h"
#include "store/writer.h"

namespace plackett::serving {

struct ServiceParts {
  ServiceOptions options;
  std::optional<FileLock> file_lock;
  std::unique_ptr<store::Writer> store;
  std::unique_ptr<store::Checkpointer> checkpointer;

  // Read by all, changed by the writer's thread.
  mutable std::shared_mutex models_mutex;
  std::map<std::string, ModelHandle, std::less<>> models;

  // For what there is to see; one call at a time.
  mutable std::mutex reader_mutex;
  mutable std::optional<store::Reader> reader;

  // Updates and their norms, on their way to the series.
  std::mutex learned_mutex;
  std::unordered_map<std::int64_t, store::SeriesRow> learned;

  std::unique_ptr<SyncThread> syncer;
  std::unique_ptr<LearningThread> learner;
  std::unique_ptr<Upkeep> upkeep;
  std::unique_ptr<WriterThread> writer;
  std::atomic<bool> stopped{false};

  [[nodiscard]] ModelHandle find(std::string_view name) const {
    const std::shared_lock lock(models_mutex);
    const auto found = models.find(name);
    return found == models.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::vector<ModelHandle> all_models() const {
    const std::shared_lock lock(models_mutex);
    std::vector<ModelHandle> all;
    for (const auto& [name, model] : models) all.push_back(model);
    return all;
  }
};

// The job that joins events to impressions.
Job feedback_job(const ModelHandle& model, std::vector<FeedbackEvent> events,
                 Done<std::vector<FeedbackStatus>> done);

// The job that keeps a snapshot, and prunes the automatic ones.
Job snapshot_job(const ModelHandle& model, store::SnapshotRow snapshot,
                 std::uint32_t automatic_kept, Done<SnapshotInfo> done);

SnapshotInfo info_of(const store::SnapshotRow& row);

}  // namespace plackett::serving
