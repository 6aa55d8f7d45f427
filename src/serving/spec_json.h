// A model's spec as the store keeps it: a JSON object (docs/formats/store.md).
#pragma once

#include <string>
#include <string_view>

#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::serving {

std::string to_json(const ModelSpec& spec);
// Reads and checks what to_json wrote, or the lines "key value" that older stores have.
Result<ModelSpec> parse_spec(std::string_view text);

}  // namespace plackett::serving
