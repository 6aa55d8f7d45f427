// plackett backup: copies of a store that is served, and the store put back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "http/service.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;
using testing::CommandResult;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::Json;
using testing::run_command;
using testing::Server;
using testing::shop;
using testing::slurp;

std::string quoted(const std::string& path) { return "'" + path + "'"; }

CommandResult back_up(const std::string& db, const std::string& to, const std::string& more = "") {
  return run_command("backup --db " + quoted(db) + " --to " + quoted(to) + " " + more);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Ranks with the word as context, clicks and closes.
void use(HttpClient& client, const std::string& model, int times, const std::string& word = "w") {
  for (int at = 0; at < times; ++at) {
    testing::rank_click_close(client, model,
                              {{"items", testing::items(6)}, {"context", {{"query", word}}}});
  }
}

class Backup : public ::testing::Test {
 protected:
  Backup() : client(server.client()) {
    EXPECT_THAT(client.put("/models/shop", shop()), HasStatus(201));
  }

  testing::TemporaryFolder folder;
  Server server;
  HttpClient client;
};

TEST_F(Backup, DuringTrafficIsConsistentToTheBit) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int at = 0; at < 2; ++at) {
    threads.emplace_back([&] {
      HttpClient own = server.client();
      while (!done) use(own, "shop", 1);
    });
  }
  std::uint64_t before = 0;
  for (int at = 0; at < 5; ++at) {
    const std::string copy = folder / ("copy" + std::to_string(at));
    const auto made = back_up(server.db(), copy, "--json");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const Json said = Json::parse(made.out);
    EXPECT_EQ(said["models"], 1);
    EXPECT_GE(said["impressions"], before);
    before = said["impressions"];
    EXPECT_EQ(said["bytes"], fs::file_size(copy));
    const auto replay = run_command("replay --json --db " + quoted(copy));
    EXPECT_EQ(replay.exit_code, 0) << replay.err;
    EXPECT_EQ(Json::parse(replay.out)["missing"], Json::array());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(before, 0);
}

TEST_F(Backup, IsTheStoreAgainWhenItIsPutInPlace) {
  use(client, "shop", 30);
  const Json model = client.get("/models/shop").json();
  const std::string file = client.get("/models/shop/export").body;
  const std::string copy = folder / "copy.db";
  ASSERT_EQ(back_up(server.db(), copy).exit_code, 0);
  // What came after the copy is lost; a killed server leaves its log beside the store.
  use(client, "shop", 5);
  server.kill();
  ASSERT_TRUE(fs::exists(server.db() + "-wal"));
  for (const char* ending : {"-wal", "-shm"}) fs::remove(server.db() + ending);
  fs::copy_file(copy, server.db(), fs::copy_options::overwrite_existing);
  server.start();
  HttpClient again = server.client();
  const Json restored = again.get("/models/shop").json();
  for (const char* same : {"version", "updates", "impressions", "learned"}) {
    EXPECT_EQ(restored[same], model[same]) << same;
  }
  EXPECT_EQ(again.get("/models/shop/export").body, file);
  use(again, "shop", 5);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_EQ(run_command("replay --db " + quoted(server.db())).exit_code, 0);
}

TEST_F(Backup, NeverShowsListsUnderNamesOfThoseThatAreLost) {
  use(client, "shop", 3);
  ASSERT_EQ(server.stop(), 0);  // which gives up the numbers that are reserved
  const std::string copy = folder / "copy.db";
  ASSERT_EQ(back_up(server.db(), copy).exit_code, 0);
  const auto show = [&] {
    server.start();
    HttpClient own = server.client();
    Json shown = own.post("/models/shop/rank", {{"items", testing::items(6)}}).json();
    EXPECT_EQ(server.stop(), 0);
    return shown;
  };
  const Json lost = show();
  fs::copy_file(copy, server.db(), fs::copy_options::overwrite_existing);
  EXPECT_NE(show()["impression"], lost["impression"]);
  server.start();
  const Json click{
      {"impression", lost["impression"]}, {"event", "click"}, {"item", lost["items"][0]["id"]}};
  HttpClient own = server.client();
  EXPECT_EQ(own.post("/models/shop/feedback", click).json()["unknown_impression"], 1);
  EXPECT_EQ(server.stop(), 0);
  EXPECT_EQ(run_command("replay --db " + quoted(server.db())).exit_code, 0);
}

