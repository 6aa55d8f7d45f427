// An item's features: an array of all of them, or an object of those that are not 0.
#pragma once

#include <span>

#include "http/feature_names.h"
#include "http/json_reader.h"
#include "serving/model_spec.h"

namespace plackett::http {

// Most numbers that the rows of one request may hold, padding among them: 64 MiB. A few bytes of
// text can ask for a wide row, so the body's limit is none on these.
inline constexpr std::size_t kMaxRowFloats = std::size_t{1} << 24;

// Fills `row`, which is 0. Refuses what is not finite within float's range.
// Requires: row.size() >= spec.ranker.feature_count.
void read_feature_row(JsonReader& reader, JsonValue value, const serving::ModelSpec& spec,
                      const FeatureNames& names, std::span<float> row);

// An id of an item, an impression or an event: 1 to kMaxIdBytes bytes.
std::string_view read_id(JsonReader& reader, JsonValue value);

}  // namespace plackett::http
