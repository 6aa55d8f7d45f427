#include "http/requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "http/id_table.h"
#include "plackett/feature_view.h"
#include "plackett/method.h"
#include "plackett/scaling.h"

namespace plackett::http {
namespace {

using serving::ModelSpec;
using simdjson::ondemand::json_type;

constexpr std::size_t kMaxNoteBytes = 1024;
constexpr std::size_t kMaxHiddenLayers = 16;
constexpr std::size_t kMaxSettings = 64;

// A number as settings are written.
std::string number_text(JsonReader& json, JsonValue value) {
  return fmt::format("{}", json.number(value));
}

// What `parse` makes of a string, or a refusal at the reader's place.
template <typename Parse>
auto parsed(JsonReader& json, JsonValue value, const Parse& parse) {
  auto result = parse(json.string(value));
  if (!result) json.wrong(result.error().message);
  return std::move(result).value();
}

// The features' count or their names.
void read_features(JsonReader& json, JsonValue value, ModelSpec& spec) {
  spec.feature_names.clear();
  if (json.type(value) != json_type::array) {
    spec.ranker.feature_count = json.integer(value, 1, serving::kMaxFeatures);
    return;
  }
  IdTable met;
  json.array(value, serving::kMaxFeatures, [&](std::uint32_t, JsonValue inner) {
    const std::string_view name = read_id(json, inner);
    if (met.add(name)) json.wrong(fmt::format("duplicate name \"{}\"", name));
    spec.feature_names.emplace_back(name);
  });
  if (spec.feature_names.empty()) json.wrong("no features; a model has at least 1");
  spec.ranker.feature_count = static_cast<std::uint32_t>(spec.feature_names.size());
}

void read_hidden(JsonReader& json, JsonValue value, RankerSpec& ranker) {
  ranker.hidden.clear();
  json.array(value, kMaxHiddenLayers, [&](std::uint32_t, JsonValue inner) {
    ranker.hidden.push_back(json.integer(inner, 1, kMaxUnits));
  });
}

void read_settings(JsonReader& json, JsonValue value, ModelSpec& spec) {
  std::erase_if(spec.settings, [](const GivenSetting& one) { return one.name != kLearningRate; });
  json.object(value, [&](std::string_view key, JsonValue inner) {
    if (spec.settings.size() >= kMaxSettings) json.wrong("too many settings");
    if (key == kLearningRate) json.wrong("give the learning rate as learning_rate");
    const auto same = [&](const GivenSetting& one) { return one.name == key; };
    if (std::any_of(spec.settings.begin(), spec.settings.end(), same)) {
      json.wrong("duplicate setting");
    }
    const bool is_text = json.type(inner) == json_type::string;
    spec.settings.push_back(
        {std::string(key), is_text ? std::string(json.string(inner)) : number_text(json, inner)});
  });
}

void read_learner(JsonReader& json, JsonValue value, ModelSpec& spec) {
  spec.learner = json.string(value);
  if (const auto method = find_method(spec.learner)) spec.learner = (*method)->name;
  const auto known = serving::served_learners();
  if (std::find(known.begin(), known.end(), spec.learner) == known.end()) {
    json.wrong(fmt::format("unknown learner {}; known: {}", JsonReader::excerpt(value),
                           fmt::join(known, ", ")));
  }
}

double read_temperature(JsonReader& json, JsonValue value) {
  const double temperature = json.number(value);
  if (!(temperature > 0)) {
    json.wrong(fmt::format("{}; a temperature is above 0", JsonReader::excerpt(value)));
  }
  return temperature;
}

// "all", "none" or a probability.
double read_candidates(JsonReader& json, JsonValue value) {
  if (json.type(value) == json_type::string) {
    const std::string_view name = json.string(value);
    if (name == "all" || name == "none") return name == "all" ? 1 : 0;
  } else if (json.type(value) == json_type::number) {
    const double share = json.number(value);
    if (share >= 0 && share <= 1) return share;
  }
  json.wrong(fmt::format("{}; expected \"all\", \"none\" or a probability from 0 to 1",
                         JsonReader::excerpt(value)));
}

void read_events(JsonReader& json, JsonValue value, std::vector<serving::NamedWeight>& events) {
  events.clear();
  json.object(value, [&](std::string_view key, JsonValue inner) {
    if (events.size() >= serving::kMaxEventKinds) {
      json.wrong(fmt::format("more than {} kinds of events", serving::kMaxEventKinds));
    }
    events.push_back({std::string(key), json.number(inner)});
  });
}

// Each setting by itself, so that the refusal names the one that is wrong.
void check_settings(const JsonReader& json, const ModelSpec& spec, const Method& method) {
  for (const GivenSetting& one : spec.settings) {
    const auto values = SettingValues::make(method.settings, std::span(&one, 1));
    if (values) continue;
    json.wrong_at(one.name == kLearningRate ? "learning_rate" : "settings." + one.name,
                  values.error().message);
  }
}

// A linear ranker has no hidden layers, a network at least one.
void check_network(const JsonReader& json, RankerSpec& ranker, bool has_hidden,
                   bool has_activation) {
  if (has_network(ranker.kind)) {
    if (ranker.hidden.empty()) json.wrong_at("hidden", "a network has at least 1 hidden layer");
    return;
  }
  if (has_hidden && !ranker.hidden.empty()) {
    json.wrong_at("hidden", "a linear ranker has no hidden layers");
  }
  if (has_activation) json.wrong_at("activation", "a linear ranker has no activation");
  ranker.hidden.clear();
}

}  // namespace

Result<serving::WantedModel> read_model_request(JsonReader& json, JsonText body,
                                                std::string_view name, const ModelSpec* existing) {
  enum : std::uint32_t { kFeatures = 1, kRanker = 2, kHidden = 4, kActivation = 8 };
  return json.read(body, [&](JsonValue root) {
    serving::WantedModel wanted;
    wanted.candidates_given = wanted.events_given = false;
    ModelSpec& spec = wanted.spec;
    spec.learner = kDefaultMethod;
    spec.logging.candidates = serving::kDefaultCandidates;
    if (existing != nullptr) spec = *existing;
    spec.name = name;
    RankerSpec& ranker = spec.ranker;
    const std::uint32_t seen = json.fields(
        root, Key{"features", [&](JsonValue value) { read_features(json, value, spec); }},
        Key{"ranker",
            [&](JsonValue value) { ranker.kind = parsed(json, value, parse_ranker_kind); }},
        Key{"hidden", [&](JsonValue value) { read_hidden(json, value, ranker); }},
        Key{"activation",
            [&](JsonValue value) { ranker.activation = parsed(json, value, parse_activation); }},
        Key{"learner", [&](JsonValue value) { read_learner(json, value, spec); }},
        Key{"settings", [&](JsonValue value) { read_settings(json, value, spec); }},
        Key{"learning_rate",
            [&](JsonValue value) {
              std::erase_if(spec.settings,
                            [](const GivenSetting& one) { return one.name == kLearningRate; });
              spec.settings.push_back({std::string(kLearningRate), number_text(json, value)});
            }},
        Key{"k", [&](JsonValue value) { spec.shown = json.integer(value, 1, serving::kMaxShown); }},
        Key{"scaling",
            [&](JsonValue value) { spec.scaling = name_of(parsed(json, value, parse_scaling)); }},
        Key{"seed",
            [&](JsonValue value) {
              spec.seed = json.integer<std::uint64_t>(value, 0, ~std::uint64_t{0});
            }},
        Key{"temperature",
            [&](JsonValue value) { spec.temperature = read_temperature(json, value); }},
        Key{"open_seconds",
            [&](JsonValue value) {
              spec.open_seconds = json.integer(value, 1, serving::kMaxOpenSeconds);
            }},
        Key{"candidates",
            [&](JsonValue value) {
              spec.logging.candidates = read_candidates(json, value);
              wanted.candidates_given = true;
            }},
        Key{"events", [&](JsonValue value) {
              read_events(json, value, spec.logging.events);
              wanted.events_given = true;
            }});
    if (spec.feature_ids.size() != ranker.feature_count) spec.feature_ids.clear();
    if ((seen & kFeatures) == 0 && existing == nullptr) {
      json.wrong_at("features", "no features; give their number or their names");
    }
    if (const auto method = find_method(spec.learner)) {
      check_settings(json, spec, **method);
      const bool same = existing != nullptr && existing->learner == spec.learner;
      if ((seen & kRanker) == 0) {
        ranker.kind = same ? existing->ranker.kind : (*method)->default_ranker;
      }
    }
    check_network(json, ranker, (seen & kHidden) != 0, (seen & kActivation) != 0);
    return wanted;
  });
}

Result<ItemsRequest> read_items_request(JsonReader& json, JsonText body, const ModelSpec& spec,
                                        const FeatureNames& names) {
  const std::size_t width = padded_width(spec.ranker.feature_count);
  ItemsRequest request;
  IdTable ids;
  const auto read_item = [&](std::uint32_t item, JsonValue value) {
    request.rows.resize((item + 1) * width);
    const auto row = std::span(request.rows).subspan(item * width);
    std::string_view id;
    const std::uint32_t seen = json.fields(
        value, Key{"id", [&](JsonValue inner) { id = read_id(json, inner); }},
        Key{"features", [&](JsonValue inner) { read_feature_row(json, inner, spec, names, row); }});
    if (seen != 0b11) json.wrong("an item to store needs an id and features");
    if (const auto earlier = ids.add(id)) {
      json.wrong(fmt::format("the id \"{}\" is also that of items[{}]", id, *earlier));
    }
    request.ids.emplace_back(id);
  };
  return json.read(body, [&](JsonValue root) {
    json.fields(root, Key{"items", [&](JsonValue value) {
                            json.array(value, kMaxRowFloats / width, read_item);
                          }});
    if (request.ids.empty()) json.wrong_at("items", "no items; send at least 1");
    return std::move(request);
  });
}

Result<std::string> read_snapshot_request(JsonReader& json, JsonText body) {
  if (body.empty()) return std::string();
  return json.read(body, [&](JsonValue root) {
    std::string note;
    json.fields(root, Key{"note", [&](JsonValue value) {
                            note = json.string(value);
                            if (note.size() > kMaxNoteBytes) {
                              json.wrong(fmt::format("{} bytes; a note has at most {}", note.size(),
                                                     kMaxNoteBytes));
                            }
                            if (note.find('\0') != std::string::npos) {
                              json.wrong("a note with the character U+0000, which SQL can't read");
                            }
                          }});
    return note;
  });
}

Result<std::vector<float>> read_weights_request(JsonReader& json, JsonText body,
                                                const ModelSpec& spec, const FeatureNames& names) {
  return json.read(body, [&](JsonValue root) {
    std::vector<float> weights(spec.ranker.feature_count);
    const std::uint32_t seen = json.fields(root, Key{"weights", [&](JsonValue value) {
                                                       read_feature_row(json, value, spec, names,
                                                                        weights, RowOf::kWeights);
                                                     }});
    if (seen == 0) json.wrong_at("weights", "no weights; give one per feature, or those not 0");
    return weights;
  });
}

Result<std::int64_t> read_rollback_request(JsonReader& json, JsonText body) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  return json.read(body, [&](JsonValue root) {
    std::int64_t snapshot = 0;
    json.fields(root, Key{"snapshot", [&](JsonValue value) {
                            snapshot = json.integer<std::int64_t>(value, 1, kMost);
                          }});
    if (snapshot == 0) json.wrong_at("snapshot", "no snapshot; give its id");
    return snapshot;
  });
}

}  // namespace plackett::http
