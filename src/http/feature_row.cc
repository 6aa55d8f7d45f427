#include "http/feature_row.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace plackett::http {
namespace {

using simdjson::ondemand::json_type;

float read_feature(JsonReader& reader, JsonValue value) {
  double number = 0;
  const auto error = value.get_double().get(number);
  if (error == simdjson::SUCCESS && std::abs(number) <= std::numeric_limits<float>::max()) {
    return static_cast<float>(number);
  }
  if (error == simdjson::INCORRECT_TYPE && reader.type(value) != json_type::number) {
    reader.number(value);  // refuses it
  }
  reader.wrong(fmt::format("{}; a feature is a finite number within the range of floats",
                           JsonReader::excerpt(value)));
}

void read_array(JsonReader& reader, JsonValue value, const serving::ModelSpec& spec,
                std::span<float> row) {
  const std::uint32_t count = spec.ranker.feature_count;
  std::uint32_t met = 0;
  reader.array(value, [&](std::uint32_t feature, JsonValue inner) {
    const float number = read_feature(reader, inner);
    if (feature < count) row[feature] = number;
    met = feature + 1;
  });
  if (met != count) {
    reader.wrong(fmt::format("{} feature{}; the model has {}", met, met == 1 ? "" : "s", count));
  }
}

void read_object(JsonReader& reader, JsonValue value, const FeatureNames& names,
                 std::span<float> row) {
  if (names.empty()) {
    reader.wrong("features by name; the model's features have none: send an array");
  }
  std::vector<bool> seen(row.size());
  reader.object(value, [&](std::string_view name, JsonValue inner) {
    const auto feature = names.find(name);
    if (!feature) reader.wrong("the model has no feature of this name");
    if (seen[*feature]) reader.wrong("the feature is there twice");
    seen[*feature] = true;
    row[*feature] = read_feature(reader, inner);
  });
}

}  // namespace

void read_feature_row(JsonReader& reader, JsonValue value, const serving::ModelSpec& spec,
                      const FeatureNames& names, std::span<float> row) {
  switch (reader.type(value)) {
    case json_type::array:
      return read_array(reader, value, spec, row);
    case json_type::object:
      return read_object(reader, value, names, row);
    default:
      reader.wrong("features are an array of numbers, or an object of numbers by name");
  }
}

std::string_view read_id(JsonReader& reader, JsonValue value) {
  const std::string_view id = reader.string(value);
  if (id.empty() || id.size() > serving::kMaxIdBytes) {
    reader.wrong(
        fmt::format("an id of {} bytes; ids have 1 to {}", id.size(), serving::kMaxIdBytes));
  }
  return id;
}

}  // namespace plackett::http
