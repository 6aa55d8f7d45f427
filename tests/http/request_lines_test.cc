// What a server's request log says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "http/service.h"

namespace plackett {
namespace {

using testing::eventually;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::Json;
using ::testing::Not;
using testing::Server;
using testing::shop;
using testing::slurp;

std::vector<Json> records(const std::string& path) {
  std::vector<Json> all;
  std::istringstream text(slurp(path));
  for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
  return all;
}

TEST(RequestLines, TellOfEveryRequestAndOfNoSecret) {
  const testing::TemporaryFolder folder;
  const std::string log = folder / "requests.log";
  Server server({"--request-log", log}, "admin secret-a\nfeedback shop secret-f\n");
  // Without those of the server's own start, which asks until it is ready.
  const auto lines = [&log] {
    std::vector<Json> found = records(log);
    std::erase_if(found, [](const Json& record) { return record["route"] == "/ready"; });
    return found;
  };
  // A line may come after its answer, when another thread writes the next one already.
  std::size_t asked = 0;
  const auto logged = [&] {
    ++asked;
    EXPECT_TRUE(eventually([&] { return lines().size() == asked; })) << asked;
  };
  HttpClient admin = server.client("secret-a");
  ASSERT_THAT(admin.put("/models/shop", shop()), HasStatus(201));
  logged();
  HttpClient shop_client = server.client("secret-f");
  const Json body = {{"items", testing::items(4)}, {"context", {{"query", "secret-query"}}}};
  const testing::Answer ranked = shop_client.post("/models/shop/rank", body);
  ASSERT_THAT(ranked, HasStatus(200));
  logged();
  shop_client.get("/models/other?token=secret-f");
  logged();
  server.client("secret-wrong").get("/models");
  logged();
  admin.send("BREW", "/models/shop?secret-query");
  logged();
  admin.send("HEAD", "/models/shop/items/secret%20item");
  logged();
  testing::Connection broken(server.port());
  broken.send("GET /secret-query\r\n\r\n");
  (void)broken.read_answer();
  EXPECT_EQ(server.stop(), 0);

  const std::string text = slurp(log);
  for (const char* secret : {"secret-a", "secret-f", "secret-wrong", "secret-query"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  }
  std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 7) << text;
  for (Json& record : all) {
    EXPECT_EQ(record.size(), 11);
    EXPECT_THAT(record["time"].get<std::string>(), ::testing::MatchesRegex("20.*T.*\\.[0-9]+Z"));
    EXPECT_EQ(record["remote"], "127.0.0.1");
    EXPECT_GE(record["us"], 0);
    for (const char* changing : {"time", "us", "remote"}) record.erase(changing);
  }
  EXPECT_EQ(all[1], (Json{{"method", "POST"},
                          {"route", "/models/{m}/rank"},
                          {"path", "/models/shop/rank"},
                          {"status", 200},
                          {"bytes_in", body.dump().size()},
                          {"bytes_out", ranked.body.size()},
                          {"model", "shop"},
                          {"role", "feedback"}}));
  const auto brief = [](const Json& record) {
    return Json::array({record["method"], record["route"], record["path"], record["status"],
                        record["model"], record["role"]});
  };
  EXPECT_EQ(brief(all[0]), (Json{"PUT", "/models/{m}", "/models/shop", 201, "shop", "admin"}));
  EXPECT_EQ(brief(all[2]), (Json{"GET", "/models/{m}", "/models/other", 403, "other", "feedback"}));
  EXPECT_EQ(brief(all[3]), (Json{"GET", "/models", "/models", 401, nullptr, "none"}));
  EXPECT_EQ(brief(all[4]), (Json{"unknown", nullptr, "/models/shop", 405, nullptr, "none"}));
  EXPECT_EQ(brief(all[5]), (Json{"HEAD", "/models/{m}/items/{id}",
                                 "/models/shop/items/secret%20item", 404, "shop", "admin"}));
  EXPECT_EQ(all[5]["bytes_out"], 0);
  EXPECT_EQ(all[6]["status"], 400);
}

TEST(RequestLines, GoOnInANewFileAfterAReload) {
  const testing::TemporaryFolder folder;
  const std::string log = folder / "requests.log";
  Server server({"--request-log", log});
  HttpClient client = server.client();
  std::filesystem::rename(log, log + ".1");
  client.get("/health");
  EXPECT_THAT(server.reload(), HasSubstr("the request log was opened again"));
  client.get("/models");
  EXPECT_TRUE(eventually([&] { return records(log).size() == 1; }));
  EXPECT_EQ(records(log).front()["path"], "/models");
  EXPECT_EQ(records(log + ".1").back()["path"], "/health");
  EXPECT_THAT(client.get("/metrics").body, HasSubstr("plackett_request_log_lost_total 0\n"));
}

TEST(RequestLines, DontHoldUpRequestsIfTheDiskIsFull) {
  Server server({"--request-log", "/dev/full"});
  HttpClient client = server.client();
  for (int at = 0; at < 100; ++at) EXPECT_THAT(client.get("/health"), HasStatus(200));
  EXPECT_TRUE(eventually([&] {
    return client.get("/metrics").body.find("plackett_request_log_lost_total 0\n") ==
           std::string::npos;
  }));
  EXPECT_THAT(server.error_output(), HasSubstr("request log: No space left on device"));
  EXPECT_EQ(server.stop(), 0);
}

TEST(RequestLines, GoToNoFileThatTheServerNeeds) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "tokens") << "admin a\n";
  std::filesystem::create_hard_link(folder / "tokens", folder / "link");
  const auto refused = [&](const std::string& log, const std::string& options) {
    const auto run = testing::run_command("serve --port 0 --db '" + (folder / "x.db") +
                                          "' --request-log '" + log + "' " + options);
    EXPECT_EQ(run.exit_code, 2);
    return run.err;
  };
  EXPECT_THAT(refused(folder / "link", "--tokens '" + (folder / "tokens") + "'"),
              HasSubstr("--tokens and --request-log are the same file"));
  EXPECT_EQ(slurp(folder / "tokens"), "admin a\n");
  std::ofstream(folder / "x.db") << "";
  EXPECT_THAT(refused(folder / "x.db", ""), HasSubstr("--db and --request-log"));
  EXPECT_THAT(refused(folder / "none/log", ""), HasSubstr("none/log: can't open"));
  EXPECT_THAT(refused(folder.path(), ""), HasSubstr("can't open"));
}

}  // namespace
}  // namespace plackett
