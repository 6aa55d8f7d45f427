// Who may come in. What each role may do is held against the description: openapi_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::IsError;
using testing::Server;
using testing::shop;

const std::string kTokens = "# roles\nread r-token\nfeedback f-token\nadmin a-token\nread r-2\n";

TEST(Access, IsRefusedToTokensThatAreNotThere) {
  Server server({}, kTokens);
  HttpClient client = server.client();
  for (const std::string value :
       {"Bearer wrong", "Bearer", "Bearer ", "a-token", "Basic a-token", "Bearer a-toke",
        "Bearer a-token2", "Bearer A-TOKEN", "Bearer a-token a-token", "Bearer # roles",
        "Bearer admin", "Bearer admin a-token"}) {
    const Answer answer = client.send("GET", "/models", "", {{"Authorization", value}});
    EXPECT_THAT(answer, IsError(401)) << value;
    EXPECT_THAT(answer.header("WWW-Authenticate"), HasSubstr("Bearer")) << value;
    EXPECT_EQ(answer.body.find("a-token"), std::string::npos) << "an error tells a token";
  }
  for (const std::string token : {"r-token", "r-2", "f-token", "a-token"}) {
    EXPECT_THAT(server.client(token).get("/models"), HasStatus(200)) << token;
  }
}

TEST(Access, IsRefusedBeforeAnythingIsTold) {
  Server server({}, kTokens);
  HttpClient admin = server.client("a-token");
  ASSERT_THAT(admin.put("/models/shop", shop()), HasStatus(201));
  HttpClient nobody = server.client();
  EXPECT_THAT(nobody.get("/models/shop"), IsError(401));
  EXPECT_THAT(nobody.get("/models/none"), IsError(401)) << "it tells which models there are";
  HttpClient reader = server.client("r-token");
  EXPECT_THAT(reader.remove("/models/shop"), IsError(403));
  EXPECT_THAT(reader.remove("/models/none"), IsError(403));
  EXPECT_THAT(reader.post("/models/shop/rank", {{"items", testing::items(3)}}), IsError(403));
  HttpClient user = server.client("f-token");
  EXPECT_THAT(user.put("/models/other", shop()), IsError(403));
  EXPECT_THAT(admin.get("/models/shop"), HasStatus(200));
}

// Bound to a model: it acts for that one, and learns nothing about others.
class BoundTokens : public ::testing::Test {
 protected:
  BoundTokens() {
    HttpClient admin = server.client("a-token");
    for (const std::string name : {"eu", "us"}) {
      EXPECT_THAT(admin.put("/models/" + name, shop()), HasStatus(201));
    }
  }
  // The message of a refusal.
  static std::string refusal(const Answer& answer) {
    EXPECT_THAT(answer, IsError(403));
    return answer.json()["error"]["message"];
  }

  Server server{{},
                "admin a-token\nread eu eu-r\nfeedback eu eu-f\nadmin eu eu-a\n"
                "admin new new-a\n"};
};

TEST_F(BoundTokens, ActForTheirModelAlone) {
  for (const std::string token : {"eu-f", "eu-a"}) {
    HttpClient client = server.client(token);
    const testing::Json body = {{"items", testing::items(4)}};
    EXPECT_THAT(client.get("/models/eu"), HasStatus(200));
    testing::rank_click_close(client, "eu", body);
    const std::string why = refusal(client.post("/models/us/rank", body));
    EXPECT_EQ(why, "the token is for the model eu alone");
    EXPECT_EQ(refusal(client.post("/models/none/rank", body)), why) << "it tells what exists";
    for (const std::string path : {"", "/weights", "/export", "/stats", "/impressions",
                                   "/impressions/i-0", "/snapshots", "/items/a"}) {
      EXPECT_EQ(refusal(client.get("/models/us" + path)), why) << path;
      EXPECT_EQ(refusal(client.get("/models/none" + path)), why) << path;
    }
    EXPECT_EQ(refusal(client.get("/models/eu%20")), why);
    EXPECT_EQ(refusal(client.get("/models/EU")), why);
  }
}

