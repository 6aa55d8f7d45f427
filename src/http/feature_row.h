// What requests say of items: their ids and their features.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "http/json_reader.h"
#include "serving/model_spec.h"

namespace plackett::http {

using serving::FeatureNames;

// The most numbers that the rows of one request may hold, with padding: 64 MiB. The body's limit
// does not limit them: a few bytes of text can ask for a wide row.
inline constexpr std::size_t kMaxRowFloats = std::size_t{1} << 24;

// Fills `row`, which is 0, from an array of all features, or an object of those that are not 0.
// Refuses numbers that are not finite floats. Requires: row.size() >= spec.ranker.feature_count.
void read_feature_row(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                      const FeatureNames& names, std::span<float> row);

// An id of an item, an impression or an event: 1 to kMaxIdBytes bytes.
std::string_view read_id(JsonReader& json, JsonValue value);

}  // namespace plackett::http
