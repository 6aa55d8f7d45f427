// SIGHUP: tokens are read again while requests go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "http/service.h"

namespace plackett {
namespace {

using testing::Answer;
using testing::eventually;
using testing::HasStatus;
using ::testing::HasSubstr;
using testing::HttpClient;
using testing::IsError;
using ::testing::Not;
using testing::Server;
using testing::shop;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(Reload, RotatesTokensOnOpenConnections) {
  Server server({}, "admin old-token\n");
  HttpClient with_old = server.client("old-token");
  HttpClient with_new = server.client("new-token");
  ASSERT_THAT(with_old.put("/models/shop", shop()), HasStatus(201));
  EXPECT_THAT(with_new.get("/models"), IsError(401));
  write(server.tokens_file(), "admin old-token\nadmin new-token\n");
  EXPECT_THAT(with_new.get("/models"), IsError(401)) << "read without being asked";
  EXPECT_THAT(server.reload(), HasSubstr("read again"));
  EXPECT_THAT(with_new.get("/models"), HasStatus(200));
  EXPECT_THAT(with_old.get("/models"), HasStatus(200));
  write(server.tokens_file(), "read new-token\n");
  server.reload();
  EXPECT_THAT(with_old.get("/models"), IsError(401));
  EXPECT_THAT(with_new.get("/models/shop"), HasStatus(200));
  EXPECT_THAT(with_new.remove("/models/shop"), IsError(403)) << "the role is the old one";
  EXPECT_EQ(server.stop(), 0);
}

TEST(Reload, KeepsTheTokensIfTheFileIsWrong) {
  Server server({}, "admin a-token\n");
  HttpClient client = server.client("a-token");
  for (const std::string wrong : {"admin b-token\nowner c-token\n", "", "admin b-token x y\n"}) {
    write(server.tokens_file(), wrong);
    const std::string said = server.reload();
    EXPECT_THAT(said, HasSubstr("kept the tokens and the certificate: "));
    EXPECT_THAT(said, HasSubstr(server.tokens_file() + ":"));
    EXPECT_THAT(said, Not(HasSubstr("-token")));
    EXPECT_THAT(client.get("/models"), HasStatus(200));
    EXPECT_THAT(server.client("b-token").get("/models"), IsError(401));
  }
  std::filesystem::remove(server.tokens_file());
  EXPECT_THAT(server.reload(), HasSubstr("can't open"));
  EXPECT_THAT(client.get("/models"), HasStatus(200));
  EXPECT_THAT(server.client().get("/models"), IsError(401)) << "it is open to everyone";
}

TEST(Reload, FinishesARequestWhoseTokenWasTakenAway) {
  Server server({}, "admin a-token\n");
  ASSERT_THAT(server.client("a-token").put("/models/shop", shop()), HasStatus(201));
  const std::string body = testing::Json{{"items", testing::items(4)}}.dump();
  const std::string bytes = testing::request_bytes("POST", "/models/shop/rank", body,
                                                   {{"Authorization", "Bearer a-token"}});
  testing::Connection slow(server.port());
  slow.send(bytes.substr(0, bytes.size() - 5));
  // Until its header was read.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  write(server.tokens_file(), "admin b-token\n");
  server.reload();
  slow.send(bytes.substr(bytes.size() - 5));
  EXPECT_THAT(slow.read_answer(), HasStatus(200));
  slow.send(bytes);
  EXPECT_THAT(slow.read_answer(), IsError(401));
}

TEST(Reload, DropsNoRequestUnderLoad) {
  Server server({}, "admin a-token\n");
  ASSERT_THAT(server.client("a-token").put("/models/shop", shop()), HasStatus(201));
  std::atomic<bool> done = false;
  std::atomic<int> answered = 0;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int at = 0; at < 4; ++at) {
    threads.emplace_back([&] {
      HttpClient client = server.client("a-token");
      while (!done) {
        const Answer answer = client.post("/models/shop/rank", {{"items", testing::items(5)}});
        ++(answer.status == 200 ? answered : failed);
      }
    });
  }
  for (int at = 0; at < 20; ++at) {
    write(server.tokens_file(), "admin a-token\nread x" + std::to_string(at) + "\n");
    EXPECT_THAT(server.reload(), HasSubstr("read again"));
    EXPECT_THAT(server.client("x" + std::to_string(at)).get("/models"), HasStatus(200));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(answered, 20);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(server.stop(), 0) << server.error_output();
}

// A pipe with a name, whose reader is this process until it closes it.
class NamedPipe {
 public:
  explicit NamedPipe(const std::string& path) {
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    reader_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(reader_, 0);
  }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;
  ~NamedPipe() { close(); }

