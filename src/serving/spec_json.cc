#include "serving/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/attempt.h"
#include "serving/json_integer.h"

namespace plackett::serving {
namespace {

using Json = nlohmann::ordered_json;

// The form that older stores have: one line per field, "key value". Lists are separated by spaces;
// "feature" (a name) and "setting" (name and value) come once per value.
Json from_lines(std::string_view text) {
  Json spec;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string key(line.substr(0, line.find(' ')));
    const std::string value(line.substr(std::min(key.size() + 1, line.size())));
    if (key == "feature") {
      spec["feature_names"].push_back(value);
    } else if (key == "setting") {
      const std::size_t space = value.find(' ');
      spec["settings"][value.substr(0, space)] = value.substr(space + 1);
    } else if (key == "hidden" || key == "feature_ids") {
      std::string list = value;
      std::replace(list.begin(), list.end(), ' ', ',');
      spec[key] = Json::parse("[" + list + "]");
    } else {
      const bool text_field = key == "name" || key == "ranker" || key == "activation" ||
                              key == "learner" || key == "scaling";
      spec[key] = text_field ? Json(value) : Json::parse(value);
    }
  }
  return spec;
}

void to(Json& json, const auto& value) { json = value; }
void to(Json& json, RankerKind kind) { json = name_of(kind); }
void to(Json& json, Activation activation) { json = name_of(activation); }
void from(const Json& json, auto& value) { json.get_to(value); }
void from(const Json& json, RankerKind& kind) {
  kind = take(parse_ranker_kind(json.get<std::string>()));
}
void from(const Json& json, Activation& activation) {
  activation = take(parse_activation(json.get<std::string>()));
}

// Calls field(key, value) for every field that all specs have.
template <typename Spec, typename Field>
void each_field(Spec& spec, const Field& field) {
  field("name", spec.name);
  field("features", spec.ranker.feature_count);
  field("feature_ids", spec.feature_ids);
  field("ranker", spec.ranker.kind);
  field("hidden", spec.ranker.hidden);
  field("activation", spec.ranker.activation);
  field("learner", spec.learner);
  field("shown", spec.shown);
  field("scaling", spec.scaling);
  field("seed", spec.seed);
  field("temperature", spec.temperature);
  field("open_seconds", spec.open_seconds);
}

ModelSpec read(Json object) {
  ModelSpec spec;
  each_field(spec, [&](const char* key, auto& value) {
    from(object.at(key), value);
    object.erase(key);
  });
  if (object.contains("feature_names")) object["feature_names"].get_to(spec.feature_names);
  for (const auto& [name, value] : object["settings"].items()) {
    spec.settings.push_back({name, value.get<std::string>()});
  }
  spec.logging.candidates = object.value("candidates", 0.0);
  for (const auto& [name, weight] : object["events"].items()) {
    spec.logging.events.push_back({name, weight.get<double>()});
  }
  for (const char* key : {"feature_names", "settings", "candidates", "events"}) object.erase(key);
  if (!object.empty()) {
    throw Failed{Error{fmt::format("unknown field \"{}\"", object.begin().key())}};
  }
  return take(check(std::move(spec)));
}

}  // namespace

std::string to_json(const ModelSpec& spec) {
  Json object;
  each_field(spec, [&](const char* key, const auto& value) { to(object[key], value); });
  if (!spec.feature_names.empty()) object["feature_names"] = spec.feature_names;
  for (const GivenSetting& setting : spec.settings)
    object["settings"][setting.name] = setting.value;
  if (spec.logging.candidates > 0) object["candidates"] = spec.logging.candidates;
  for (const NamedWeight& event : spec.logging.events) object["events"][event.name] = event.weight;
  return object.dump();
}

Result<ModelSpec> parse_spec(std::string_view text) {
  try {
    auto spec =
        attempt([&] { return read(text.starts_with('{') ? Json::parse(text) : from_lines(text)); });
    return spec ? spec : spec.error().in("its spec in the store");
  } catch (const Json::exception& error) {
    return Error{fmt::format("its spec in the store can't be read: {}", fault_of(error))};
  }
}

}  // namespace plackett::serving
