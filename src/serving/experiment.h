// A running experiment as the threads share it, and how its lists are counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serving/experiment_spec.h"
#include "serving/store.h"

namespace plackett::serving {

class Model;
class Transaction;
using ModelHandle = std::shared_ptr<Model>;

// What users are counted by: a hash of the unit, or of the list where there is none. Differs
// between experiments, so that each divides the units anew.
std::uint64_t unit_key(std::int64_t experiment, std::string_view unit);

// Never changes; a change makes a new one.
struct Experiment {
  std::int64_t id = 0;
  std::int64_t started_at = 0;
  ExperimentSpec spec;
  std::vector<ModelHandle> makers{};  // per arm, who makes its lists; null: its own model, or none
  std::vector<std::uint8_t> stopped{};  // per arm

  // The arm that a unit belongs to. Deterministic in (id, shares, key).
  [[nodiscard]] std::uint32_t arm_of(std::uint64_t key) const;
  // The number of an arm; kNone if there is none of that name.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t find_arm(std::string_view name) const;
};
using ExperimentHandle = std::shared_ptr<const Experiment>;

// A model's running experiment, if there is one. From any thread.
class ExperimentSlot {
 public:
  [[nodiscard]] ExperimentHandle get() const {
    if (!running_.load(std::memory_order_acquire)) return nullptr;
    const std::lock_guard lock(mutex_);
    return experiment_;
  }
  void set(ExperimentHandle experiment) {
    const std::lock_guard lock(mutex_);
    experiment_.swap(experiment);
    running_.store(experiment_ != nullptr, std::memory_order_release);
  }
  // Numbers for lists without a unit.
  [[nodiscard]] std::uint64_t next_list() const { return lists_.fetch_add(1); }
  void start_lists_at(std::uint64_t number) { lists_ = number; }

 private:
  mutable std::mutex mutex_;
  ExperimentHandle experiment_;
  std::atomic<bool> running_{false};
  mutable std::atomic<std::uint64_t> lists_{0};
};

// What an event adds to the value of a list.
struct Gain {
  double value = 0;
  bool click = false;
  std::uint32_t rank = 0;
};
// A click at a rank, from 0, of a list that had a click before or not.
double click_gain(ValueMetric metric, std::uint32_t rank, bool first);

// Counts a list that is shown.
void count_list(Transaction& transaction, const Experiment& experiment, const ImpressionRow& list);
// Counts what became of it.
void count_gain(Transaction& transaction, const Experiment& experiment, std::int64_t list,
                std::string_view unit, const ArmOfList& in, const Gain& gain);

}  // namespace plackett::serving
