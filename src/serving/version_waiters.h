// Requests that wait until a version of a model is here. From any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "serving/model.h"
#include "serving/service.h"

namespace plackett::serving {

class VersionWaiters {
 public:
  using Clock = std::chrono::steady_clock;

  void add(const ModelHandle& model, std::uint64_t version, Clock::time_point until,
           Done<void> done) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({model, version, until, std::move(done)});
    }
    published(*model);  // it may have come meanwhile
  }
  // Answers those whose version is here.
  void published(const Model& model) {
    const std::uint64_t version = model.publication.latest()->number;
    answer({},
           [&](const Waiting& one) { return one.model.get() == &model && one.version <= version; });
  }
  // When the next one's time is up, of those that wait now.
  Clock::time_point next_expiry() {
    const std::lock_guard lock(mutex_);
    auto next = Clock::time_point::max();
    for (const Waiting& one : waiting_) next = std::min(next, one.until);
    return next;
  }
  // Refuses those whose time is up.
  void expire(Clock::time_point now) {
    answer(Error{ErrorCode::kUnavailable, "the version is not here yet; try again"},
           [&](const Waiting& one) { return one.until <= now; });
  }

 private:
  struct Waiting {
    ModelHandle model;
    std::uint64_t version;
    Clock::time_point until;
    Done<void> done;
  };
  template <typename Is>
  void answer(const Result<void>& result, const Is& is) {
    std::list<Waiting> answered;
    {
      const std::lock_guard lock(mutex_);
      for (auto one = waiting_.begin(); one != waiting_.end();) {
        const auto next = std::next(one);
        if (is(*one)) answered.splice(answered.end(), waiting_, one);
        one = next;
      }
    }
    for (const Waiting& one : answered) one.done(result);
  }

  std::mutex mutex_;
  std::list<Waiting> waiting_;
};

}  // namespace plackett::serving
