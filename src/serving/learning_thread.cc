#include "serving/learning_thread.h"

#include <algorithm>

#include "serving/model.h"

namespace plackett::serving {

using Clock = std::chrono::steady_clock;

LearningThread::LearningThread(store::Reader reader, std::uint64_t snapshot_every,
                               LearningHooks hooks)
    : reader_(std::move(reader)),
      snapshot_every_(snapshot_every),
      hooks_(std::move(hooks)),
      thread_([this] { run(); }) {}

void LearningThread::adopt(const ModelHandle& model, Trainer trainer) {
  const std::lock_guard lock(pupils_mutex_);
  const std::int64_t log = trainer.last_log();
  const std::uint64_t version = trainer.version_number();
  model->publication.publish(trainer.version());
  pupils_.insert_or_assign(model->id, Pupil{model, std::move(trainer), log, version});
}

void LearningThread::forget(const ModelHandle& model) {
  const std::lock_guard lock(pupils_mutex_);
  pupils_.erase(model->id);
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

void LearningThread::for_each(
    const std::function<void(const ModelHandle&, const Trainer&, std::int64_t)>& each) const {
  for (const auto& [id, pupil] : pupils_) each(pupil.model, pupil.trainer, pupil.snapshot_log);
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
      working_ = batch.size();
      working_since_ = batch.front().since;
    }
    work(batch);
    batch.clear();
  }
}

void LearningThread::work(std::vector<Item>& batch) {
  std::vector<Pupil*> changed;
  {
    const std::lock_guard lock(pupils_mutex_);
    for (Item& item : batch) {
      const auto found = pupils_.find(item.model->id);
      if (found == pupils_.end()) continue;  // the model is gone
      Pupil& pupil = found->second;
      if (item.entry) {
        const double norm = pupil.trainer.apply(*item.entry, reader_);
        if (norm > 0) hooks_.updated(*item.model, norm);
        if (std::find(changed.begin(), changed.end(), &pupil) == changed.end()) {
          changed.push_back(&pupil);
        }
      }
      if (item.ask) item.ask(pupil.trainer);
    }
    for (Pupil* pupil : changed) {
      pupil->model->publication.publish(pupil->trainer.version());
      if (pupil->trainer.version_number() - pupil->snapshot_version >= snapshot_every_) {
        pupil->snapshot_version = pupil->trainer.version_number();
        pupil->snapshot_log = pupil->trainer.last_log();
        hooks_.snapshot(pupil->model, pupil->trainer.snapshot());
      }
    }
  }
  for (Item& item : batch) {
    if (item.pending) item.pending->release();
  }
}

}  // namespace plackett::serving
