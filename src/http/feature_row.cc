#include "http/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace plackett::http {
namespace {

using simdjson::ondemand::json_type;

// What the numbers of a row are called in messages, and how large they may be.
struct Words {
  const char* one;
  const char* all;
  double most;
};
constexpr Words words_of(RowOf row) {
  return row == RowOf::kFeatures ? Words{"feature", "features", std::numeric_limits<float>::max()}
                                 : Words{"weight", "weights", serving::kMostWeight};
}

float read_number(JsonReader& json, JsonValue value, Words words) {
  double number = 0;
  const auto error = value.get_double().get(number);
  if (error == simdjson::SUCCESS && std::abs(number) <= words.most) {
    return static_cast<float>(number);
  }
  if (json.type(value) != json_type::number) json.number(value);  // refuses it
  if (words.most < std::numeric_limits<float>::max()) {
    json.wrong(fmt::format("{}; a {} is a number from {:.0e} to {:.0e}", JsonReader::excerpt(value),
                           words.one, -words.most, words.most));
  }
  json.wrong(fmt::format("{}; a {} must be a finite number within the range of floats",
                         JsonReader::excerpt(value), words.one));
}

void read_array(JsonReader& json, JsonValue value, std::uint32_t count, Words words,
                std::span<float> row) {
  std::uint32_t met = 0;
  json.array(value, kMaxRowFloats, [&](std::uint32_t feature, JsonValue inner) {
    const float number = read_number(json, inner, words);
    if (feature < count) row[feature] = number;
    met = feature + 1;
  });
  if (met != count) {
    json.wrong(fmt::format("{} {}; the model has {} features", met, words.all, count));
  }
}

// Whether it has any.
bool read_object(JsonReader& json, JsonValue value, const FeatureNames& names, Words words,
                 std::span<float> row) {
  if (names.empty()) json.wrong("the model's features have no names; send an array");
  std::vector<bool> seen(row.size());
  json.object(value, [&](std::string_view name, JsonValue inner) {
    const auto feature = names.find(name);
    if (feature == names.end()) json.wrong("the model has no feature of this name");
    if (seen[feature->second]) json.wrong(fmt::format("duplicate {}", words.one));
    seen[feature->second] = true;
    row[feature->second] = read_number(json, inner, words);
  });
  return std::count(seen.begin(), seen.end(), true) > 0;
}

}  // namespace

void read_feature_row(JsonReader& json, JsonValue value, const serving::ModelSpec& spec,
                      const FeatureNames& names, std::span<float> row, RowOf kind) {
  const Words words = words_of(kind);
  switch (json.type(value)) {
    case json_type::array:
      return read_array(json, value, spec.ranker.feature_count, words, row);
    case json_type::object:
      if (!read_object(json, value, names, words, row) && kind == RowOf::kWeights) {
        json.wrong("no weights; give those that are not 0, or an array of all");
      }
      return;
    default:
      json.wrong(fmt::format("{} must be an array of numbers, or an object of numbers by name",
                             words.all));
  }
}

std::string_view read_id(JsonReader& json, JsonValue value) {
  const std::string_view id = json.string(value);
  if (id.empty() || id.size() > serving::kMaxIdBytes) {
    json.wrong(fmt::format("an id of {} bytes; expected 1 to {}", id.size(), serving::kMaxIdBytes));
  }
  if (id.find('\0') != std::string_view::npos) {
    json.wrong("an id with the character U+0000, which SQL can't read");
  }
  // Browsers and proxies take these parts out of an address.
  if (id == "." || id == "..")
    json.wrong(fmt::format("the id \"{}\", which no address can have", id));
  return id;
}

}  // namespace plackett::http
