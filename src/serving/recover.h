// A model back from the store.
#pragma once

#include <cstdint>
#include <functional>

#include "plackett/result.h"
#include "serving/model_spec.h"
#include "serving/trainer.h"
#include "store/reader.h"

namespace plackett::serving {

// The newest snapshot that can be read, and the log since.
Result<Trainer> recover(const ModelSpec& spec, const store::ModelRow& model, store::Reader& store);

struct ReplayReport {
  std::uint64_t entries = 0;    // of the log, applied
  std::uint64_t compared = 0;   // snapshots that the replay passed
  std::uint64_t different = 0;  // of those, which had other bytes
  bool from_snapshot = false;   // the log's beginning is no longer kept
};

// The whole log that is kept, from the beginning or from the snapshot that its beginning was
// dropped for; every snapshot on the way is compared byte by byte.
Result<Trainer> replay(const ModelSpec& spec, const store::ModelRow& model, store::Reader& store,
                       ReplayReport& report);

}  // namespace plackett::serving
