// What a served model is; fixed when it is created, but for what is logged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plackett/learner.h"
#include "plackett/ranker_spec.h"
#include "plackett/result.h"
#include "plackett/setting.h"

namespace plackett::serving {

inline constexpr std::uint32_t kMaxFeatures = 65'536;
inline constexpr std::uint64_t kMaxServedParameters = std::uint64_t{1}
                                                      << 24;  // each thread has a copy
inline constexpr std::uint32_t kMaxShown = 100;               // pair weights cost up to O(shown^3)
inline constexpr std::uint32_t kMaxOpenSeconds = 30 * 24 * 3600;
inline constexpr std::size_t kMaxIdBytes = 256;  // of items, impressions and events
inline constexpr std::size_t kMaxModelNameBytes = 64;
inline constexpr double kMostWeight = 1e15;     // of a ranker's parameter that a caller sets
inline constexpr double kMaxEventWeight = 1e9;  // so that sums of fourth powers are finite
inline constexpr std::size_t kMaxContextBytes = std::size_t{16} * 1024;
inline constexpr std::uint32_t kSeriesSeconds = 10;  // length of a span of the statistics
// When the span of a time begins; both in ms.
inline std::int64_t span_start(std::int64_t time) {
  constexpr std::int64_t kSpanMs = std::int64_t{kSeriesSeconds} * 1000;
  return time / kSpanMs * kSpanMs;
}

// A kind of events besides clicks, views and closes, such as a purchase.
struct NamedWeight {
  std::string name;   // as is_event_name() says
  double weight = 1;  // what one is worth in evaluations, where a click is worth 1
  bool operator==(const NamedWeight&) const = default;
};
inline constexpr std::size_t kMaxEventKinds = 32;

// What is stored of a model's lists and events. Nothing of it changes what is learned, so that the
// owner may change it at any time.
struct LogSettings {
  double candidates = 0;            // the probability that a list's other candidates are kept
  std::vector<NamedWeight> events;  // by name
  bool operator==(const LogSettings&) const = default;
};
// Of new models: enough to evaluate with, at a small part of the cost of all.
inline constexpr double kDefaultCandidates = 0.1;

struct ModelSpec {
  std::string name;
  RankerSpec ranker;                       // its feature_count is the model's
  std::vector<std::string> feature_names;  // one per feature, or none
  std::vector<std::uint32_t> feature_ids;  // as in model files; 1, 2, ... if empty
  std::string learner = "pdgd";
  std::vector<GivenSetting> settings;  // the learner's own, its learning rate among them
  std::uint32_t shown = 10;            // k
  std::string scaling = "query-minmax";
  std::uint64_t seed = 1;
  double temperature = 1;  // scores are divided by it before sampling
  std::uint32_t open_seconds = 1800;
  LogSettings logging;

  bool operator==(const ModelSpec&) const = default;
};

// The indices of a model's features by name; views into its spec.
using FeatureNames = std::unordered_map<std::string_view, std::uint32_t>;
FeatureNames feature_names(const ModelSpec& spec);

// Fails if a field is out of bounds; puts settings and ids in their canonical form.
Result<ModelSpec> check(ModelSpec spec);

// A learner of the spec, with the first parameters that its seed draws.
Result<std::unique_ptr<Learner>> make_learner_of(const ModelSpec& spec);

// Letters, digits, '.', '_' and '-', 1 to kMaxModelNameBytes of them.
bool is_model_name(std::string_view name);
// The same, and none of "click", "view" and "close".
bool is_event_name(std::string_view name);

// Names of the learners that can be served: those that can learn from a stored ranking whenever
// its clicks come.
std::vector<std::string_view> served_learners();

// As the store keeps it: a JSON object (docs/formats/store.md).
std::string to_json(const ModelSpec& spec);
// Reads and checks what to_json wrote, or the lines "key value" that older stores have.
Result<ModelSpec> parse_spec(std::string_view text);

}  // namespace plackett::serving