TEST_F(BoundTokens, ListTheirModelAlone) {
  const auto names = [&](const std::string& token) {
    std::vector<std::string> listed;
    const Answer answer = server.client(token).get("/models");
    EXPECT_THAT(testing::faults_of(answer, "Models"), ::testing::IsEmpty());
    const testing::Json document = answer.json();
    for (const auto& model : document["models"]) listed.push_back(model["name"]);
    return listed;
  };
  EXPECT_THAT(names("a-token"), ::testing::ElementsAre("eu", "us"));
  EXPECT_THAT(names("eu-r"), ::testing::ElementsAre("eu"));
  EXPECT_THAT(names("new-a"), ::testing::IsEmpty());
}

TEST_F(BoundTokens, AreToldTheirRoleWithTheModels) {
  for (const auto& [token, role] : std::map<std::string, std::string>{
           {"eu-r", "read"}, {"eu-f", "feedback"}, {"eu-a", "admin"}, {"a-token", "admin"}}) {
    EXPECT_EQ(server.client(token).get("/models").json()["role"], role) << token;
  }
  Server open;
  EXPECT_EQ(open.client().get("/models").json()["role"], "admin");
}

TEST_F(BoundTokens, DontSeeTheServer) {
  for (const std::string token : {"eu-r", "eu-f", "eu-a"}) {
    HttpClient client = server.client(token);
    EXPECT_EQ(refusal(client.get("/metrics")),
              "the token is for the model eu alone; this is about the server");
    for (const std::string path : {"/health", "/ready", "/", "/openapi.json"}) {
      EXPECT_THAT(client.get(path), HasStatus(200)) << path;
    }
  }
}

TEST_F(BoundTokens, KeepTheirRole) {
  HttpClient reader = server.client("eu-r");
  EXPECT_EQ(refusal(reader.remove("/models/eu")), "the token has the role read; this needs admin");
  EXPECT_EQ(refusal(reader.remove("/models/us")), "the token has the role read; this needs admin");
  HttpClient user = server.client("eu-f");
  EXPECT_THAT(user.put("/models/eu", shop()), IsError(403));
}

TEST_F(BoundTokens, OfAdminsCreateAndDeleteTheOneModel) {
  HttpClient admin = server.client("new-a");
  EXPECT_THAT(admin.get("/models/new"), IsError(404));
  EXPECT_THAT(admin.put("/models/new", shop()), HasStatus(201));
  EXPECT_THAT(admin.put("/models/other", shop()), IsError(403));
  EXPECT_THAT(admin.remove("/models/us"), IsError(403));
  const std::string file = admin.get("/models/new/export").body;
  EXPECT_THAT(admin.send("POST", "/models/other/import", file), IsError(403));
  EXPECT_THAT(admin.remove("/models/new"), HasStatus(204));
  EXPECT_THAT(admin.send("POST", "/models/new/import", file), HasStatus(200));
  HttpClient all = server.client("a-token");
  EXPECT_EQ(all.get("/models").json()["models"].size(), 3);
}

TEST(Access, IsOpenWhereThereIsNoTokensFileEvenWithAToken) {
  Server server;
  EXPECT_THAT(server.client("anything").put("/models/shop", shop()), HasStatus(201));
}

TEST(Access, IsNotOpenedByATokensFileThatIsWrong) {
  EXPECT_ANY_THROW(Server({"--tokens", "/no/such/file"}));
  EXPECT_ANY_THROW(Server({}, "owner token\n"));
  EXPECT_ANY_THROW(Server({}, "admin\n"));
  try {
    const Server empty({}, "# nobody at all\n");
    EXPECT_THAT(empty.client().get("/models"), IsError(401));
  } catch (const std::runtime_error&) {  // it may refuse to start, too
  }
}

