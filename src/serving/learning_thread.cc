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
  const std::int64_t log = trainer.last_log();
  const std::uint64_t version = trainer.version_number();
  model->publication.publish(trainer.version());
  auto pupil = std::make_shared<Pupil>(Pupil{model, std::move(trainer), log, version});
  const std::lock_guard lock(pupils_mutex_);
  pupils_.insert_or_assign(model->id, std::move(pupil));
}

void LearningThread::forget(const ModelHandle& model) {
  const std::lock_guard lock(pupils_mutex_);
  pupils_.erase(model->id);
}

LearningThread::PupilHandle LearningThread::pupil_of(const Model& model) {
  const std::lock_guard lock(pupils_mutex_);
  const auto found = pupils_.find(model.id);
  return found == pupils_.end() ? nullptr : found->second;
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
  for (const auto& [id, pupil] : pupils_) {
    const bool lost = pupil->model->snapshot_lost;
    each(pupil->model, pupil->trainer, lost ? -1 : pupil->snapshot_log);
  }
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
  std::vector<PupilHandle> changed;
  for (Item& item : batch) {
    const PupilHandle pupil = pupil_of(*item.model);
    if (pupil == nullptr) continue;  // the model is gone
    if (item.entry && pupil->stalled.empty()) {
      const auto norm = pupil->trainer.apply(*item.entry, reader_);
      if (!norm) {
        pupil->stalled = norm.error().message;
      } else if (*norm > 0) {
        hooks_.updated(*item.model, *norm);
      }
      if (std::find(changed.begin(), changed.end(), pupil) == changed.end()) {
        changed.push_back(pupil);
      }
    }
    if (item.ask) item.ask(pupil->trainer);
  }
  for (const PupilHandle& pupil : changed) publish(*pupil);
  for (Item& item : batch) {
    if (item.pending) item.pending->release();
  }
}

void LearningThread::publish(Pupil& pupil) {
  auto version = pupil.trainer.version();
  if (!pupil.stalled.empty()) {
    // The log goes on; the next start follows it.
    auto stalled = std::make_shared<Version>(*version);
    stalled->learning = false;
    stalled->frozen_because = "the store can't be read: " + pupil.stalled;
    version = std::move(stalled);
  }
  pupil.model->publication.publish(std::move(version));
  const std::uint64_t at = pupil.trainer.version_number();
  if (pupil.model->snapshot_lost.exchange(false)) pupil.snapshot_version = 0;
  if (at - pupil.snapshot_version < snapshot_every_) return;
  pupil.snapshot_version = at;
  pupil.snapshot_log = pupil.trainer.last_log();
  hooks_.snapshot(pupil.model, pupil.trainer.snapshot());
}

}  // namespace plackett::serving
