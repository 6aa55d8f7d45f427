// What the writer does between requests: closes impressions whose time is up, drops old ones,
// reserves numbers, merges old spans of the series.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::serving {

struct ServiceParts;
class Transaction;

// Only the writer's thread uses it.
class Upkeep {
 public:
  explicit Upkeep(ServiceParts& parts);

  // Fails if it was ended since the store does not answer.
  Result<void> run();
  // A removed model whose rows are to be dropped.
  void add_removed(std::int64_t model);

 private:
  void run_all();
  // As a transaction of its own. Like what is done by it, throws Failed if the store fails.
  void change(std::function<void(Transaction&)> apply, std::function<void()> committed = {});
  void expire(const ModelHandle& model);
  // The same where several nodes make the lists: by the times in the store.
  void expire_shared(const ModelHandle& model);
  void reserve(const ModelHandle& model);
  void reserve_shared(const ModelHandle& model);
  // Says up to which list the versions of items that were replaced may be referred to.
  void limit_references(const ModelHandle& model);
  // Drops a part of the log that a snapshot has replaced.
  void trim_log(const ModelHandle& model);
  // Since when impressions are kept (0: always), and which share of them is too much.
  [[nodiscard]] std::pair<std::int64_t, double> retention();
  // Store::item_bytes() of about now; none if it is not known.
  [[nodiscard]] std::optional<std::uint64_t> item_bytes();
  // Drops impressions shown at `kept_since` or before, and the oldest `excess` (a share) of all.
  void retain(const ModelHandle& model, std::int64_t kept_since, double excess);
  void drop_removed();
  void flush_learned();

  ServiceParts& parts_;
  std::int64_t started_;  // the system's time at the steady clock's 0, as it was at the start
  struct Removed {
    std::int64_t model = 0;
    bool again = false;  // once all nodes know of it
    std::chrono::steady_clock::time_point at{};
  };
  std::vector<Removed> removed_;
  struct Asked {
    std::int64_t log = 0;  // the entry that the snapshot must include
    std::chrono::steady_clock::time_point at{};
  };
  std::unordered_map<std::int64_t, Asked> asked_;  // by model: the last snapshot for retain()
  std::chrono::steady_clock::time_point coarsened_{};
  struct ItemBytes {
    std::optional<std::uint64_t> bytes{};  // none: not measured yet, or that failed
    std::uint64_t count = 0;               // of items
    std::chrono::steady_clock::time_point at{};
    std::chrono::steady_clock::duration took{};
    bool failed = false;  // the last time
  };
  ItemBytes item_bytes_;
};

}  // namespace plackett::serving