TEST_F(Backup, HasTheExperimentsAndGoesOnWithThem) {
  const Json snapshot = client.post("/models/shop/snapshots", Json::object()).json();
  const Json spec = {
      {"arms",
       {{{"name", "old"}, {"policy", "given"}, {"share", 0.5}},
        {{"name", "new"}, {"policy", "snapshot:" + snapshot["id"].dump()}, {"share", 0.5}}}}};
  ASSERT_THAT(client.put("/models/shop/experiments/e", spec), HasStatus(201));
  use(client, "shop", 20);
  const std::string path = "/models/shop/experiments/e";
  const Json before = client.get(path).json()["arms"];
  const std::string copy = folder / "copy.db";
  ASSERT_EQ(back_up(server.db(), copy).exit_code, 0);
  use(client, "shop", 5);
  ASSERT_THAT(client.post(path + "/stop", Json::object()), HasStatus(200));
  ASSERT_EQ(server.stop(), 0);
  fs::copy_file(copy, server.db(), fs::copy_options::overwrite_existing);
  server.start();
  client = server.client();
  const Json after = client.get(path).json();
  EXPECT_EQ(after["state"], "running");
  for (std::size_t arm = 0; arm < 2; ++arm) {
    for (const char* field : {"impressions", "clicks", "units"}) {
      EXPECT_EQ(after["arms"][arm][field], before[arm][field]) << field;
    }
  }
  use(client, "shop", 5);
  ASSERT_THAT(client.post(path + "/promote", {{"arm", "new"}}), HasStatus(200));
  EXPECT_EQ(run_command("replay --db " + quoted(server.db()) + " --model shop").exit_code, 0);
}

TEST_F(Backup, HoldsNothingThatWasDeleted) {
  ASSERT_THAT(client.put("/models/gone", shop()), HasStatus(201));
  use(client, "shop", 20, "KEPT-WORD");
  use(client, "gone", 200, "DELETED-WORD");
  ASSERT_THAT(
      client.put("/models/gone/items", {{"items", {testing::item("DELETED-ITEM", {1, 2})}}}),
      HasStatus(200));
  // A model whose lists keep no candidates, so that none can refer to the item.
  Json plain = shop();
  plain["candidates"] = "none";
  ASSERT_THAT(client.put("/models/plain", plain), HasStatus(201));
  ASSERT_THAT(
      client.put("/models/plain/items", {{"items", {testing::item("DELETED-TOO", {1, 2})}}}),
      HasStatus(200));
  ASSERT_THAT(client.remove("/models/plain/items/DELETED-TOO"), HasStatus(204));
  ASSERT_THAT(client.remove("/models/gone"), HasStatus(204));
  // At once: the server may still be removing the model's rows.
  ASSERT_EQ(back_up(server.db(), folder / "copy.db").exit_code, 0);
  const std::string bytes = slurp(folder / "copy.db");
  EXPECT_THAT(bytes, HasSubstr("KEPT-WORD"));
  for (const char* deleted : {"DELETED-WORD", "DELETED-ITEM", "DELETED-TOO"}) {
    EXPECT_EQ(bytes.find(deleted), std::string::npos) << deleted;
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"copy.db"});
}

