// Brings commits to the disk: while one sync runs, the next group gathers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "serving/pending.h"
#include "store/writer.h"

namespace plackett::serving {

class SyncThread {
 public:
  explicit SyncThread(store::Writer& store);
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;
  ~SyncThread() { stop(); }

  // Releases them when what was committed before the call is on the disk.
  void submit(std::vector<PendingHandle> waiting);
  // Finishes what was submitted.
  void stop();

  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void run();

  store::Writer& store_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<PendingHandle> waiting_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> syncs_{0};
  std::atomic<double> seconds_{0};
  std::thread thread_;
};

}  // namespace plackett::serving
