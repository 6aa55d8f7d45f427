// The validator that the service's answers are held against: every rule has a value that keeps
// it and one that breaks it.
#include "support/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace plackett {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::JsonSchema;
using ::testing::SizeIs;
using Json = nlohmann::json;

Json parse(const char* text) { return Json::parse(text); }

struct Case {
  const char* name;
  const char* schema;
  const char* fits;
  const char* breaks;
  const char* why;
};

void PrintTo(const Case& rule, std::ostream* out) { *out << rule.name; }

class JsonSchemaRule : public ::testing::TestWithParam<Case> {};

TEST_P(JsonSchemaRule, IsKeptByOneValueAndBrokenByTheOther) {
  const Json document = parse(R"({"components": {"Short": {"type": "string", "maxLength": 2}}})");
  const JsonSchema validator(document);
  const Json schema = parse(GetParam().schema);
  EXPECT_THAT(validator.faults(schema, parse(GetParam().fits)), IsEmpty());
  EXPECT_THAT(validator.faults(schema, parse(GetParam().breaks)),
              ElementsAre(HasSubstr(GetParam().why)));
}

constexpr Case kCases[] = {
    {"object", R"({"type": "object"})", "{}", "[]", "type object"},
    {"array", R"({"type": "array"})", "[]", "{}", "type array"},
    {"string", R"({"type": "string"})", "\"\"", "1", "type string"},
    {"boolean", R"({"type": "boolean"})", "true", "1", "type boolean"},
    {"number", R"({"type": "number"})", "1.5", "\"1.5\"", "type number"},
    {"negative", R"({"type": "number"})", "-3", "null", "type number"},
    {"whole", R"({"type": "integer"})", "3", "3.5", "type integer"},
    {"whole_as_decimal", R"({"type": "integer"})", "3.0", "true", "type integer"},
    {"nullable", R"({"type": "string", "nullable": true})", "null", "1", "type string"},
    {"enum", R"({"enum": ["a", "b"]})", "\"b\"", "\"c\"", "none of"},
    {"minimum", R"({"minimum": 1})", "1", "0", "below 1"},
    {"exclusive_minimum", R"({"minimum": 0, "exclusiveMinimum": true})", "0.001", "0", "below 0"},
    {"exclusive_maximum", R"({"maximum": 1, "exclusiveMaximum": true})", "0.999", "1", "above 1"},
    {"maximum", R"({"maximum": 0})", "-0.5", "1e-9", "above 0"},
    {"min_length", R"({"minLength": 2})", "\"ab\"", "\"a\"", "too short"},
    {"max_length", R"({"maxLength": 2})", "\"éé\"", "\"abc\"", "too long"},
    {"pattern", R"({"pattern": "^[a-z]{1,3}$"})", "\"abc\"", "\"abcd\"", "does not match"},
    {"pattern_ahead", R"-({"pattern": "^(?!i-[0-9]+$)"})-", "\"i-4x\"", "\"i-4\"",
     "does not match"},
    {"min_items", R"({"minItems": 1})", "[1]", "[]", "too few"},
    {"items", R"({"items": {"type": "number"}})", "[1, 2]", "[1, \"2\"]", "$[1]: \"2\""},
    {"required", R"({"required": ["a"]})", R"({"a": null})", R"({"b": 1})", "lacks \"a\""},
    {"properties", R"({"properties": {"a": {"type": "number"}}})", R"({"b": "x"})", R"({"a": "x"})",
     "$.a"},
    {"no_more_properties", R"({"properties": {"a": {}}, "additionalProperties": false})",
     R"({"a": 1})", R"({"a": 1, "b": 2})", "unknown key: b"},
    {"more_properties", R"({"additionalProperties": {"type": "number"}})", R"({"a": 1})",
     R"({"a": "1"})", "$.a"},
    {"one_of", R"({"oneOf": [{"type": "string"}, {"type": "number"}]})", "1", "true", "fits 0"},
    {"one_of_two", R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})", "1.5", "1", "fits 2"},
    {"reference", R"({"$ref": "#/components/Short"})", "\"ab\"", "\"abc\"", "too long"},
    {"reference_in_items", R"({"items": {"$ref": "#/components/Short"}})", "[\"ab\"]", "[\"abc\"]",
     "$[0]"},
};

INSTANTIATE_TEST_SUITE_P(Each, JsonSchemaRule, ::testing::ValuesIn(kCases));

TEST(JsonSchema, RefusesAKeywordItDoesNotKnow) {
  const Json document = Json::object();
  const JsonSchema validator(document);
  EXPECT_THAT(validator.faults(parse(R"({"multipleOf": 2})"), 4),
              ElementsAre(HasSubstr("unknown keyword: multipleOf")));
}

TEST(JsonSchema, FindsUnknownKeywordsInEveryPartOfASchema) {
  const Json schema = parse(R"({
      "properties": {"a": {"items": {"uniqueItems": true}}, "format": {"type": "string"}},
      "additionalProperties": {"oneOf": [{"type": "string"}, {"not": {}}]}})");
  EXPECT_THAT(JsonSchema::unknown_keywords(schema), ElementsAre("uniqueItems", "not"));
}

TEST(JsonSchema, NamesEveryFaultAndNotTheFirstAlone) {
  const Json document = Json::object();
  const JsonSchema validator(document);
  const Json schema = parse(R"({"items": {"type": "number"}})");
  EXPECT_THAT(validator.faults(schema, parse(R"(["a", 1, "b"])")), SizeIs(2));
}

TEST(JsonSchema, ThrowsOnAReferenceThatLeadsNowhere) {
  const Json document = Json::object();
  const JsonSchema validator(document);
  EXPECT_ANY_THROW((void)validator.faults(parse(R"({"$ref": "#/components/Gone"})"), 1));
}

}  // namespace
}  // namespace plackett
