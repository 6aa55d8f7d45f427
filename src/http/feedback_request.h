// The body of POST /models/{m}/feedback.
#pragma once

#include <vector>

#include "http/json_reader.h"
#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::http {

inline constexpr std::size_t kMaxEvents = 10'000;  // per request

// One event, an array of them, or {"events": [...]}.
Result<std::vector<serving::FeedbackEvent>> read_feedback_request(JsonReader& json, JsonText body);

}  // namespace plackett::http
