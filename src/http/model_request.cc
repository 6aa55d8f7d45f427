#include "http/model_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>

#include "http/feature_row.h"
#include "plackett/method.h"
#include "plackett/scaling.h"

namespace plackett::http {
namespace {

using serving::ModelSpec;
using simdjson::ondemand::json_type;

constexpr std::size_t kMaxNoteBytes = 1024;
constexpr std::size_t kMaxHiddenLayers = 16;
constexpr std::size_t kMaxSettings = 64;

constexpr std::array<std::string_view, 12> kKeys = {
    "features",      "ranker", "hidden",  "activation", "learner",     "settings",
    "learning_rate", "k",      "scaling", "seed",       "temperature", "open_seconds"};
enum Key : std::size_t {
  kFeatures,
  kRanker,
  kHidden,
  kActivation,
  kLearner,
  kSettings,
  kRate,
  kK,
  kScaling,
  kSeed,
  kTemperature,
  kOpenSeconds
};

bool has(std::uint32_t seen, Key key) { return (seen >> key & 1U) != 0; }

// A number as settings are written.
std::string number_text(JsonReader& json, JsonValue value) {
  return fmt::format("{}", json.number(value));
}

// A parsed value, or a refusal at the reader's place.
template <typename T>
T take(const JsonReader& json, Result<T> parsed) {
  if (!parsed) json.wrong(parsed.error().message);
  return std::move(parsed).value();
}

void read_features(JsonReader& json, JsonValue value, ModelSpec& spec) {
  if (json.type(value) != json_type::array) {
    spec.ranker.feature_count =
        static_cast<std::uint32_t>(json.whole(value, 1, serving::kMaxFeatures));
    return;
  }
  std::unordered_set<std::string_view> met;
  json.array(value, [&](std::uint32_t index, JsonValue inner) {
    if (index >= serving::kMaxFeatures) {
      json.wrong(fmt::format("more than {} features", serving::kMaxFeatures));
    }
    const std::string_view name = read_id(json, inner);
    if (!met.insert(name).second) json.wrong(fmt::format("the name \"{}\" is there twice", name));
    spec.feature_names.emplace_back(name);
  });
  if (spec.feature_names.empty()) json.wrong("no features; a model has at least 1");
  spec.ranker.feature_count = static_cast<std::uint32_t>(spec.feature_names.size());
}

void read_hidden(JsonReader& json, JsonValue value, RankerSpec& ranker) {
  ranker.hidden.clear();
  json.array(value, [&](std::uint32_t index, JsonValue inner) {
    if (index >= kMaxHiddenLayers) {
      json.wrong(fmt::format("more than {} hidden layers", kMaxHiddenLayers));
    }
    ranker.hidden.push_back(static_cast<std::uint32_t>(json.whole(inner, 1, kMaxUnits)));
  });
}

void read_settings(JsonReader& json, JsonValue value, ModelSpec& spec) {
  json.object(value, [&](std::string_view key, JsonValue inner) {
    if (spec.settings.size() >= kMaxSettings) json.wrong("too many settings");
    if (key == kLearningRate) json.wrong("the learning rate is not among these: learning_rate");
    const auto same = [&](const GivenSetting& one) { return one.name == key; };
    if (std::any_of(spec.settings.begin(), spec.settings.end(), same)) {
      json.wrong("the setting is there twice");
    }
    const bool is_text = json.type(inner) == json_type::string;
    spec.settings.push_back(
        {std::string(key), is_text ? std::string(json.string(inner)) : number_text(json, inner)});
  });
}

void read_learner(JsonReader& json, JsonValue value, ModelSpec& spec) {
  const std::string_view name = json.string(value);
  const auto known = serving::served_learners();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    json.wrong(fmt::format("unknown learner {}; known: {}", JsonReader::excerpt(value),
                           fmt::join(known, ", ")));
  }
  spec.learner = name;
}

// Each by itself, so that the refusal names the one that is wrong.
void check_settings(const ModelSpec& spec) {
  const auto method = find_method(spec.learner);
  if (!method) return;
  for (const GivenSetting& one : spec.settings) {
    const auto values = SettingValues::make(method.value()->settings, std::span(&one, 1));
    if (values) continue;
    JsonReader::wrong_at(
        one.name == kLearningRate ? "learning_rate" : fmt::format("settings.{}", one.name),
        values.error().message);
  }
}

// What one key cannot know of another.
void check_together(std::uint32_t seen, ModelSpec& spec) {
  if (!has(seen, kFeatures)) {
    JsonReader::wrong_at("features", "no features; give their number or their names");
  }
  check_settings(spec);
  if (!has(seen, kRanker)) {
    if (const auto method = find_method(spec.learner)) {
      spec.ranker.kind = method.value()->default_ranker;
    }
  }
  if (has_network(spec.ranker.kind)) {
    if (spec.ranker.hidden.empty()) {
      JsonReader::wrong_at("hidden", "no hidden layers; a network has at least 1");
    }
    return;
  }
  if (has(seen, kHidden) && !spec.ranker.hidden.empty()) {
    JsonReader::wrong_at("hidden", "a linear ranker has no hidden layers");
  }
  if (has(seen, kActivation)) {
    JsonReader::wrong_at("activation", "a linear ranker has no activation");
  }
  spec.ranker.hidden.clear();
}

void read_key(JsonReader& json, Key key, JsonValue value, ModelSpec& spec) {
  switch (key) {
    case kFeatures:
      return read_features(json, value, spec);
    case kRanker:
      spec.ranker.kind = take(json, parse_ranker_kind(json.string(value)));
      return;
    case kHidden:
      return read_hidden(json, value, spec.ranker);
    case kActivation:
      spec.ranker.activation = take(json, parse_activation(json.string(value)));
      return;
    case kLearner:
      return read_learner(json, value, spec);
    case kSettings:
      return read_settings(json, value, spec);
    case kRate:
      spec.settings.push_back({std::string(kLearningRate), number_text(json, value)});
      return;
    case kK:
      spec.shown = static_cast<std::uint32_t>(json.whole(value, 1, serving::kMaxShown));
      return;
    case kScaling:
      spec.scaling = name_of(take(json, parse_scaling(json.string(value))));
      return;
    case kSeed:
      spec.seed = json.whole(value, 0, std::numeric_limits<std::uint64_t>::max());
      return;
    case kTemperature:
      spec.temperature = json.number(value);
      if (!(spec.temperature > 0)) {
        json.wrong(fmt::format("{}; a temperature is above 0", JsonReader::excerpt(value)));
      }
      return;
    case kOpenSeconds:
      spec.open_seconds =
          static_cast<std::uint32_t>(json.whole(value, 1, serving::kMaxOpenSeconds));
      return;
  }
}

}  // namespace

