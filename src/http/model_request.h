// The small bodies: PUT /models/{m}, POST /models/{m}/snapshots, POST /models/{m}/rollback.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/json_reader.h"
#include "http/padded_text.h"
#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::http {

// What the body says, defaults for the rest. What only the engine can judge (a learner's settings,
// a network's size) is left to it.
Result<serving::ModelSpec> read_model_request(JsonReader& json, const PaddedText& body,
                                              std::string_view name);

// The note; an empty body has none.
Result<std::string> read_snapshot_request(JsonReader& json, const PaddedText& body);

// The snapshot's id.
Result<std::int64_t> read_rollback_request(JsonReader& json, const PaddedText& body);

}  // namespace plackett::http
