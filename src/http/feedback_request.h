// The body of POST /models/{m}/feedback.
#pragma once

#include <vector>

#include "http/json_reader.h"
#include "http/padded_text.h"
#include "plackett/result.h"
#include "serving/service.h"

namespace plackett::http {

inline constexpr std::size_t kMaxEvents = 10'000;  // a request

// One event, an array of them, or {"events": [...]}.
Result<std::vector<serving::FeedbackEvent>> read_feedback_request(JsonReader& json,
                                                                  const PaddedText& body);

}  // namespace plackett::http
