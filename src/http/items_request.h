// The body of PUT /models/{m}/items.
#pragma once

#include <string>
#include <vector>

#include "base/aligned.h"
#include "http/feature_names.h"
#include "http/json_reader.h"
#include "http/padded_text.h"
#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::http {

struct ItemsRequest {
  std::vector<std::string> ids;  // distinct
  AlignedVector<float> rows;     // one of padded_width(features) floats an id
};

Result<ItemsRequest> read_items_request(JsonReader& json, const PaddedText& body,
                                        const serving::ModelSpec& spec, const FeatureNames& names);

}  // namespace plackett::http
