#include "serving/sync_thread.h"

#include <chrono>

namespace plackett::serving {

SyncThread::SyncThread(store::Writer& store) : store_(store), thread_([this] { run(); }) {}

void SyncThread::submit(std::vector<PendingHandle> waiting) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), std::make_move_iterator(waiting.begin()),
                    std::make_move_iterator(waiting.end()));
  }
  wake_.notify_one();
}

void SyncThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void SyncThread::run() {
  std::vector<PendingHandle> group;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      group.swap(waiting_);
    }
    const auto start = std::chrono::steady_clock::now();
    const auto synced = store_.sync();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ++syncs_;
    seconds_ = seconds_ + took.count();
    for (const PendingHandle& pending : group) {
      if (synced) {
        pending->release();
      } else {
        pending->fail(synced.error().message);
      }
    }
    group.clear();
  }
}

}  // namespace plackett::serving
