// What the writer does between requests: impressions whose time is up, old ones dropped, the
// series made coarser, the log of writes moved into the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::serving {

struct ServiceParts;

// On the writer's thread alone.
class Upkeep {
 public:
  explicit Upkeep(ServiceParts& parts) : parts_(parts) {}

  void run();
  // After every commit: quick where there is nothing to do.
  void after_group();

  // Rows of removed models that still lie in the store.
  void add_removed(std::int64_t model) { removed_.push_back(model); }

 private:
  void expire(const ModelHandle& model);
  void reserve(const ModelHandle& model);
  // `excess`: the part of the store that is too much.
  void retain(const ModelHandle& model, std::int64_t kept_since, double excess);
  void drop_removed();
  void flush_learned();

  ServiceParts& parts_;
  std::vector<std::int64_t> removed_;
  std::chrono::steady_clock::time_point coarsened_{};
};

}  // namespace plackett::serving
