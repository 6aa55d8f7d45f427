// A real server held against docs/openapi.json: every operation, with what it answers when all
// is well and when it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::api_description;
using testing::event;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::ids_of;
using ::testing::IsEmpty;
using testing::IsError;
using testing::item;
using testing::Json;
using testing::JsonSchema;
using ::testing::Not;
using testing::Server;
using testing::shop;
using testing::slurp;

std::string percent_encoded(const std::string& text) {
  static const char* digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (std::isalnum(code) != 0) {
      encoded += byte;
    } else {
      encoded.append("%").append(1, digits[code / 16]).append(1, digits[code % 16]);
    }
  }
  return encoded;
}

using Values = std::map<std::string, std::string>;

std::string filled(std::string path, const Values& values) {
  for (const auto& [name, value] : values) {
    const std::size_t at = path.find("{" + name + "}");
    if (at != std::string::npos) path.replace(at, name.size() + 2, percent_encoded(value));
  }
  EXPECT_EQ(path.find('{'), std::string::npos) << path;
  return path;
}

struct Call {
  std::string operation;  // its operationId
  Values path;
  std::string query;
  std::string body;
};

// Calls operations by their ids, and holds what comes back against the description.
class Described {
 public:
  // What was seen so far, as in "getModel 200".
  std::set<std::string> seen;

  Answer operator()(HttpClient& client, int status, const Call& call) {
    SCOPED_TRACE(call.operation + " " + std::to_string(status));
    const auto& [path, method, operation] = find(call.operation);
    testing::Headers headers;
    const Json& request = operation->value("requestBody", Json::object());
    if (!call.body.empty()) {
      headers.emplace_back("Content-Type", request.at("content").begin().key());
    }
    Answer answer = client.send(method, filled(path, call.path) + call.query, call.body, headers);
    EXPECT_EQ(answer.status, status) << answer.body;
    check_answer(*operation, answer);
    if (status < 300 && !call.body.empty() && request["content"].contains("application/json")) {
      EXPECT_THAT(
          schema_.faults(request["content"]["application/json"]["schema"], Json::parse(call.body)),
          IsEmpty())
          << "the server takes what the description does not";
    }
    seen.insert(call.operation + " " + std::to_string(answer.status));
    return answer;
  }

 private:
  struct Found {
    std::string path;
    std::string method;
    const Json* operation;
  };

  static Found find(const std::string& id) {
    for (const auto& [path, entry] : api_description()["paths"].items()) {
      for (const auto& [method, operation] : entry.items()) {
        if (method == "parameters" || operation["operationId"] != id) continue;
        std::string upper = method;
        for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
        return {path, upper, &operation};
      }
    }
    throw std::runtime_error("no operation " + id);
  }

  void check_answer(const Json& operation, const Answer& answer) const {
    const std::string status = std::to_string(answer.status);
    ASSERT_TRUE(operation["responses"].contains(status)) << status << " is not described";
    const Json& response = schema_.resolve(operation["responses"][status]);
    const Json headers = response.value("headers", Json::object());
    for (const auto& [name, header] : headers.items()) {
      EXPECT_NE(answer.header(name), "") << name;
    }
    if (!response.contains("content")) {
      EXPECT_EQ(answer.body, "");
      return;
    }
    const Json& content = response["content"];
    ASSERT_TRUE(content.contains(answer.type()) || content.contains("*/*")) << answer.type();
    EXPECT_NE(answer.body, "");
    if (answer.type() == "application/json") {
      EXPECT_THAT(schema_.faults(content[answer.type()]["schema"], answer.json()), IsEmpty());
    }
  }

  JsonSchema schema_{api_description()};
};