TEST_F(Backup, NeverReplacesTheStoreNorAnotherFileUnasked) {
  use(client, "shop", 3);
  const std::string copy = folder / "copy.db";
  std::ofstream(copy) << "mine";
  EXPECT_THAT(back_up(server.db(), copy).err, HasSubstr("copy.db: exists; --force replaces it"));
  EXPECT_EQ(slurp(copy), "mine");
  fs::create_hard_link(server.db(), folder / "hard");
  fs::create_symlink(server.db(), folder / "soft");
  fs::create_symlink("soft", folder / "softer");
  for (const std::string& itself :
       {server.db(), folder / "hard", folder / "soft", folder / "softer", server.db() + "-wal"}) {
    const auto run = back_up(server.db(), itself, "--force");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("is the store itself")) << itself;
  }
  EXPECT_THAT(back_up(folder / "soft", server.db(), "--force").err,
              HasSubstr("is the store itself"));
  EXPECT_THAT(back_up(server.db(), server.db() + "-journal").err, HasSubstr("own journal"));
  fs::remove(folder / "hard");
  Server other;
  EXPECT_THAT(back_up(server.db(), other.db(), "--force").err, HasSubstr("is being served"));
  std::ofstream(copy + "-wal") << "old";
  EXPECT_THAT(back_up(server.db(), copy, "--force").err, HasSubstr("copy.db-wal: belongs to"));
  fs::remove(copy + "-wal");
  EXPECT_THAT(back_up(server.db(), folder.path()).err, HasSubstr("not a regular file"));
  EXPECT_THAT(back_up(server.db(), folder / "no/copy.db").err, HasSubstr("can't create"));
  EXPECT_THAT(back_up(server.db(), "").err, HasSubstr("an empty file name"));
  EXPECT_THAT(back_up(folder / "none.db", folder / "new.db").err, HasSubstr("none.db: can't open"));
  EXPECT_FALSE(fs::exists(folder / "new.db"));
  EXPECT_EQ(slurp(copy), "mine");

  ASSERT_EQ(::chmod(server.db().c_str(), 0640), 0);
  ASSERT_EQ(back_up(server.db(), copy, "--force").exit_code, 0);
  EXPECT_EQ(run_command("replay --db " + quoted(copy)).exit_code, 0);
  EXPECT_EQ(fs::status(copy).permissions(), static_cast<fs::perms>(0640));
  EXPECT_THAT(client.get("/ready"), HasStatus(200));
}

TEST_F(Backup, LeavesNothingOnAFullDisk) {
  use(client, "shop", 300);
  const auto run =
      run_command("backup --db " + quoted(server.db()) + " --to " + quoted(folder / "copy.db"), "",
                  "ulimit -f 100; exec ");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("copy.db: "));
  EXPECT_TRUE(fs::is_empty(folder.path())) << names_in(folder.path()).front();
}

TEST_F(Backup, ThatIsKilledLeavesNoHalfFileUnderTheName) {
  use(client, "shop", 300);
  const std::string copy = folder / "copy.db";
  int made = 0;
  int killed = 0;
  for (int at = 0; at < 40; ++at) {
    testing::Child child({"backup", "--db", server.db(), "--to", copy}, "/dev/null", "/dev/null");
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * at));
    child.signal(SIGKILL);
    killed += child.wait() == 128 + SIGKILL ? 1 : 0;
    if (!fs::exists(copy)) continue;
    ++made;
    EXPECT_EQ(run_command("replay --db " + quoted(copy)).exit_code, 0);
    fs::remove(copy);
  }
  EXPECT_GT(killed, 0);
  EXPECT_GT(made, 0);
  for (const std::string& name : names_in(folder.path())) {
    EXPECT_THAT(name, HasSubstr("copy.db.tmp-"));
  }
  EXPECT_EQ(back_up(server.db(), copy).exit_code, 0) << "leftovers are in its way";
}

TEST_F(Backup, ThatIsStoppedLeavesNothing) {
  use(client, "shop", 300);
  for (int at = 0; at < 20; ++at) {
    testing::Child child({"backup", "--db", server.db(), "--to", folder / "copy.db"}, "/dev/null",
                         folder / "err");
    std::this_thread::sleep_for(std::chrono::milliseconds(25 + 3 * at));
    child.signal(SIGTERM);
    const int code = child.wait();
    fs::remove(folder / "err");
    EXPECT_TRUE(code == 0 || code == 130 || code == 128 + SIGTERM) << code;
    // Killed before it could begin, or when the process had nothing left to do but to end.
    if (code == 128 + SIGTERM && fs::exists(folder / "copy.db")) {
      EXPECT_EQ(run_command("replay --db " + quoted(folder / "copy.db")).exit_code, 0);
    }
    if (code == 0 || code == 128 + SIGTERM) fs::remove(folder / "copy.db");
    EXPECT_TRUE(fs::is_empty(folder.path())) << names_in(folder.path()).front();
  }
}

}  // namespace
}  // namespace plackett
