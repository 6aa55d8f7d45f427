#include "serving/learning_thread.h"

#include <algorithm>
#include <span>
#include <utility>

#include "serving/model.h"

namespace plackett::serving {

using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kBetweenAttempts{100};  // to reach the store

}  // namespace

LearningThread::LearningThread(std::unique_ptr<StoreReader> reader, std::uint64_t snapshot_every,
                               LearningHooks hooks)
    : reader_(std::move(reader)),
      snapshot_every_(snapshot_every),
      hooks_(std::move(hooks)),
      thread_([this] { run(); }) {}

void LearningThread::adopt(const ModelHandle& model, Trainer trainer) {
  const std::int64_t log = trainer.last_log();
  const std::uint64_t version = trainer.version_number();
  model->publication.publish(trainer.version());
  auto trained =
      std::make_shared<TrainedModel>(TrainedModel{model, std::move(trainer), log, version});
  const std::lock_guard lock(models_mutex_);
  models_.insert_or_assign(model->id, std::move(trained));
}

void LearningThread::forget(const ModelHandle& model) {
  const std::lock_guard lock(models_mutex_);
  models_.erase(model->id);
}

LearningThread::TrainedHandle LearningThread::find(const Model& model) {
  const std::lock_guard lock(models_mutex_);
  const auto found = models_.find(model.id);
  return found == models_.end() ? nullptr : found->second;
}

void LearningThread::use(std::unique_ptr<StoreReader> reader) {
  const std::lock_guard lock(mutex_);
  next_reader_ = std::move(reader);
}

void LearningThread::submit(std::vector<Item> items) {
  const auto now = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    for (Item& item : items) {
      item.since = now;
      queue_.push_back(std::move(item));
    }
  }
  wake_.notify_one();
}

void LearningThread::submit(Item item) {
  std::vector<Item> items;
  items.push_back(std::move(item));
  submit(std::move(items));
}

void LearningThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t LearningThread::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size() + working_;
}

double LearningThread::lag_seconds() const {
  const std::lock_guard lock(mutex_);
  if (working_ == 0 && queue_.empty()) return 0;
  const auto since = working_ > 0 ? working_since_ : queue_.front().since;
  return std::chrono::duration<double>(Clock::now() - since).count();
}

std::vector<SnapshotRow> LearningThread::last_snapshots() const {
  std::vector<SnapshotRow> snapshots;
  for (const auto& [id, trained] : models_) {
    const bool has_one = !trained->model->snapshot_lost;
    if (has_one && trained->trainer.last_log() == trained->snapshot_log) continue;
    snapshots.push_back(trained->trainer.snapshot());
    snapshots.back().model = id;
  }
  return snapshots;
}

void LearningThread::run() {
  std::vector<Item> batch;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      working_ = 0;
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      batch.swap(queue_);
      if (next_reader_ != nullptr) reader_ = std::exchange(next_reader_, nullptr);
      working_ = batch.size();
      working_since_ = batch.front().since;
    }
    work(batch);
    batch.clear();
  }
}

void LearningThread::work(std::vector<Item>& batch) {
  std::vector<TrainedHandle> changed;
  std::vector<LogEntry> entries;
  for (const Item& item : batch) {
    if (item.entry) entries.push_back(*item.entry);
  }
  std::size_t next = 0;
  std::size_t ahead = 0;
  for (Item& item : batch) {
    if (item.entry) {
      if (next == ahead) ahead += read_ahead(*reader_, std::span(entries).subspan(next));
      ++next;
    }
    const TrainedHandle trained = find(*item.model);
    if (trained == nullptr) continue;  // the model was removed
    // A node that has led before may have had the entry in its queue when it read the log.
    const bool is_new = item.entry && item.entry->seq > trained->trainer.last_log();
    if (is_new && trained->stalled.empty()) {
      const auto norm = apply(trained->trainer, *item.entry);
      if (!norm) {
        trained->stalled = norm.error().message;
      } else if (*norm > 0) {
        hooks_.updated(*item.model, *norm);
      }
      if (std::find(changed.begin(), changed.end(), trained) == changed.end()) {
        changed.push_back(trained);
      }
    }
    if (item.ask) item.ask(trained->trainer);
  }
  [[maybe_unused]] const auto forgotten = reader_->read_ahead({});
  for (const TrainedHandle& trained : changed) publish(trained);
  for (Item& item : batch) {
    if (item.answer) item.answer();
  }
}

Result<double> LearningThread::apply(Trainer& trainer, const LogEntry& entry) {
  try {
    for (;;) {
      auto applied = trainer.apply(entry, *reader_);
      const bool is_lost = !applied && applied.error().code == ErrorCode::kUnavailable;
      if (!is_lost || !reader_->may_recover()) return applied;
      // Nothing has changed yet: an entry is applied when all that it needs was read.
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kBetweenAttempts, [this] { return stopping_; })) return applied;
    }
  } catch (const std::bad_alloc&) {
    // What it changed so far is unknown; the next start applies the log again.
    return Error{ErrorCode::kUnavailable, "not enough memory to learn"};
  }
}

bool LearningThread::show(const TrainedHandle& trained, std::shared_ptr<const Version> version) {
  const std::lock_guard lock(models_mutex_);
  const auto found = models_.find(trained->model->id);
  if (found == models_.end() || found->second != trained) return false;
  trained->model->publication.publish(std::move(version));
  return true;
}

void LearningThread::publish(const TrainedHandle& trained) {
  auto version = trained->trainer.version();
  if (!trained->stalled.empty()) {
    if (hooks_.stalled && hooks_.stalled(trained->model)) return;
    // The log continues; the next start applies it.
    auto stalled = std::make_shared<Version>(*version);
    stalled->learning = false;
    stalled->frozen_because = "it can't follow the log: " + trained->stalled;
    version = std::move(stalled);
  }
  const auto before = trained->model->publication.latest();
  if (!show(trained, version)) return;
  if (version->has_fault() && !before->has_fault()) hooks_.frozen(*trained->model, *version);
  hooks_.published(trained->model);
  const std::uint64_t at = trained->trainer.version_number();
  if (trained->model->snapshot_lost.exchange(false)) trained->snapshot_version = 0;
  if (at - trained->snapshot_version < snapshot_every_) return;
  trained->snapshot_version = at;
  trained->snapshot_log = trained->trainer.last_log();
  hooks_.snapshot(trained->model, trained->trainer.snapshot());
}

}  // namespace plackett::serving
