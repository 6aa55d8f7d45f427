// The bodies and addresses of requests: any bytes are taken or refused with a reason, and reading
// them again with the same reader says the same. The first byte picks the parser.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "http/requests.h"
#include "http/target.h"
#include "http/tokens.h"
#include "http/utf8.h"
#include "plackett/feature_view.h"

namespace {

using namespace plackett;        // NOLINT(google-build-using-namespace)
using namespace plackett::http;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void require_sound(const Error& refused) {
  require(!refused.message.empty());
  require(is_utf8(refused.where));
}

const serving::ModelSpec& spec() {
  static const serving::ModelSpec kSpec = [] {
    serving::ModelSpec made;
    made.ranker.feature_count = 3;
    made.feature_names = {"price", "rating", "age"};
    return made;
  }();
  return kSpec;
}

// What the engine counts on.
void require_sound(const serving::RankRequest& request) {
  require(!request.items.empty() && request.items.size() <= 50);
  require(request.given.size() == request.items.size());
  require(request.blocked.size() == request.items.size());
  require(request.rows.empty() || request.rows.size() == request.items.size() * padded_width(3));
  for (const float value : request.rows) require(std::isfinite(value));
  for (const auto& pin : request.pinned) require(pin.item < request.items.size());
  for (const auto id : request.items) {
    require(!id.empty() && id.size() <= serving::kMaxIdBytes && is_utf8(id));
  }
  require(request.k <= serving::kMaxShown);
  require(is_utf8(request.context));
  require(request.unit.size() <= serving::kMaxIdBytes && is_utf8(request.unit));
}

template <typename T>
bool sound(const Result<T>& answer) {
  if (!answer) require_sound(answer.error());
  return answer.ok();
}

bool read(unsigned parser, JsonReader& json, JsonText body) {
  static const FeatureNames kNames = feature_names(spec());
  static RankRequestReader rank_reader;
  static serving::RankRequest rank;
  // '1' is the first.
  switch ((parser + 5) % 9) {
    case 0: {
      const auto result = rank_reader.read(json, body, spec(), kNames, 50, rank);
      if (result) require_sound(rank);
      return sound(result);
    }
    case 1:
      return sound(read_feedback_request(json, body));
    case 2:
      return sound(read_model_request(json, body, "shop"));
    case 3: {
      const auto items = read_items_request(json, body, spec(), kNames);
      if (items) require(items->rows.size() == items->ids.size() * padded_width(3));
      return sound(items);
    }
    case 4:
      return sound(read_rollback_request(json, body)) | sound(read_snapshot_request(json, body)) |
             sound(read_weights_request(json, body, spec(), kNames));
    case 5: {
      Target target;
      const auto parsed = parse_target(body, target);
      for (const std::string& segment : target.segments) {
        if (parsed) require(is_utf8(segment));
      }
      return sound(parsed);
    }
    case 6:
      return Tokens::parse(body, "input").ok();
    case 7: {
      auto read = read_experiment_request(json, body, "e");
      if (!sound(read)) return false;
      const auto checked = serving::check(*std::move(read));
      if (!sound(checked)) return true;
      // What is started is what the store gives back.
      const auto stored = serving::parse_experiment_spec(serving::to_json(*checked));
      require(stored.ok() && *stored == *checked);
      return true;
    }
    default: {
      const auto arm = read_promote_request(json, body);
      if (arm) require(is_utf8(*arm));
      return sound(arm);
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static JsonReader json;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const simdjson::padded_string body(text.substr(1));
  const bool taken = read(data[0], json, body);
  require(read(data[0], json, body) == taken);
  return 0;
}
