// The bodies of requests that administer models: PUT /models/{m}, PUT /models/{m}/items,
// POST /models/{m}/snapshots and POST /models/{m}/rollback.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "http/feature_row.h"
#include "http/json_reader.h"
#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::http {

// What the body says, defaults for the rest. What only the engine can judge (a learner's settings,
// a network's size) is left to it.
Result<serving::ModelSpec> read_model_request(JsonReader& json, JsonText body,
                                              std::string_view name);

struct ItemsRequest {
  std::vector<std::string> ids;  // distinct
  AlignedVector<float> rows;     // padded_width(features) floats per id
};
Result<ItemsRequest> read_items_request(JsonReader& json, JsonText body,
                                        const serving::ModelSpec& spec, const FeatureNames& names);

// The note; empty if the body is.
Result<std::string> read_snapshot_request(JsonReader& json, JsonText body);

// The snapshot's id.
Result<std::int64_t> read_rollback_request(JsonReader& json, JsonText body);

}  // namespace plackett::http
