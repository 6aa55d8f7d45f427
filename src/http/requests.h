// The bodies of requests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned.h"
#include "http/id_table.h"
#include "http/json_reader.h"
#include "plackett/result.h"
#include "serving/model_spec.h"
#include "serving/service.h"

namespace plackett::http {

using serving::FeatureNames;

// POST /models/{m}/rank. One per thread: keeps its memory between requests.
class RankRequestReader {
 public:
  // Fills `request`, whose views point into the memory of the readers and of `body` until the next
  // read; in any state if the body is refused. Ids are distinct, pins and blocks name items;
  // whether the pins fit together is left to the service.
  Result<void> read(JsonReader& json, JsonText body, const serving::ModelSpec& spec,
                    const FeatureNames& names, std::size_t max_items,
                    serving::RankRequest& request);

 private:
  struct NamedPin {
    std::string_view id;
    std::uint32_t rank = 0;  // from 1
  };

  void read_item(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                 const FeatureNames& names, serving::RankRequest& request);
  void resolve(JsonReader& json, serving::RankRequest& request, const serving::ModelSpec& spec);

  IdTable ids_;
  std::vector<NamedPin> pins_;
  std::vector<std::string_view> blocks_;
};

// POST /models/{m}/feedback: one event, an array of them, or {"events": [...]}.
inline constexpr std::size_t kMaxEvents = 10'000;  // per request
Result<std::vector<serving::FeedbackEvent>> read_feedback_request(JsonReader& json, JsonText body);

// PUT /models/{m}. What the body says; for the rest what the existing model has, or defaults. What
// only the engine can judge (a learner's settings, a network's size) is left to it.
Result<serving::WantedModel> read_model_request(JsonReader& json, JsonText body,
                                                std::string_view name,
                                                const serving::ModelSpec* existing = nullptr);

// PUT /models/{m}/items.
struct ItemsRequest {
  std::vector<std::string> ids;  // distinct
  AlignedVector<float> rows;     // padded_width(features) floats per id
};
Result<ItemsRequest> read_items_request(JsonReader& json, JsonText body,
                                        const serving::ModelSpec& spec, const FeatureNames& names);

// POST /models/{m}/snapshots: the note; empty if the body is.
Result<std::string> read_snapshot_request(JsonReader& json, JsonText body);

// PUT /models/{m}/weights: one weight per feature, by read_feature_row().
Result<std::vector<float>> read_weights_request(JsonReader& json, JsonText body,
                                                const serving::ModelSpec& spec,
                                                const FeatureNames& names);

// POST /models/{m}/rollback: the snapshot's id.
Result<std::int64_t> read_rollback_request(JsonReader& json, JsonText body);

// PUT /models/{m}/experiments/{e}. What only the service can judge (names, shares, rules, models)
// is left to it.
Result<serving::ExperimentSpec> read_experiment_request(JsonReader& json, JsonText body,
                                                        std::string name);

// POST /models/{m}/experiments/{e}/promote: the arm.
Result<std::string> read_promote_request(JsonReader& json, JsonText body);

// feature_row.cc: what they say of items.

// The most numbers that the rows of one request may hold, with padding: 64 MiB. The body's limit
// does not limit them: a few bytes of text can ask for a wide row.
inline constexpr std::size_t kMaxRowFloats = std::size_t{1} << 24;

// What a row has per feature; errors speak of it.
enum class RowOf { kFeatures, kWeights };
// Fills `row`, which is 0, from an array of all features, or an object of those that are not 0.
// Refuses numbers that are not finite floats, weights beyond serving::kMostWeight, and an object
// without a weight. Requires: row.size() >= spec.ranker.feature_count.
void read_feature_row(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                      const FeatureNames& names, std::span<float> row,
                      RowOf kind = RowOf::kFeatures);

// An id of an item, an impression, a unit or an event: 1 to kMaxIdBytes bytes, none of them 0:
// SQLite's JSON functions end a text there, so that the store's views would show another id.
std::string_view read_id(JsonReader& json, JsonValue value);

}  // namespace plackett::http
