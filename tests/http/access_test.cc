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

}  // namespace
}  // namespace plackett