TEST(OpenApi, EveryOperationAnswersAsDescribed) {
  Server server({"--demo", "--max-items", "50", "--max-body", "100000"});
  HttpClient client = server.client();
  Described described;
  const auto call = [&](int status, const Call& wanted) {
    return described(client, status, wanted);
  };
  const Values model = {{"model", "shop"}};
  const Values unknown = {{"model", "none"}};
  const std::string too_large(200'000, ' ');

  call(201, {"createModel", model, "", shop().dump()});
  call(200, {"createModel", model, "", shop().dump()});
  call(400, {"createModel", model, "", R"({"features": 0})"});
  call(409, {"createModel", model, "", R"({"features": 3})"});
  call(413, {"createModel", model, "", too_large});
  call(201, {"createModel",
             {{"model", "net"}},
             "",
             R"({"features": 3, "ranker": "linear+neural", "hidden": [4, 2], "activation": "relu",
                 "learner": "pdgd", "settings": {"steps": "adagrad"}, "learning_rate": 0.05,
                 "k": 5, "scaling": "none", "seed": 12, "temperature": 0.5,
                 "open_seconds": 60})"});
  call(200, {"listModels", {}, "", ""});
  call(200, {"getModel", model, "", ""});
  call(200, {"getModel", {{"model", "net"}}, "", ""});
  call(404, {"getModel", unknown, "", ""});

  const Json stored = {{"items", {item("a", {1, 2}), item("b/ü", {{"rating", 3}})}}};
  call(200, {"storeItems", model, "", stored.dump()});
  call(400, {"storeItems", model, "", R"({"items": [{"id": "a"}]})"});
  call(404, {"storeItems", unknown, "", stored.dump()});
  call(413, {"storeItems", model, "", too_large});
  call(200, {"getItem", {{"model", "shop"}, {"item", "b/ü"}}, "", ""});
  call(404, {"getItem", {{"model", "shop"}, {"item", "c"}}, "", ""});

  const Json wanted = {{"items", {"a", {{"id", "b/ü"}}, item("c", {5, 5}), item("d", {0, 1})}},
                       {"id", "mine"},
                       {"k", 3},
                       {"mode", "explore"},
                       {"unit", "user 7/ü"},
                       {"missing", "skip"},
                       {"context", {{"query", "shoes"}}},
                       {"pinned", {{{"id", "c"}, {"rank", 1}}}},
                       {"blocked", {"d"}}};
  const Json ranking = call(200, {"rank", model, "", wanted.dump()}).json();
  call(409, {"rank", model, "", wanted.dump()});
  call(400, {"rank", model, "", R"({"items": []})"});
  call(404, {"rank", unknown, "", wanted.dump()});
  call(413, {"rank", model, "", too_large});
  call(200, {"rank", {{"model", "net"}}, "", R"({"items": [{"id": "x", "features": [1, 2, 3]}]})"});

  const std::string last = ids_of(ranking).back();
  call(200, {"feedback", model, "", event(ranking, "view", last).dump()});
  call(200, {"feedback", model, "", Json::array({event(ranking, "click", last)}).dump()});
  call(200,
       {"feedback", model, "", Json{{"events", Json::array({event(ranking, "close")})}}.dump()});
  call(400, {"feedback", model, "", R"({"events": 1})"});
  call(404, {"feedback", unknown, "", event(ranking, "close").dump()});
  call(413, {"feedback", model, "", too_large});

  const Json snapshot = call(201, {"takeSnapshot", model, "", R"({"note": "one"})"}).json();
  call(201, {"takeSnapshot", model, "", ""});
  call(400, {"takeSnapshot", model, "", R"({"note": 1})"});
  call(404, {"takeSnapshot", unknown, "", ""});
  call(200, {"listSnapshots", model, "", ""});
  call(404, {"listSnapshots", unknown, "", ""});
  call(200, {"rollback", model, "", Json{{"snapshot", snapshot["id"]}}.dump()});
  call(400, {"rollback", model, "", R"({"snapshot": "one"})"});
  call(404, {"rollback", model, "", R"({"snapshot": 999})"});
  call(200, {"freeze", model, "", ""});
  call(200, {"getModel", model, "", ""});
  call(404, {"freeze", unknown, "", ""});
  call(200, {"resume", model, "", ""});
  call(404, {"resume", unknown, "", ""});
  call(200, {"getWeights", model, "", ""});
  call(200, {"getWeights", {{"model", "net"}}, "", ""});
  call(404, {"getWeights", unknown, "", ""});
  call(200, {"setWeights", model, "", R"({"weights": {"price": -1}})"});
  call(400, {"setWeights", model, "", R"({"weights": [1, 2, 3]})"});
  call(404, {"setWeights", unknown, "", R"({"weights": [1]})"});
  call(201, {"createModel", {{"model", "deep"}}, "", R"({"features": 2, "ranker": "neural"})"});
  call(409, {"setWeights", {{"model", "deep"}}, "", R"({"weights": [1, 2]})"});
  const std::string file = call(200, {"exportModel", model, "", ""}).body;
  call(404, {"exportModel", unknown, "", ""});
  call(200, {"importModel", model, "", file});
  call(200, {"importModel", {{"model", "copy"}}, "", file});
  call(400, {"importModel", model, "", "no model"});
  call(409, {"importModel", {{"model", "net"}}, "", file});
  call(413, {"importModel", model, "", too_large});

  call(200, {"getStats", model, "", ""});
  call(200, {"getStats", model, "?points=1", ""});
  call(400, {"getStats", model, "?points=some", ""});
  call(404, {"getStats", unknown, "", ""});
  call(200, {"listImpressions", model, "", ""});
  call(200, {"listImpressions", model, "?limit=1&clicked=true", ""});
  call(200, {"listImpressions", model, "?clicked=false", ""});
  call(200, {"listImpressions", model, "?cursor=start&limit=1", ""});
  call(400, {"listImpressions", model, "?cursor=x", ""});
  call(400, {"listImpressions", model, "?limit=-1", ""});
  call(404, {"listImpressions", unknown, "", ""});
  call(200, {"getImpression", {{"model", "shop"}, {"impression", "mine"}}, "", ""});
  call(404, {"getImpression", {{"model", "shop"}, {"impression", "i-9999"}}, "", ""});

  const Values test = {{"model", "shop"}, {"experiment", "e"}};
  const Values no_test = {{"model", "shop"}, {"experiment", "none"}};
  Json arms = {{{"name", "old"}, {"policy", "given"}, {"share", 0.75}},
               {{"name", "new"}, {"policy", "model"}, {"share", 0.25}, {"mode", "explore"}}};
  Json experiment = {{"arms", arms},
                     {"baseline", "old"},
                     {"design", "split"},
                     {"metric", "click-through"},
                     {"level", 0.9},
                     {"promote", {{"when", "lower > 2 %"}, {"after", "3d"}}},
                     {"guard", {{"drop", "5 %"}}}};
  call(201, {"startExperiment", test, "", experiment.dump()});
  call(200, {"startExperiment", test, "", experiment.dump()});
  call(409, {"startExperiment", no_test, "", experiment.dump()});
  experiment["level"] = 0.95;
  call(409, {"startExperiment", test, "", experiment.dump()});
  call(400, {"startExperiment", no_test, "", R"({"arms": []})"});
  call(404, {"startExperiment", {{"model", "none"}, {"experiment", "e"}}, "", experiment.dump()});
  call(413, {"startExperiment", no_test, "", too_large});
  const Json listed = {{"items", {"a", item("c", {5, 5})}}, {"unit", "u"}};
  const Json in_test = call(200, {"rank", model, "", listed.dump()}).json();
  EXPECT_EQ(in_test["experiment"], "e");
  call(200, {"feedback", model, "", event(in_test, "click", "a").dump()});
  call(200, {"getImpression", {{"model", "shop"}, {"impression", in_test["impression"]}}, "", ""});
  EXPECT_EQ(call(200, {"getModel", model, "", ""}).json()["experiment"], "e");
  call(200, {"listExperiments", model, "", ""});
  call(404, {"listExperiments", unknown, "", ""});
  call(200, {"getExperiment", test, "", ""});
  call(404, {"getExperiment", no_test, "", ""});
  call(409, {"deleteExperiment", test, "", ""});
  call(409, {"undoPromotion", test, "", ""});
  call(400, {"promoteArm", test, "", R"({"arm": "none"})"});
  call(404, {"promoteArm", no_test, "", R"({"arm": "new"})"});
  call(200, {"promoteArm", test, "", R"({"arm": "new"})"});
  call(409, {"promoteArm", test, "", R"({"arm": "new"})"});
  call(200, {"undoPromotion", test, "", ""});
  call(404, {"undoPromotion", no_test, "", ""});
  call(200, {"stopExperiment", test, "", ""});
  call(404, {"stopExperiment", no_test, "", ""});
  call(204, {"deleteExperiment", test, "", ""});
  call(404, {"deleteExperiment", test, "", ""});
  call(201, {"startExperiment", test, "",
             R"({"arms": [{"name": "old", "policy": "given"}, {"name": "new", "policy": "model"}],
                 "design": "interleave"})"});
  call(200, {"rank", model, "", listed.dump()});
  call(200, {"getExperiment", test, "", ""});

  const Values unit = {{"model", "shop"}, {"unit", "user 7/ü"}};
  call(200, {"deleteUnit", unit, "", ""});
  call(200, {"deleteUnit", unit, "?impressions=drop", ""});
  call(400, {"deleteUnit", unit, "?impressions=some", ""});
  call(404, {"deleteUnit", {{"model", "none"}, {"unit", "x"}}, "", ""});
  call(200, {"getImpression", {{"model", "shop"}, {"impression", "i-0"}}, "", ""});
  call(200, {"vacuum", {}, "", ""});
  // Lists that are open may still be clicked, so that they are not evaluated.
  const Values asked = {{"model", "asked"}};
  call(201, {"createModel", asked, "", R"({"features": 2, "k": 1, "candidates": "all"})"});
  call(200, {"rank", asked, "",
             R"({"items": [{"id": "x", "features": [1, 2]}, {"id": "y", "features": [2, 1]}]})"});
  call(200, {"feedback", asked, "", R"({"impression": "i-0", "event": "close"})"});
  call(200, {"whatIf", asked, "?policy=logged", ""});
  call(409, {"whatIf", {{"model", "deep"}}, "?policy=logged", ""});
  call(400, {"whatIf", model, "", ""});
  call(404, {"whatIf", unknown, "?policy=logged", ""});
  call(204, {"deleteItem", {{"model", "shop"}, {"item", "b/ü"}}, "", ""});
  call(404, {"deleteItem", {{"model", "shop"}, {"item", "b/ü"}}, "", ""});
  call(204, {"deleteModel", model, "", ""});
  call(404, {"deleteModel", model, "", ""});

  call(200, {"health", {}, "", ""});
  call(200, {"ready", {}, "", ""});
  call(200, {"metrics", {}, "", ""});
  call(200, {"nodes", {}, "", ""});
  call(200, {"describe", {}, "", ""});
  const std::string page = call(200, {"dashboard", {}, "", ""}).body;
  call(200, {"demo", {}, "", ""});
  Server plain;
  HttpClient plain_client = plain.client();
  described(plain_client, 404, {"demo", {}, "", ""});
  std::smatch file_name;
  ASSERT_TRUE(std::regex_search(page, file_name, std::regex("web/([A-Za-z0-9._-]+)")));
  call(200, {"webFile", {{"file", file_name[1]}}, "", ""});
  call(404, {"webFile", {{"file", "none.css"}}, "", ""});

  // What tokens, caches, load and a full disk bring is tested elsewhere.
  const std::set<std::string> elsewhere = {"304", "401", "403", "429", "503", "default"};
  for (const Json& entry : api_description()["paths"]) {
    for (const auto& [method, operation] : entry.items()) {
      if (method == "parameters") continue;
      for (const auto& [status, response] : operation["responses"].items()) {
        const std::string pair = operation["operationId"].get<std::string>() + " " + status;
        EXPECT_TRUE(elsewhere.contains(status) || described.seen.contains(pair)) << pair;
      }
    }
  }
}

const Values kSomething = {{"model", "shop"}, {"item", "a"},        {"impression", "i-1"},
                           {"unit", "u"},     {"file", "none.css"}, {"experiment", "e"}};

TEST(OpenApi, MethodsThatAreNotDescribedAreNotAllowed) {
  Server server({"--demo"});
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  for (const auto& [path, entry] : api_description()["paths"].items()) {
    for (const std::string method : {"get", "put", "post", "delete", "patch"}) {
      if (entry.contains(method)) continue;
      std::string upper = method;
      for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
      const Answer answer = client.send(upper, filled(path, kSomething));
      EXPECT_THAT(answer, IsError(405)) << upper << " " << path;
      for (const auto& [other, operation] : entry.items()) {
        if (other == "parameters") continue;
        std::string allowed = other;
        for (char& letter : allowed) letter = static_cast<char>(std::toupper(letter));
        EXPECT_THAT(answer.header("Allow"), HasSubstr(allowed)) << upper << " " << path;
      }
      EXPECT_THAT(answer.header("Allow"), Not(HasSubstr(upper))) << upper << " " << path;
    }
  }
}

TEST(OpenApi, PathsThatAreNotDescribedAreNotFound) {
  Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  for (const std::string path :
       {"/nowhere", "/model", "/Models", "/models/shop/nothing", "/models/shop/rank/more",
        "/models/shop/items/a/b", "/health/more", "/web", "/index.html", "/favicon.png",
        "/models/shop/snapshots/1", "//models", "/models/shop/../shop"}) {
    EXPECT_THAT(client.get(path), IsError(404)) << path;
    EXPECT_THAT(client.send("POST", path), IsError(404)) << path;
  }
}

TEST(OpenApi, EachRoleMayDoWhatTheDescriptionSays) {
  Server server({"--demo"}, "# who may do what\nread r-token\nfeedback f-token\n\nadmin a-token\n");
  const std::map<std::string, int> rank_of = {
      {"none", 0}, {"read", 1}, {"feedback", 2}, {"admin", 3}};
  const std::vector<std::string> tokens = {"", "r-token", "f-token", "a-token"};
  for (std::size_t have = 0; have < tokens.size(); ++have) {
    HttpClient client = server.client(tokens[have]);
    for (const auto& [path, entry] : api_description()["paths"].items()) {
      for (const auto& [method, operation] : entry.items()) {
        if (method == "parameters") continue;
        SCOPED_TRACE(operation["operationId"].get<std::string>() + " with " + tokens[have]);
        std::string upper = method;
        for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
        const Answer answer = client.send(upper, filled(path, kSomething));
        const int needed = rank_of.at(operation["x-role"]);
        if (static_cast<int>(have) >= needed) {
          EXPECT_THAT(answer.status, Not(AnyOf(401, 403)));
        } else if (have == 0) {
          EXPECT_THAT(answer, IsError(401));
          EXPECT_THAT(answer.header("WWW-Authenticate"), HasSubstr("Bearer"));
        } else {
          EXPECT_THAT(answer, IsError(403));
        }
      }
    }
  }
}

TEST(OpenApi, PagesThatAClientHasAreNotSentAgain) {
  Server server({"--demo"});
  HttpClient client = server.client();
  for (const std::string path : {"/", "/demo", "/openapi.json"}) {
    const Answer first = client.get(path);
    ASSERT_NE(first.header("ETag"), "") << path;
    const auto known = [&](const std::string& tag) {
      return client.send("GET", path, "", {{"If-None-Match", tag}});
    };
    EXPECT_THAT(known(first.header("ETag")), HasStatus(304)) << path;
    EXPECT_EQ(known("\"another\"").body, first.body) << path;
  }
}

TEST(OpenApi, PagesTakeNothingFromElsewhereAndStandInNoFrame) {
  Server server({"--demo"});
  HttpClient client = server.client();
  for (const std::string path : {"/", "/demo", "/web/icon.svg"}) {
    const std::string policy = client.get(path).header("Content-Security-Policy");
    for (const std::string rule :
         {"default-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"}) {
      EXPECT_THAT(policy, HasSubstr(rule)) << path;
    }
  }
}

TEST(OpenApi, TheServerServesTheFileItself) {
  Server server;
  HttpClient client = server.client();
  EXPECT_EQ(client.get("/openapi.json").body,
            slurp(std::string(PLACKETT_SOURCE_DIR) + "/docs/openapi.json"));
  EXPECT_EQ(client.get("/health").json()["version"], api_description()["info"]["version"]);
}

TEST(OpenApi, HealthSaysWhetherTheDemoIsThere) {
  for (const bool demo : {true, false}) {
    const Server server(demo ? std::vector<std::string>{"--demo"} : std::vector<std::string>{});
    HttpClient client = server.client();
    const Answer health = client.get("/health");
    EXPECT_THAT(testing::faults_of(health, "Health"), IsEmpty());
    EXPECT_EQ(health.json()["demo"], demo);
    EXPECT_THAT(client.get("/demo"), HasStatus(demo ? 200 : 404));
  }
}

}  // namespace
}  // namespace plackett
