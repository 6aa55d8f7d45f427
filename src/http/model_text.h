// Models, impressions and the like as JSON.
#pragma once

#include "http/json_writer.h"
#include "serving/service.h"

namespace plackett::http {

void write_model(JsonWriter& json, const serving::ModelInfo& info);
void write_snapshot(JsonWriter& json, const serving::SnapshotInfo& snapshot);
void write_weights(JsonWriter& json, const serving::Weights& weights, std::string_view ranker);
void write_stats(JsonWriter& json, const serving::Stats& stats);
void write_impression(JsonWriter& json, const serving::SeenImpression& impression);

}  // namespace plackett::http
