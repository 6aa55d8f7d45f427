// What the learner publishes and all other threads rank with.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "plackett/model_file.h"
#include "plackett/ranker.h"
#include "serving/store.h"

namespace plackett::serving {

// Version::frozen_because of a model that its owner froze. All other reasons are faults.
inline constexpr std::string_view kFrozenAsAsked = "asked";

// A model at one moment. Never changes; threads that rank clone the ranker, which has scratch.
struct Version {
  std::uint64_t number = 0;                // log entries applied
  std::int64_t log = 0;                    // the last of them
  std::shared_ptr<const Ranker> ranker;    // as learned: for lists that do not explore, and to save
  std::shared_ptr<const Ranker> explorer;  // what lists are sampled from; often the same
  LearnerState learner;
  std::uint64_t learned = 0;  // impressions learned from
  bool learning = true;
  std::string frozen_because;
  Mode serves = Mode::kExplore;  // how lists are made if a request does not say

  [[nodiscard]] bool has_fault() const { return !learning && frozen_because != kFrozenAsAsked; }
};

// The newest version. Publishing and reading lock for the copy of one pointer; readers that check
// serial() first rarely need to.
class Publication {
 public:
  // Drops a version that is older than the one that is here: two threads publish while another node
  // takes over the model.
  void publish(std::shared_ptr<const Version> version) {
    {
      const std::lock_guard lock(mutex_);
      if (version_ != nullptr && version->number < version_->number) return;
      version_.swap(version);
    }
    serial_.fetch_add(1, std::memory_order_release);
    // The old version is freed here, outside the lock.
  }
  [[nodiscard]] std::shared_ptr<const Version> latest() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }
  // Changes with every publication.
  [[nodiscard]] std::uint64_t serial() const { return serial_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Version> version_;
  std::atomic<std::uint64_t> serial_{0};
};

}  // namespace plackett::serving