// A browser names the page that makes it send; curl and programs name none.
TEST(Access, IsRefusedToPagesOfOtherServers) {
  Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  const auto freeze_from = [&](const std::string& origin) {
    return client.send("POST", "/models/shop/freeze", "",
                       {{"Host", "localhost:8080"}, {"Origin", origin}});
  };
  for (const std::string origin : {"http://elsewhere.example", "null", "http://localhost:8081",
                                   "http://localhost:8080.elsewhere.example", ""}) {
    EXPECT_THAT(freeze_from(origin), IsError(403)) << origin;
  }
  EXPECT_EQ(client.get("/models/shop").json()["learning"], true);
  EXPECT_THAT(freeze_from("http://localhost:8080"), HasStatus(200));
}

Answer answer_to(const Server& server, const std::string& bytes) {
  testing::Connection connection(server.port());
  connection.send(bytes);
  return connection.read_answer();
}

// A name that its owner lets lead to 127.0.0.1 makes the owner's pages ones of this server.
TEST(Access, IsRefusedToPagesWhoseNameWasLedHere) {
  Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  for (const std::string host :
       {"elsewhere.example", "elsewhere.example:8080", "localhost.elsewhere.example",
        "127.0.0.1.elsewhere.example", "localhost:8080.elsewhere.example", "10.0.0.1", ""}) {
    const Answer frozen = client.send("POST", "/models/shop/freeze", "",
                                      {{"Host", host}, {"Origin", "http://" + host}});
    EXPECT_THAT(frozen, IsError(403)) << host;
    for (const std::string path : {"/models/shop", "/metrics", "/health", "/"}) {
      EXPECT_THAT(client.send("GET", path, "", {{"Host", host}}), IsError(403)) << host << path;
    }
  }
  const Answer refused = client.send("GET", "/models", "", {{"Host", "elsewhere.example"}});
  EXPECT_THAT(refused.json()["error"]["message"].get<std::string>(), HasSubstr("--allow-host"));
  EXPECT_EQ(client.get("/models/shop").json()["learning"], true);
  for (const std::string host :
       {"localhost", "LOCALHOST:1", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080"}) {
    const Answer answer =
        client.send("GET", "/models", "", {{"Host", host}, {"Origin", "http://" + host}});
    EXPECT_THAT(answer, HasStatus(200)) << host;
  }
  EXPECT_THAT(answer_to(server, "GET /models HTTP/1.0\r\n\r\n"), HasStatus(200));
  EXPECT_THAT(answer_to(server, "GET /models HTTP/1.0\r\nOrigin: http://localhost\r\n\r\n"),
              IsError(403));
}

TEST(Access, IsGivenByTheNamesOfProxies) {
  Server server({"--allow-host", "shop.example", "--allow-host", "Ranking.Example"});
  HttpClient client = server.client();
  const auto asked = [&](const std::string& host) {
    return client.send("GET", "/models", "", {{"Host", host}, {"Origin", "https://" + host}});
  };
  for (const std::string host :
       {"shop.example", "Shop.example:8443", "ranking.example", "localhost:8080"}) {
    EXPECT_THAT(asked(host), HasStatus(200)) << host;
  }
  EXPECT_THAT(asked("elsewhere.example"), IsError(403));
  EXPECT_ANY_THROW(Server({"--allow-host", "shop.example:80"}));
  EXPECT_ANY_THROW(Server({"--allow-host", ""}));
}

// There a page would need a token.
TEST(Access, AsksForNoNameWhereThereAreTokens) {
  const Server guarded({}, kTokens);
  EXPECT_THAT(guarded.client("r-token").send("GET", "/models", "", {{"Host", "shop.example"}}),
              HasStatus(200));
  EXPECT_THAT(guarded.client().send("GET", "/models", "", {{"Host", "shop.example"}}),
              IsError(401));
}

}  // namespace
}  // namespace plackett