  void close() {
    if (reader_ >= 0) ::close(reader_);
    reader_ = -1;
  }

 private:
  int reader_ = -1;
};

// The port of a server that says it in this file.
std::uint16_t port_of(const std::string& out) {
  const std::string before = "plackett serves http://127.0.0.1:";
  EXPECT_TRUE(eventually([&] { return testing::slurp(out).ends_with('\n'); }));
  return static_cast<std::uint16_t>(std::stoul(testing::slurp(out).substr(before.size())));
}

// Serves with this as its standard error, and rotates a token.
void expect_rotation(const std::string& err, const std::function<void()>& started) {
  const testing::TemporaryFolder folder;
  write(folder / "tokens", "admin old-token\n");
  testing::Child child(
      {"serve", "--port", "0", "--db", folder / "x.db", "--tokens", folder / "tokens"},
      folder / "out", err);
  HttpClient client(port_of(folder / "out"), "new-token");
  started();
  write(folder / "tokens", "admin new-token\n");
  child.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return client.get("/models").status == 200; }));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(Reload, TakesEffectWhereStandardErrorIsFull) {
  expect_rotation("/dev/full", [] {});
}

TEST(Reload, TakesEffectWhereNobodyReadsStandardErrorAnyMore) {
  const testing::TemporaryFolder folder;
  NamedPipe pipe(folder / "err");
  expect_rotation(folder / "err", [&] { pipe.close(); });
}

TEST(RequestLogPipe, WithoutAReaderCostsItsLinesAlone) {
  const testing::TemporaryFolder folder;
  NamedPipe pipe(folder / "log");
  Server server({"--request-log", folder / "log"});
  pipe.close();
  HttpClient client = server.client();
  const auto lost = [&] {
    return client.get("/metrics").body.find("plackett_request_log_lost_total 0\n") ==
           std::string::npos;
  };
  EXPECT_TRUE(eventually(lost));
  EXPECT_THAT(server.error_output(), HasSubstr("request log: Broken pipe"));
  EXPECT_EQ(server.stop(), 0);
}

// A server that was started in a terminal goes with it.
TEST(Reload, StopsTheServerIfItsTerminalIsClosed) {
  const testing::TemporaryFolder folder;
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const std::string name = ::ptsname(terminal);
  const pid_t process = ::fork();
  ASSERT_GE(process, 0);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    const int side = ::open(name.c_str(), O_RDWR);
    ::ioctl(side, TIOCSCTTY, 0);
    const int out = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0644);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    const std::string db = folder / "x.db";
    ::execl(PLACKETT_COMMAND, "plackett", "serve", "--port", "0", "--db", db.c_str(), nullptr);
    ::_exit(127);
  }
  const auto said = [&] { return testing::slurp(folder / "out"); };
  EXPECT_TRUE(eventually([&] { return said().find("plackett serves") != std::string::npos; }));
  ::kill(process, SIGHUP);
  EXPECT_TRUE(eventually([&] { return said().find("read again") != std::string::npos; }));
  ::close(terminal);
  int status = -1;
  EXPECT_TRUE(eventually([&] { return ::waitpid(process, &status, WNOHANG) == process; }));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << said();
  if (status == -1) ::kill(process, SIGKILL);
}

}  // namespace
}  // namespace plackett
