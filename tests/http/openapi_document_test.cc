// docs/openapi.json by itself: it holds together, and says enough to be held against a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <set>

#include "http/service.h"

namespace plackett {
namespace {

using ::testing::AnyOf;
using testing::api_description;
using testing::Json;
using testing::JsonSchema;

void for_each_operation(
    const std::function<void(const std::string&, const Json&, const Json&)>& visit) {
  for (const auto& [path, entry] : api_description()["paths"].items()) {
    for (const auto& [method, operation] : entry.items()) {
      if (method != "parameters") visit(path, entry, operation);
    }
  }
}

void for_each_object(const Json& part, const std::function<void(const Json&)>& visit) {
  if (part.is_object()) visit(part);
  if (!part.is_structured()) return;
  for (const Json& inner : part) for_each_object(inner, visit);
}

void for_each_schema(const std::function<void(const Json&)>& visit) {
  for (const Json& schema : api_description()["components"]["schemas"]) {
    JsonSchema::walk(schema, visit);
  }
  for_each_object(api_description(), [&](const Json& part) {
    if (part.contains("content")) {
      for (const Json& media : part["content"]) JsonSchema::walk(media["schema"], visit);
    }
    if (part.contains("in") && part.contains("schema")) JsonSchema::walk(part["schema"], visit);
  });
}

TEST(OpenApiDocument, EveryReferenceLeadsSomewhere) {
  int references = 0;
  for_each_object(api_description(), [&](const Json& part) {
    if (!part.contains("$ref")) return;
    EXPECT_NO_THROW((void)JsonSchema(api_description()).resolve(part)) << part;
    ++references;
  });
  EXPECT_GT(references, 100);
}

TEST(OpenApiDocument, EveryPathDeclaresItsParameters) {
  const JsonSchema schema(api_description());
  const std::regex braces("\\{([a-z]+)\\}");
  for_each_operation([&](const std::string& path, const Json& entry, const Json&) {
    std::set<std::string> named;
    for (std::sregex_iterator at(path.begin(), path.end(), braces), end; at != end; ++at) {
      named.insert((*at)[1]);
    }
    std::set<std::string> declared;
    for (const Json& parameter : entry.value("parameters", Json::array())) {
      EXPECT_EQ(schema.resolve(parameter)["in"], "path");
      declared.insert(schema.resolve(parameter)["name"].get<std::string>());
    }
    EXPECT_EQ(named, declared) << path;
  });
}

TEST(OpenApiDocument, EveryOperationHasANameOfItsOwnARoleAndErrors) {
  std::set<std::string> names;
  for_each_operation([&](const std::string& path, const Json&, const Json& operation) {
    EXPECT_TRUE(names.insert(operation.at("operationId").get<std::string>()).second) << path;
    EXPECT_THAT(operation.at("x-role"), AnyOf("none", "read", "feedback", "admin")) << path;
    EXPECT_EQ(operation["x-role"] == "none", operation["security"].empty()) << path;
    EXPECT_EQ(operation["x-role"] == "none", !operation["responses"].contains("401")) << path;
    EXPECT_TRUE(operation["responses"].contains("default")) << path;
  });
}

TEST(OpenApiDocument, UsesOnlyKeywordsThatItsCheckKnows) {
  int schemas = 0;
  for_each_schema([&](const Json& schema) {
    EXPECT_THAT(JsonSchema::unknown_keywords(schema), ::testing::IsEmpty()) << schema;
    ++schemas;
  });
  EXPECT_GT(schemas, 100);
}

TEST(OpenApiDocument, EveryExampleFitsItsSchema) {
  int examples = 0;
  for_each_schema([&](const Json& schema) {
    if (!schema.contains("example")) return;
    EXPECT_THAT(JsonSchema(api_description()).faults(schema, schema["example"]),
                ::testing::IsEmpty());
    ++examples;
  });
  EXPECT_GT(examples, 15);
}

TEST(OpenApiDocument, EveryObjectWithKeysRefusesOthers) {
  for_each_schema([](const Json& schema) {
    if (!schema.contains("properties")) return;
    EXPECT_EQ(schema.value("additionalProperties", Json()), false) << schema;
  });
}

}  // namespace
}  // namespace plackett
