// plackett migrate as a user meets it: a shop moves to PostgreSQL and back, and learns on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "support/child.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/postgres.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using testing::Child;
using testing::eventually;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::PostgresServer;
using testing::run_command;
using testing::slurp;
using testing::TemporaryFolder;
using Json = nlohmann::json;

std::string quoted(const std::string& text) { return "'" + text + "'"; }

testing::CommandResult migrate(const std::string& from, const std::string& to,
                               const std::string& more = "") {
  return run_command("migrate --from " + quoted(from) + " --to " + quoted(to) + " " + more);
}

// Serves the store for a while.
void serve(const std::string& db, const std::function<void(HttpClient&)>& use) {
  const TemporaryFolder folder;
  Child server({"serve", "--db", db, "--port", "0"}, folder / "out", folder / "err");
  const std::string host = "://127.0.0.1:";
  ASSERT_TRUE(eventually([&] { return slurp(folder / "out").ends_with('\n'); }))
      << slurp(folder / "err");
  const std::string line = slurp(folder / "out");
  HttpClient client(static_cast<std::uint16_t>(std::stoul(line.substr(line.find(host) + 13))));
  ASSERT_TRUE(eventually([&] { return client.get("/ready").status == 200; }));
  use(client);
  server.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return server.ended().has_value(); }));
}

void learn(HttpClient& client, int lists) {
  for (int at = 0; at < lists; ++at) {
    const Json ranked = client
                            .post("/models/shop/rank", {{"items",
                                                         {{{"id", "a"}, {"features", {1, at}}},
                                                          {{"id", "b"}, {"features", {2, at / 2}}},
                                                          {{"id", "c"}, {"features", {at, 1}}}}}})
                            .json();
    client.post(
        "/models/shop/feedback",
        Json::array({{{"impression", ranked["impression"]}, {"event", "click"}, {"item", "b"}},
                     {{"impression", ranked["impression"]}, {"event", "close"}}}));
  }
}

std::string replayed(const std::string& db) {
  const auto run = run_command("replay --json --db " + quoted(db));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

TEST(MigrateCommand, AShopMovesToPostgresAndBackAndLearnsOn) {
  if (!PostgresServer::is_installed()) GTEST_SKIP() << PostgresServer::kMissing;
  const TemporaryFolder folder;
  const std::string url = PostgresServer::shared().new_database();
  const std::string file = folder / "shop.db";
  serve(file, [](HttpClient& client) {
    EXPECT_EQ(client.put("/models/shop", {{"features", 2}}).status, 201);
    learn(client, 30);
    EXPECT_EQ(client.post("/models/shop/snapshots", Json::object()).status, 201);
    learn(client, 10);
  });
  auto run = migrate(file, url);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 model, 40 impressions, "));
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(replayed(file), replayed(url));
  serve(url, [](HttpClient& client) {
    EXPECT_EQ(client.get("/models/shop").json()["learned"], 40);
    learn(client, 10);
  });
  // The node left when it stopped.
  run = migrate(url, folder / "back.db", "--json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["impressions"], 50);
  EXPECT_EQ(replayed(url), replayed(folder / "back.db"));
  serve(folder / "back.db", [](HttpClient& client) {
    EXPECT_EQ(client.get("/models/shop").json()["learned"], 50);
    learn(client, 1);
    EXPECT_EQ(client.get("/models/shop").json()["impressions"], 51);
  });
}

TEST(MigrateCommand, WrongInputGetsOneLine) {
  const TemporaryFolder folder;
  for (const auto& [arguments, said] : std::initializer_list<std::pair<std::string, std::string>>{
           {"--from a.db", "--to is required"},
           {"--from a.db --to b.db", "both stores are files; copy a file with plackett backup"},
           {"--from postgresql://a --to postgresql://b", "pg_dump"},
           {"--from " + quoted(folder / "none.db") + " --to postgresql://127.0.0.1:1/x",
            "none.db: can't open"},
           {"--from postgresql://127.0.0.1:1/x --to " + quoted(folder / "new.db"),
            "postgresql://127.0.0.1:1/x: "}}) {
    const auto run = run_command("migrate " + arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments;
    EXPECT_THAT(run.err, HasSubstr(said));
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_EQ(run.out, "");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace plackett
