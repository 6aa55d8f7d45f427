// Applies the rules of running experiments, guards and promotions, and keeps their sums over time.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "serving/experiment.h"
#include "serving/store.h"

namespace plackett::serving {

struct ServiceParts;

// Only the writer's thread uses it.
class ExperimentRules {
 public:
  explicit ExperimentRules(ServiceParts& parts) : parts_(parts) {}

  // To be called often; looks at the experiments about once a second. One that fails does not keep
  // it from the others; it is logged, and tried again.
  void apply();

 private:
  // The sums that were kept so far.
  struct Kept {
    std::vector<std::int64_t> times{};
    std::uint64_t events = 0;  // in the last of them
  };
  Kept& kept_of(const Experiment& experiment);
  void watch(const ModelHandle& model, const ExperimentHandle& experiment);
  // Drops a part of what ended experiments kept of single units.
  void drop_units();

  ServiceParts& parts_;
  std::unordered_map<std::int64_t, Kept> kept_;             // by experiment; of running ones
  std::unordered_map<std::int64_t, std::string> failures_;  // likewise: why the last look failed
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace plackett::serving
