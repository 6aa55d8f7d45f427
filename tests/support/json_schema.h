// Validates JSON values against the schemas of an OpenAPI 3.0 document. Supports only the keywords
// that the project's document uses; any other keyword is an error.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace plackett::testing {

class JsonSchema {
 public:
  using Json = nlohmann::json;

  // `document`: what "$ref" points into. Must outlive this.
  explicit JsonSchema(const Json& document) : document_(document) {}

  // What is wrong with `value`, each with its place; empty if it is valid.
  [[nodiscard]] std::vector<std::string> faults(const Json& schema, const Json& value) const {
    std::vector<std::string> found;
    check(schema, value, "$", found);
    return found;
  }

  // The keywords in `schema` and its parts that this validator does not know.
  [[nodiscard]] static std::vector<std::string> unknown_keywords(const Json& schema) {
    std::vector<std::string> unknown;
    walk(schema, [&](const Json& part) {
      if (!part.is_object()) {
        unknown.push_back("not a schema: " + part.dump());
        return;
      }
      for (const auto& [keyword, argument] : part.items()) {
        if (!known(keyword)) unknown.push_back(keyword);
      }
    });
    return unknown;
  }

  // What a "$ref" refers to, or `part` itself. Throws if the reference is broken.
  [[nodiscard]] const Json& resolve(const Json& part) const {
    const Json* at = &part;
    while (at->is_object() && at->contains("$ref")) {
      const std::string path = at->at("$ref").get<std::string>();
      if (!path.starts_with("#/")) throw std::runtime_error("reference out of here: " + path);
      at = &document_.at(Json::json_pointer(path.substr(1)));
    }
    return *at;
  }

  // Calls `visit` on a schema and every schema within it; references are not followed.
  static void walk(const Json& schema, const std::function<void(const Json&)>& visit) {
    visit(schema);
    if (!schema.is_object()) return;
    if (schema.contains("properties")) {
      for (const Json& part : schema["properties"]) walk(part, visit);
    }
    if (schema.contains("items")) walk(schema["items"], visit);
    if (schema.contains("additionalProperties") && !schema["additionalProperties"].is_boolean()) {
      walk(schema["additionalProperties"], visit);
    }
    if (schema.contains("oneOf")) {
      for (const Json& part : schema["oneOf"]) walk(part, visit);
    }
  }

 private:
  using Faults = std::vector<std::string>;

  static bool known(const std::string& keyword) {
    static const std::vector<std::string> kKnown = {
        "$ref", "type", "nullable", "required", "properties", "additionalProperties", "items",
        "enum", "oneOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "pattern",
        "minItems", "minLength", "maxLength",
        // For people only.
        "description", "example", "default", "format"};
    return std::find(kKnown.begin(), kKnown.end(), keyword) != kKnown.end();
  }

  static bool is_of(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "number") return value.is_number();
    if (type == "integer") {
      return value.is_number_integer() ||
             (value.is_number_float() && value == std::floor(value.get<double>()));
    }
    throw std::runtime_error("unknown type in a schema: " + type);
  }

  static std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char byte) { return (byte & '\xC0') != '\x80'; }));
  }

  void check(const Json& given, const Json& value, const std::string& place, Faults& found) const {
    const Json& schema = resolve(given);
    const auto fault = [&](const std::string& rule) {
      found.push_back(place + ": " + value.dump(-1, ' ', false, Json::error_handler_t::replace) +
                      " " + rule);
    };
    for (const auto& [keyword, argument] : schema.items()) {
      if (!known(keyword)) fault("meets an unknown keyword: " + keyword);
    }
    if (value.is_null() && schema.value("nullable", false)) return;
    if (schema.contains("type") && !is_of(value, schema["type"].get<std::string>())) {
      fault("is not of type " + schema["type"].get<std::string>());
      return;
    }
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
      fault("is none of " + schema["enum"].dump());
    }
    if (schema.contains("oneOf")) {
      const auto fits =
          std::count_if(schema["oneOf"].begin(), schema["oneOf"].end(),
                        [&](const Json& choice) { return faults(choice, value).empty(); });
      if (fits != 1) fault("fits " + std::to_string(fits) + " of its choices");
    }
    if (value.is_number()) check_number(schema, value, fault);
    if (value.is_string()) check_string(schema, value.get<std::string>(), fault);
    if (value.is_array()) check_array(schema, value, place, fault, found);
    if (value.is_object()) check_object(schema, value, place, fault, found);
  }

  template <typename Fault>
  static void check_number(const Json& schema, const Json& value, const Fault& fault) {
    if (schema.contains("minimum")) {
      const bool open = schema.value("exclusiveMinimum", false);
      const Json& least = schema["minimum"];
      if (value < least || (open && value == least)) fault("is below " + least.dump());
    }
    if (schema.contains("maximum")) {
      const bool open = schema.value("exclusiveMaximum", false);
      const Json& most = schema["maximum"];
      if (value > most || (open && value == most)) fault("is above " + most.dump());
    }
  }

  template <typename Fault>
  static void check_string(const Json& schema, const std::string& value, const Fault& fault) {
    const std::size_t size = characters(value);
    if (size < schema.value("minLength", std::size_t{0})) fault("is too short");
    if (size > schema.value("maxLength", size)) fault("is too long");
    if (schema.contains("pattern") &&
        !std::regex_search(value, std::regex(schema["pattern"].get<std::string>()))) {
      fault("does not match " + schema["pattern"].get<std::string>());
    }
  }

  template <typename Fault>
  void check_array(const Json& schema, const Json& value, const std::string& place,
                   const Fault& fault, Faults& found) const {
    if (value.size() < schema.value("minItems", std::size_t{0})) fault("has too few items");
    if (!schema.contains("items")) return;
    for (std::size_t at = 0; at < value.size(); ++at) {
      check(schema["items"], value[at], place + "[" + std::to_string(at) + "]", found);
    }
  }

  template <typename Fault>
  void check_object(const Json& schema, const Json& value, const std::string& place,
                    const Fault& fault, Faults& found) const {
    if (schema.contains("required")) {
      for (const Json& name : schema["required"]) {
        if (!value.contains(name)) fault("lacks " + name.dump());
      }
    }
    const Json none = Json::object();
    const Json& properties = schema.contains("properties") ? schema["properties"] : none;
    const Json more = schema.value("additionalProperties", Json(true));
    for (const auto& [name, part] : value.items()) {
      const std::string within = place + "." + name;
      if (properties.contains(name)) {
        check(properties[name], part, within, found);
      } else if (!more.is_boolean()) {
        check(more, part, within, found);
      } else if (!more.get<bool>()) {
        fault("has an unknown key: " + name);
      }
    }
  }

  const Json& document_;
};

}  // namespace plackett::testing
