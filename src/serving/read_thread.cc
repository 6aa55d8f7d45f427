#include "serving/read_thread.h"

#include <fmt/format.h>

#include <utility>

namespace plackett::serving {

ReadThread::ReadThread(Options options) : options_(options), thread_([this] { run(); }) {}

void ReadThread::submit(Job job) {
  Error refused;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = {ErrorCode::kUnavailable, "the service is stopping"};
    } else if (waiting_.size() >= options_.limit) {
      refused = {
          ErrorCode::kUnavailable,
          fmt::format("{} requests wait to read the store, the most that may; try again later",
                      waiting_.size())};
    } else {
      waiting_.push_back({std::move(job), Clock::now()});
      wake_.notify_one();
      return;
    }
  }
  job(refused);
}

void ReadThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ReadThread::run() {
  for (;;) {
    Waiting next;
    bool stopping = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      stopping = stopping_;
    }
    if (stopping) {
      next.job(Error{ErrorCode::kUnavailable, "the service is stopping"});
    } else if (Clock::now() - next.since > options_.patience) {
      next.job(Error{ErrorCode::kUnavailable,
                     fmt::format("the store answers too slowly: {} ms before this read's turn, at "
                                 "most {}; try again later",
                                 std::chrono::duration_cast<std::chrono::milliseconds>(
                                     Clock::now() - next.since)
                                     .count(),
                                 options_.patience.count())});
    } else {
      next.job({});
    }
  }
}

}  // namespace plackett::serving
