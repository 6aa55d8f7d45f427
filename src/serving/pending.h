// An answer that waits for more than one thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serving/service.h"

namespace plackett::serving {

// Settled when everyone it waits for has released it; refused where one of them failed.
class Pending {
 public:
  Pending(int waits, Done<void> settled) : left_(waits), settled_(std::move(settled)) {}

  void release() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    if (failed_.load(std::memory_order_acquire)) {
      settled_(Error{ErrorCode::kUnavailable, why_});
    } else {
      settled_({});
    }
  }
  void fail(const std::string& why) {
    if (!claimed_.exchange(true)) {
      why_ = why;
      failed_.store(true, std::memory_order_release);
    }
    release();
  }

 private:
  std::atomic<int> left_;
  std::atomic<bool> claimed_{false};
  std::atomic<bool> failed_{false};
  std::string why_;
  Done<void> settled_;
};

using PendingHandle = std::shared_ptr<Pending>;

}  // namespace plackett::serving
