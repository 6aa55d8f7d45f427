// What the tests of the service have in common.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/json_schema.h"
#include "support/server.h"

namespace plackett::testing {

using Json = nlohmann::json;

// docs/openapi.json
inline const Json& api_description() {
  static const Json document =
      Json::parse(std::ifstream(std::string(PLACKETT_SOURCE_DIR) + "/docs/openapi.json"));
  return document;
}

// What is wrong with an answer's body, held against a schema of the description.
inline std::vector<std::string> faults_of(const Answer& answer, const std::string& schema) {
  const Json& document = api_description();
  const Json value = Json::parse(answer.body, nullptr, false);
  if (value.is_discarded()) return {"not JSON: " + answer.body.substr(0, 200)};
  return JsonSchema(document).faults(document.at("components").at("schemas").at(schema), value);
}

// The answer has this status and the body that every error has.
MATCHER_P(IsError, status, "") {
  return arg.status == status && arg.type() == "application/json" &&
         faults_of(arg, "Error").empty() && arg.json()["error"]["status"] == status;
}

// The answer is an error of this status at this place of the body.
MATCHER_P2(IsErrorAt, status, where, "") {
  return ExplainMatchResult(IsError(status), arg, result_listener) &&
         arg.json()["error"].value("where", "") == where;
}

MATCHER_P(HasStatus, status, "") { return arg.status == status; }

// Two named features, three shown.
inline Json shop() { return {{"features", {"price", "rating"}}, {"k", 3}, {"seed", 7}}; }

// A server with the model "shop".
class ShopTest : public ::testing::Test {
 protected:
  ShopTest() : client(server.client()) {
    EXPECT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  }

  Json model(const std::string& name = "shop") { return client.get("/models/" + name).json(); }
  Json weights(const std::string& name = "shop") {
    return client.get("/models/" + name + "/weights").json()["weights"];
  }
  Json impression(const std::string& id) {
    return client.get("/models/shop/impressions/" + id).json();
  }
  Answer rank(const Json& body) { return client.post("/models/shop/rank", body); }
  Answer feedback(const Json& body) { return client.post("/models/shop/feedback", body); }

  Server server;
  HttpClient client;
};

// {"id": id, "features": features}
inline Json item(const std::string& id, const Json& features) {
  return {{"id", id}, {"features", features}};
}

// Items "a", "b", ... that differ in both features.
inline Json items(int count) {
  Json all = Json::array();
  for (int at = 0; at < count; ++at) {
    all.push_back(item(std::string(1, static_cast<char>('a' + at)), {at, (at * 7) % 5}));
  }
  return all;
}

inline std::vector<std::string> ids_of(const Json& ranking) {
  std::vector<std::string> ids;
  for (const Json& shown : ranking.at("items")) ids.push_back(shown.at("id"));
  return ids;
}

inline Json event(const Json& ranking, const std::string& kind, const std::string& item = "") {
  Json made = {{"impression", ranking.at("impression")}, {"event", kind}};
  if (!item.empty()) made["item"] = item;
  return made;
}

// Ranks, clicks what is last and closes: one impression to learn from.
inline Json rank_click_close(HttpClient& client, const std::string& model, const Json& body) {
  const Json ranking = client.post("/models/" + model + "/rank", body).json();
  const Answer answer =
      client.post("/models/" + model + "/feedback",
                  {event(ranking, "click", ids_of(ranking).back()), event(ranking, "close")});
  EXPECT_THAT(answer, HasStatus(200));
  EXPECT_EQ(answer.json()["accepted"], 2) << answer.body;
  return ranking;
}

}  // namespace plackett::testing
