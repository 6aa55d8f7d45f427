// The log of requests, without a server.
#include "http/request_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "support/eventually.h"
#include "support/run_command.h"

namespace plackett::http {
namespace {

using Json = nlohmann::json;
using plackett::testing::eventually;
using plackett::testing::slurp;
using plackett::testing::TemporaryFolder;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(slurp(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// `count` records; the status is their number.
void add(RequestLog& log, unsigned count, unsigned from = 0) {
  std::string line;
  for (unsigned at = 0; at < count; ++at) log.add({.path = "/x", .status = from + at}, line);
}

TEST(RequestRecord, IsOneJsonObjectOnOneLine) {
  std::string line;
  write_record({.at = std::chrono::system_clock::time_point(std::chrono::microseconds(1'500'000)),
                .method = "GET",
                .route = "/models/{m}",
                .path = "/models/a\"\n\xFF",
                .status = 200,
                .microseconds = 12,
                .bytes_in = 3,
                .bytes_out = 4,
                .remote = "127.0.0.1",
                .model = "a",
                .role = "read"},
               line);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(line), (Json{{"time", "1970-01-01T00:00:01.500000Z"},
                                     {"method", "GET"},
                                     {"route", "/models/{m}"},
                                     {"path", "/models/a\"\n\xEF\xBF\xBD"},
                                     {"status", 200},
                                     {"us", 12},
                                     {"bytes_in", 3},
                                     {"bytes_out", 4},
                                     {"remote", "127.0.0.1"},
                                     {"model", "a"},
                                     {"role", "read"}}));
}

TEST(RequestRecord, HasThePathWithoutQueryOrCredentials) {
  EXPECT_EQ(path_of("/models/a?token=secret"), "/models/a");
  EXPECT_EQ(path_of("http://user:secret@host:80/models/a?x"), "/models/a");
  EXPECT_EQ(path_of("http://user:secret@host?token=secret"), "");
  EXPECT_EQ(path_of("http://user:secret@host"), "");
  EXPECT_EQ(path_of("secret"), "");
  EXPECT_EQ(path_of("*"), "");
  EXPECT_EQ(path_of("/models/a/units/secret?impressions=drop"), "/models/a/units/");
  EXPECT_EQ(path_of("/models/a/%75nits/secret"), "/models/a/%75nits/");
  EXPECT_EQ(path_of("/%6dodels/a/impressions%3f/secret/x"), "/%6dodels/a/impressions%3f/");
  EXPECT_EQ(path_of("//models/a/units/secret"), "//models/a/");
  EXPECT_EQ(path_of("/models/a/items/tent"), "/models/a/items/tent");
  EXPECT_EQ(path_of("/models/a/experiments/e/stop"), "/models/a/experiments/e/stop");
  EXPECT_EQ(path_of(""), "");
  EXPECT_EQ(path_of("/" + std::string(5000, 'x')).size(), 512);
}

TEST(RequestLog, AppendsAndWritesEverythingBeforeItEnds) {
  const TemporaryFolder folder;
  for (const unsigned run : {0U, 1U}) {
    const auto log = RequestLog::open({.path = folder / "log"});
    ASSERT_TRUE(log.ok());
    add(**log, 500, run * 500);
  }
  const auto lines = lines_of(folder / "log");
  ASSERT_EQ(lines.size(), 1000);
  for (unsigned at = 0; at < 1000; ++at) EXPECT_EQ(Json::parse(lines[at])["status"], at);
}

TEST(RequestLog, ReachesTheFileInASecondOrTwo) {
  const TemporaryFolder folder;
  const auto log = RequestLog::open({.path = folder / "log"});
  add(**log, 3);
  EXPECT_TRUE(eventually([&] { return lines_of(folder / "log").size() == 3; }));
}

TEST(RequestLog, GoesOnInANewFileWhenItIsOpenedAgain) {
  const TemporaryFolder folder;
  const auto log = RequestLog::open({.path = folder / "log"});
  add(**log, 3);
  ASSERT_TRUE(eventually([&] { return lines_of(folder / "log").size() == 3; }));
  std::filesystem::rename(folder / "log", folder / "log.1");
  add(**log, 1, 3);
  ASSERT_TRUE(eventually([&] { return lines_of(folder / "log.1").size() == 4; }));
  ASSERT_TRUE((*log)->reopen().ok());
  add(**log, 2, 4);
  EXPECT_TRUE(eventually([&] { return lines_of(folder / "log").size() == 2; }));
  EXPECT_EQ(lines_of(folder / "log.1").size(), 4);
  std::filesystem::remove(folder / "log");
  std::filesystem::create_directory(folder / "log");
  EXPECT_THAT((*log)->reopen().error().message, HasSubstr("can't open"));
  EXPECT_EQ((*log)->lost(), 0);
}

TEST(RequestLog, DropsTheOldestAndCountsThemIfNobodyReads) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(RequestLog::open({.path = folder / "pipe"}).ok()) << "waits for a reader";
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  const auto start = std::chrono::steady_clock::now();
  {
    const auto log = RequestLog::open({.path = folder / "pipe", .queue_lines = 100});
    ASSERT_TRUE(log.ok());
    add(**log, 20'000);
    EXPECT_GT((*log)->lost(), 10'000);
    EXPECT_LT((*log)->lost(), 20'000);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "it waits";
  ::close(reader);
}

TEST(RequestLog, CountsWhatADiskDoesNotTakeAndComplainsOnce) {
  std::atomic<int> complaints = 0;
  const auto log = RequestLog::open({.path = "/dev/full", .complain = [&](const std::string& line) {
                                       EXPECT_THAT(line, HasSubstr("No space left on device"));
                                       ++complaints;
                                     }});
  ASSERT_TRUE(log.ok());
  add(**log, 1000);
  EXPECT_TRUE(eventually([&] { return (*log)->lost() == 1000; }));
  add(**log, 10);
  EXPECT_TRUE(eventually([&] { return (*log)->lost() == 1010; }));
  EXPECT_EQ(complaints, 1);
}

TEST(RequestLog, TakesLinesFromManyThreads) {
  const TemporaryFolder folder;
  {
    const auto log = RequestLog::open({.path = folder / "log", .queue_lines = 100'000});
    std::vector<std::thread> threads;
    for (unsigned at = 0; at < 4; ++at) {
      threads.emplace_back([&, at] { add(**log, 2000, at * 2000); });
    }
    for (int at = 0; at < 20; ++at) EXPECT_TRUE((*log)->reopen().ok());
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ((*log)->lost(), 0);
  }
  const auto lines = lines_of(folder / "log");
  EXPECT_EQ(lines.size(), 8000);
  for (const std::string& line : lines) EXPECT_TRUE(Json::accept(line)) << line;
}

}  // namespace
}  // namespace plackett::http
