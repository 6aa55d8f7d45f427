// Rebuilds a model from the store.
#pragma once

#include <cstdint>
#include <functional>

#include "plackett/result.h"
#include "serving/model_spec.h"
#include "serving/store.h"
#include "serving/trainer.h"

namespace plackett::serving {

// Called after each entry of the log; ends the work by throwing Failed.
using AfterEntry = std::function<void()>;

// From the newest snapshot that can be read, and the log since.
Result<Trainer> recover(
    const ModelSpec& spec, const ModelRow& model, StoreReader& store,
    const AfterEntry& each = [] {});

// Applies every entry of the log after the trainer's last.
Result<void> follow_log(Trainer& trainer, std::int64_t model, StoreReader& store,
                        const AfterEntry& each);

struct ReplayReport {
  std::uint64_t entries = 0;    // of the log, applied
  std::uint64_t compared = 0;   // snapshots that the replay passed
  std::uint64_t different = 0;  // of those, how many had other bytes
  bool from_snapshot = false;   // the start of the log was dropped
  // What the log needs and the store does not have; the model's state is wrong from there on.
  std::vector<std::string> missing{};
};

// From the whole log, or, if its start was dropped, from the snapshot that includes that; compares
// every later snapshot byte by byte.
Result<Trainer> replay(const ModelSpec& spec, const ModelRow& model, StoreReader& store,
                       ReplayReport& report);

}  // namespace plackett::serving
