// Who may come in. What each role may do is held against the description: openapi_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