Result<ModelSpec> read_model_request(JsonReader& json, const PaddedText& body,
                                     std::string_view name) {
  ModelSpec spec;
  spec.name = name;
  std::uint32_t seen = 0;
  auto refused = json.read(body, [&](JsonValue root) {
    json.object(root, [&](std::string_view key, JsonValue value) {
      read_key(json, static_cast<Key>(json.one_of(key, kKeys, seen)), value, spec);
    });
    check_together(seen, spec);
  });
  if (refused) return std::move(*refused);
  return spec;
}

Result<std::string> read_snapshot_request(JsonReader& json, const PaddedText& body) {
  static constexpr std::array<std::string_view, 1> kNoteKeys = {"note"};
  std::string note;
  if (body.empty()) return note;
  std::uint32_t seen = 0;
  auto refused = json.read(body, [&](JsonValue root) {
    json.object(root, [&](std::string_view key, JsonValue value) {
      json.one_of(key, kNoteKeys, seen);
      note = json.string(value);
      if (note.size() > kMaxNoteBytes) {
        json.wrong(fmt::format("{} bytes; a note has at most {}", note.size(), kMaxNoteBytes));
      }
    });
  });
  if (refused) return std::move(*refused);
  return note;
}

Result<std::int64_t> read_rollback_request(JsonReader& json, const PaddedText& body) {
  static constexpr std::array<std::string_view, 1> kRollbackKeys = {"snapshot"};
  std::int64_t snapshot = 0;
  std::uint32_t seen = 0;
  auto refused = json.read(body, [&](JsonValue root) {
    json.object(root, [&](std::string_view key, JsonValue value) {
      json.one_of(key, kRollbackKeys, seen);
      snapshot =
          static_cast<std::int64_t>(json.whole(value, 1, std::numeric_limits<std::int64_t>::max()));
    });
    if (seen == 0) JsonReader::wrong_at("snapshot", "no snapshot; give its id");
  });
  if (refused) return std::move(*refused);
  return snapshot;
}

}  // namespace plackett::http
