// Models, impressions and the like as JSON: JsonWriter::value() finds these.
#pragma once

#include "http/json_writer.h"
#include "serving/service.h"

namespace plackett::http {

void write_json(JsonWriter& json, const serving::ModelInfo& info);
void write_json(JsonWriter& json, const serving::SnapshotRow& snapshot);
void write_json(JsonWriter& json, const serving::FeatureWeight& weight);
void write_json(JsonWriter& json, const serving::Stats& stats);
void write_json(JsonWriter& json, const serving::SeenImpression& impression);
// experiment_text.cc
void write_json(JsonWriter& json, const serving::ExperimentInfo& info);

}  // namespace plackett::http
