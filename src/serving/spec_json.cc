#include "serving/spec_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

// Takes a field out of the object; throws if it is missing or has another type.
template <typename T>
T take(Json& object, const char* key) {
  T value = object.at(key).get<T>();
  object.erase(key);
  return value;
}

Result<ModelSpec> read(Json object) {
  ModelSpec spec;
  spec.name = take<std::string>(object, "name");
  spec.ranker.feature_count = take<std::uint32_t>(object, "features");
  spec.feature_ids = take<std::vector<std::uint32_t>>(object, "feature_ids");
  const auto kind = parse_ranker_kind(take<std::string>(object, "ranker"));
  if (!kind) return kind.error();
  spec.ranker.kind = *kind;
  spec.ranker.hidden = take<std::vector<std::uint32_t>>(object, "hidden");
  const auto activation = parse_activation(take<std::string>(object, "activation"));
  if (!activation) return activation.error();
  spec.ranker.activation = *activation;
  spec.learner = take<std::string>(object, "learner");
  spec.shown = take<std::uint32_t>(object, "shown");
  spec.scaling = take<std::string>(object, "scaling");
  spec.seed = take<std::uint64_t>(object, "seed");
  spec.temperature = take<double>(object, "temperature");
  spec.open_seconds = take<std::uint32_t>(object, "open_seconds");
  if (object.contains("feature_names")) {
    spec.feature_names = take<std::vector<std::string>>(object, "feature_names");
  }
  if (object.contains("settings")) {
    for (const auto& [name, value] : object.at("settings").items()) {
      spec.settings.push_back({name, value.get<std::string>()});
    }
    object.erase("settings");
  }
  if (!object.empty()) {
    return Error{fmt::format("unknown field \"{}\"", object.begin().key())};
  }
  return check(std::move(spec));
}

}  // namespace

std::string to_json(const ModelSpec& spec) {
  Json object{{"name", spec.name},
              {"features", spec.ranker.feature_count},
              {"feature_ids", spec.feature_ids},
              {"ranker", name_of(spec.ranker.kind)},
              {"hidden", spec.ranker.hidden},
              {"activation", name_of(spec.ranker.activation)},
              {"learner", spec.learner},
              {"shown", spec.shown},
              {"scaling", spec.scaling},
              {"seed", spec.seed},
              {"temperature", spec.temperature},
              {"open_seconds", spec.open_seconds}};
  if (!spec.feature_names.empty()) object["feature_names"] = spec.feature_names;
  for (const GivenSetting& setting : spec.settings)
    object["settings"][setting.name] = setting.value;
  return object.dump();
}

Result<ModelSpec> parse_spec(std::string_view text) {
  try {
    auto spec = read(text.starts_with('{') ? Json::parse(text) : from_lines(text));
    if (spec) return spec;
    return Error{fmt::format("its spec in the store: {}", spec.error().message)};
  } catch (const Json::exception& error) {
    return Error{fmt::format("its spec in the store can't be read: {}", error.what())};
  }
}

}  // namespace plackett::serving
