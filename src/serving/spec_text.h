// A model's spec as the store keeps it: a line a field, "key value".
#pragma once

#include <string>
#include <string_view>

#include "plackett/result.h"
#include "serving/model_spec.h"

namespace plackett::serving {

std::string to_text(const ModelSpec& spec);
// Reads what to_text wrote, and checks it.
Result<ModelSpec> parse_spec_text(std::string_view text);

}  // namespace plackett::serving
