// Connections that are slow, silent, half closed, dropped or too many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "http/hostile.h"
#include "support/eventually.h"

namespace plackett {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using testing::Connection;
using testing::eventually;
using testing::HasStatus;
using testing::HttpClient;
using testing::IsError;
using testing::items;
using testing::Json;
using testing::NoAnswer;
using testing::request_bytes;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class HostileConnections : public testing::HostileTest {
 protected:
  HostileConnections()
      : HostileTest({"--request-seconds", "1", "--idle-seconds", "2", "--max-connections", "40"}) {}

  std::string rank_bytes =
      request_bytes("POST", "/models/shop/rank", Json{{"items", items(4)}}.dump());
};

using SlowConnections = testing::HostileTest;

// A byte now and then, for ever: each keeps the connection from being idle.
void dribble(Connection& connection, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!connection.send(bytes.substr(at, 1))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

TEST_F(HostileConnections, ThatDribbleTheirHeadersAreClosed) {
  const Clock::time_point start = Clock::now();
  Connection connection(server.port());
  dribble(connection, "GET /health HTTP/1.1\r\nHost: x\r\n" + std::string(150, 'X'));
  try {
    EXPECT_THAT(connection.read_answer(), IsError(408));
  } catch (const NoAnswer&) {  // closed without a word
  }
  EXPECT_TRUE(connection.closes());
  EXPECT_LT(seconds_since(start), 5);
}

TEST_F(HostileConnections, ThatDribbleTheirBodiesAreClosed) {
  const Clock::time_point start = Clock::now();
  Connection connection(server.port());
  connection.send(request_bytes("POST", "/models/shop/rank", "", {{"Content-Length", "500"}}));
  dribble(connection, std::string(150, '['));
  EXPECT_THAT(connection.read_answer(), IsError(408));
  EXPECT_TRUE(connection.closes());
  EXPECT_LT(seconds_since(start), 5);
}

// Above the limit, every one is told so, and soon.
TEST_F(HostileConnections, AboveTheLimitAreRefusedAtOnce) {
  std::vector<std::unique_ptr<Connection>> idle;
  for (int at = 0; at < 40; ++at) idle.push_back(std::make_unique<Connection>(server.port()));
  for (const auto& connection : idle) {
    connection->send(request_bytes("GET", "/health", ""));
    EXPECT_THAT(connection->read_answer(), HasStatus(200));
  }
  const Clock::time_point start = Clock::now();
  std::vector<std::unique_ptr<Connection>> more;
  for (int at = 0; at < 60; ++at) more.push_back(std::make_unique<Connection>(server.port()));
  for (const auto& connection : more) {
    connection->send(request_bytes("GET", "/health", ""));
    EXPECT_THAT(connection->read_answer(), IsError(503));
  }
  EXPECT_LT(seconds_since(start), 1.5);
}

class LargeBodies : public testing::HostileTest {
 protected:
  LargeBodies()
      : HostileTest({"--max-body", "4M", "--max-bodies", "16M", "--request-seconds", "2"}) {}

  HttpClient client = server.client();
};

TEST_F(LargeBodies, TakeNoMoreMemoryThanTheyMay) {
  constexpr int kConnections = 40;
  const std::string part(3 << 20, '[');
  std::vector<std::unique_ptr<Connection>> holding;
  int refused = 0;
  for (int at = 0; at < kConnections; ++at) {
    holding.push_back(std::make_unique<Connection>(server.port()));
    holding.back()->send(
        request_bytes("POST", "/models/shop/rank", "", {{"Content-Length", "4000000"}}));
    holding.back()->send(part);
  }
  EXPECT_THAT(client.get("/health"), HasStatus(200));
  EXPECT_THAT(client.post("/models/shop/rank", Json{{"items", items(4)}}), HasStatus(200))
      << "small requests are served";
  for (const auto& connection : holding) {
    connection->send(std::string(1000, '['));
  }
  for (const auto& connection : holding) {
    try {
      const Answer answer = connection->read_answer();
      if (answer.status == 429) ++refused;
      EXPECT_THAT(answer, AnyOf(IsError(429), IsError(408)));
    } catch (const NoAnswer&) {
    }
  }
  EXPECT_GE(refused, kConnections - 6);
  holding.clear();
  EXPECT_TRUE(eventually([&] {
    return client
               .post("/models/shop/rank",
                     Json{{"items", items(4)}, {"context", std::string(3 << 20, 'x')}})
               .status != 429;
  })) << "what was taken is given back";
}

// They are given ten seconds.
TEST_F(SlowConnections, DoNotKeepOthersWaiting) {
  std::vector<std::unique_ptr<Connection>> slow;
  for (int at = 0; at < 30; ++at) {
    slow.push_back(std::make_unique<Connection>(server.port()));
    slow.back()->send(
        "POST /models/shop/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n[");
  }
  HttpClient client = server.client();
  const Clock::time_point start = Clock::now();
  for (int at = 0; at < 20; ++at) {
    ASSERT_THAT(client.post("/models/shop/rank", {{"items", items(4)}}), HasStatus(200));
  }
  EXPECT_LT(seconds_since(start), 5);
}

TEST_F(HostileConnections, ThatAreIdleAreClosed) {
  Connection silent(server.port());
  Connection used(server.port());
  used.send(request_bytes("GET", "/health"));
  EXPECT_THAT(used.read_answer(), HasStatus(200));
  const Clock::time_point start = Clock::now();
  EXPECT_TRUE(used.closes());
  EXPECT_TRUE(silent.closes());
  EXPECT_LT(seconds_since(start), 6);
}

TEST_F(HostileConnections, ThatAreUsedAreKeptPastTheTimeOfOneRequest) {
  Connection connection(server.port());
  const Clock::time_point start = Clock::now();
  while (seconds_since(start) < 2.5) {
    ASSERT_TRUE(connection.send(rank_bytes));
    ASSERT_THAT(connection.read_answer(), HasStatus(200));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

TEST_F(HostileConnections, ThatAreHalfClosedStillGetTheirAnswers) {
  for (int round = 0; round < 20; ++round) {
    Connection connection(server.port());
    connection.send(rank_bytes);
    connection.finish_sending();
    EXPECT_THAT(connection.read_answer(), HasStatus(200));
    EXPECT_TRUE(connection.closes());
  }
}

TEST_F(HostileConnections, ThatDropInTheMiddleLeaveNothingBehind) {
  expect_well();
  const std::ptrdiff_t before = open_files();
  for (std::size_t size = 0; size < rank_bytes.size(); size += 1 + rank_bytes.size() / 100) {
    Connection connection(server.port());
    connection.send(rank_bytes.substr(0, size));
    if (size % 2 == 0) connection.reset_when_closed();
  }
  EXPECT_TRUE(eventually([&] { return open_files() <= before + 1; })) << open_files();
}

TEST_F(HostileConnections, ThatDoNotWaitForTheirAnswersDoNoHarm) {
  const std::ptrdiff_t before = open_files();
  for (int round = 0; round < 100; ++round) {
    Connection connection(server.port());
    connection.send(rank_bytes);
    if (round % 2 == 0) connection.reset_when_closed();
  }
  EXPECT_TRUE(eventually([&] { return open_files() <= before + 1; })) << open_files();
}

TEST_F(HostileConnections, BeyondTheLimitAreTurnedAwayUntilOthersLeave) {
  std::vector<std::unique_ptr<Connection>> held;
  for (int at = 0; at < 40; ++at) {
    held.push_back(std::make_unique<Connection>(server.port()));
    held.back()->send(request_bytes("GET", "/health"));
    try {
      EXPECT_THAT(held.back()->read_answer(), AnyOf(HasStatus(200), IsError(503)));
    } catch (const NoAnswer&) {  // the last of the previous test may still count
    }
  }
  for (int at = 0; at < 10; ++at) {
    try {
      Connection more(server.port());
      more.send(request_bytes("GET", "/health"));
      EXPECT_THAT(more.read_answer(), IsError(503));
    } catch (const NoAnswer&) {  // turned away without a word
    }
  }
  held.clear();
  EXPECT_TRUE(eventually([&] { return is_healthy(); }));
}

TEST_F(HostileConnections, ThatNeverReadDoNotFillTheMemory) {
  const long before = server.status("VmHWM");
  std::string bytes;
  for (int at = 0; at < 3'000; ++at) bytes += request_bytes("GET", "/openapi.json");
  Connection connection(server.port());
  const std::size_t taken = connection.send_what_fits(bytes, std::chrono::seconds(2));
  EXPECT_LT(server.status("VmHWM") - before, 40'000) << taken << " bytes of requests taken";
  expect_well();
}

// A server that may open few files has none left for connections, and lives.
TEST(HostileFiles, RunningOutDoesNotEndTheServer) {
  testing::Server server;
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", testing::shop()), HasStatus(201));
  rlimit limit{};
  ASSERT_EQ(::prlimit(server.process(), RLIMIT_NOFILE, nullptr, &limit), 0);
  rlimit few = limit;
  few.rlim_cur = 64;
  ASSERT_EQ(::prlimit(server.process(), RLIMIT_NOFILE, &few, nullptr), 0);
  {
    std::vector<std::unique_ptr<Connection>> held;
    for (int at = 0; at < 100; ++at) held.push_back(std::make_unique<Connection>(server.port()));
    EXPECT_THAT(client.get("/health"), HasStatus(200)) << "one that came before";
  }
  EXPECT_TRUE(eventually([&] {
    try {
      return server.client().get("/health").status == 200;
    } catch (const NoAnswer&) {
      return false;
    }
  }));
  EXPECT_TRUE(server.runs()) << server.error_output();
}

// Bodies need more than the process may have.
TEST(LittleMemory, EndsRequestsAndNotTheServer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve address space of their own";
#endif
  testing::Server server({"--max-bodies", "1G"});
  HttpClient client = server.client();
  ASSERT_THAT(client.put("/models/shop", testing::shop()), HasStatus(201));
  std::ifstream sizes("/proc/" + std::to_string(server.process()) + "/statm");
  std::uint64_t pages = 0;
  ASSERT_TRUE(sizes >> pages);
  const rlim_t bytes = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{40} << 20);
  const rlimit little{bytes, bytes};
  ASSERT_EQ(::prlimit(server.process(), RLIMIT_AS, &little, nullptr), 0);
  const Json ranking{{"items", items(4)}};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Connection>> held;
    for (int at = 0; at < 20; ++at) {
      held.push_back(std::make_unique<Connection>(server.port()));
      held.back()->send(
          request_bytes("POST", "/models/shop/rank", "", {{"Content-Length", "15000000"}}));
      held.back()->send(std::string(14'000'000, '['));
    }
    ASSERT_TRUE(server.runs()) << server.error_output();
    held.clear();
    EXPECT_TRUE(eventually([&] {
      try {
        HttpClient another = server.client();
        return another.post("/models/shop/rank", ranking).status == 200;
      } catch (const NoAnswer&) {
        return false;
      }
    })) << server.error_output();
  }
  EXPECT_EQ(server.stop(), 0) << server.error_output();
}

}  // namespace
}  // namespace plackett
