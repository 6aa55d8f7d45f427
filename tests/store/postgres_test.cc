// What a store in PostgreSQL does besides what every store does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "serving/shared_store.h"
#include "serving/store.h"
#include "store/open.h"
#include "store/postgres/connection.h"
#include "store/postgres/hosts.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/eventually.h"
#include "support/postgres.h"

namespace plackett::store {
namespace {

using postgres::Connection;
using postgres::Row;
using serving::ImpressionKey;
using serving::Store;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PostgresServer;

template <typename T>
T got(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return *std::move(result);
}
void done(const Result<void>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
}

class Postgres : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << PostgresServer::kMissing;
    url_ = server().new_database();
  }
  static PostgresServer& server() { return PostgresServer::shared(); }
  [[nodiscard]] std::unique_ptr<Store> open(std::int64_t node = 0, bool alone = true) const {
    return got(open_postgres({.url = url_, .node = node, .alone = alone}));
  }
  [[nodiscard]] std::shared_ptr<Connection> connect() const {
    return got(Connection::open({.url = url_}));
  }
  [[nodiscard]] std::string ask(const std::string& sql) const {
    const auto rows = PostgresServer::query(url_, sql);
    return rows.empty() ? "" : rows[0][0];
  }
  // Ends all other connections to the database, and waits until they are gone.
  void end_connections() const {
    const std::string others =
        " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    PostgresServer::query(url_, "SELECT pg_terminate_backend(pid)" + others);
    EXPECT_TRUE(testing::eventually([&] { return ask("SELECT count(*)" + others) == "0"; }));
  }
  static void commit(Store& store, const std::function<void()>& changes) {
    done(store.begin());
    changes();
    done(store.commit());
    store.tidy();
  }
  static Result<void> show(Store& store, std::uint64_t number, std::size_t bytes = 10) {
    return store.insert_impression({.id = ImpressionKey{1, number}.id(),
                                    .shown_at = 5,
                                    .data = std::vector<std::byte>(bytes, std::byte{7})});
  }
  static bool has(Store& store, std::uint64_t number) {
    return got(store.read().impression(ImpressionKey{1, number}.id())).has_value();
  }

  std::string url_;
};

TEST_F(Postgres, ALongPipelineOfLargeRowsIsStoredWhole) {
  constexpr std::uint64_t kRows = 4000;
  constexpr std::size_t kBytes = 16'000;
  const auto store = open();
  commit(*store, [&] {
    for (std::uint64_t number = 0; number < kRows; ++number) done(show(*store, number, kBytes));
  });
  EXPECT_EQ(ask("SELECT count(*) || ' ' || sum(length(data)) FROM impressions"),
            "4000 " + std::to_string(kRows * kBytes));
}

TEST_F(Postgres, APipelineWhoseAnswersAreLargeDoesNotBlock) {
  const auto connection = connect();
  done(connection->begin());
  // 100 MB of answers, and of statements.
  const std::string text(100'000, 'x');
  for (int at = 0; at < 1000; ++at) {
    done(connection->send("SELECT repeat('y', 100000) || $1", text));
  }
  EXPECT_EQ(got(connection->integer("SELECT 7")), 7);
  done(connection->commit());
}

TEST_F(Postgres, TheFirstErrorOfAPipelineIsWhatTheNextWaitReturns) {
  const auto connection = connect();
  done(connection->script("CREATE TABLE numbers(n bigint PRIMARY KEY)"));
  constexpr const char* kInsert = "INSERT INTO numbers VALUES($1)";
  done(connection->begin());
  done(connection->send(kInsert, 1));
  done(connection->send("SELECT 1 / ($1 - 1)", 1));
  done(connection->send(kInsert, 1));
  done(connection->send("DELETE FROM numbers"));  // prepared behind the error
  const auto read = connection->integer("SELECT count(*) FROM numbers");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("division by zero"));
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(connection->state(), "22012");
  EXPECT_FALSE(connection->may_try_again());
  EXPECT_FALSE(connection->lost());
  EXPECT_THAT(connection->send(kInsert, 2).error().message, HasSubstr("division by zero"));
  EXPECT_THAT(connection->commit().error().message, HasSubstr("division by zero"));
  connection->roll_back();
  done(connection->begin());
  done(connection->send(kInsert, 3));
  done(connection->send("DELETE FROM numbers"));
  done(connection->send(kInsert, 4));
  done(connection->commit());
  EXPECT_EQ(got(connection->integer("SELECT sum(n)::bigint FROM numbers")), 4);
  // An error outside of a transaction is that of one call alone.
  EXPECT_FALSE(connection->run("SELECT 1 / ($1 - 1)", 1).ok());
  EXPECT_EQ(got(connection->integer("SELECT count(*) FROM numbers")), 1);
}

TEST_F(Postgres, AStatementThatFailsWhenItIsCommittedLeavesTheNextAnswersInPlace) {
  const auto connection = connect();
  done(
      connection->script("CREATE TABLE parents(n bigint PRIMARY KEY); CREATE TABLE children(n "
                         "bigint REFERENCES parents(n) DEFERRABLE INITIALLY DEFERRED)"));
  for (int turn = 0; turn < 3; ++turn) {
    const auto inserted = connection->run("INSERT INTO children VALUES($1)", turn);
    ASSERT_FALSE(inserted.ok());
    EXPECT_THAT(inserted.error().message, HasSubstr("foreign key"));
    EXPECT_FALSE(connection->lost());
    EXPECT_EQ(got(connection->integer("SELECT $1::bigint", 7 + turn)), 7 + turn);
    EXPECT_EQ(got(connection->integer("SELECT count(*) FROM children")), 0);
  }
}

TEST_F(Postgres, AnErrorSaysWhetherTheTransactionMayBeTriedAgain) {
  const auto connection = connect();
  done(connection->script("CREATE TABLE numbers(n bigint PRIMARY KEY)"));
  done(connection->begin());
  for (int times = 0; times < 2; ++times) {
    done(connection->send("INSERT INTO numbers VALUES($1)", 1));
  }
  EXPECT_FALSE(connection->commit().ok());
  EXPECT_EQ(connection->state(), "23505");
  EXPECT_TRUE(connection->may_try_again());
  EXPECT_FALSE(connection->in_doubt());
  connection->roll_back();
}

TEST_F(Postgres, ValuesTravelInBothDirections) {
  const auto connection = connect();
  const std::vector<std::byte> blob{std::byte{0}, std::byte{255}, std::byte{'\''}, std::byte{'\\'}};
  done(connection->each(
      "SELECT $1, $2, $3, $4, $5::text IS NULL, $6::bigint IS NULL, NULL::bigint, (-3)::int",
      [&](const Row& row) {
        EXPECT_EQ(row.integer(0), -1'234'567'890'123);
        EXPECT_EQ(row.real(1), -0.1);
        EXPECT_EQ(row.text(2), "it's \"ä\"");
        EXPECT_EQ(std::vector<std::byte>(row.blob(3).begin(), row.blob(3).end()), blob);
        EXPECT_EQ(row.integer(4), 1);
        EXPECT_EQ(row.integer(5), 1);
        EXPECT_EQ(row.integer(6), 0);
        EXPECT_EQ(row.integer(7), -3);
      },
      std::int64_t{-1'234'567'890'123}, -0.1, std::string("it's \"ä\""), blob,
      postgres::NullIfEmpty{""}, std::optional<std::uint32_t>()));
}

TEST_F(Postgres, AConnectionThatEndsBetweenTransactionsIsOpenedAgain) {
  const auto store = open();
  const auto reader = got(store->open_reader());
  commit(*store, [&] { done(show(*store, 0)); });
  for (std::uint64_t number = 1; number < 4; ++number) {
    end_connections();
    commit(*store, [&] { done(show(*store, number)); });
  }
  end_connections();
  EXPECT_EQ(got(reader->from(1, 0, 9)).size(), 4U);
  EXPECT_TRUE(has(*store, 3));
}

TEST_F(Postgres, AConnectionThatEndsInATransactionTakesThatAlone) {
  const auto store = open();
  commit(*store, [&] { done(show(*store, 0)); });
  done(store->begin());
  done(show(*store, 1));
  EXPECT_TRUE(has(*store, 1));
  end_connections();
  static_cast<void>(show(*store, 2));
  const auto committed = store->commit();
  ASSERT_FALSE(committed.ok());
  EXPECT_EQ(committed.error().code, ErrorCode::kUnavailable);
  store->roll_back();
  commit(*store, [&] { done(show(*store, 3)); });
  EXPECT_EQ(got(store->read().from(1, 0, 9)).size(), 2U);
  EXPECT_FALSE(has(*store, 1));
  EXPECT_FALSE(has(*store, 2));
}

TEST_F(Postgres, AServerThatCrashesAndComesBackHasAllThatWasCommitted) {
  PostgresServer own({.fsync = true});
  const std::string url = own.database("store");
  const auto store = got(open_postgres({.url = url}));
  const auto reader = got(store->open_reader());
  commit(*store, [&] { done(show(*store, 0)); });
  own.kill();
  EXPECT_EQ(store->begin().error().code, ErrorCode::kUnavailable);
  store->roll_back();
  EXPECT_EQ(reader->models().error().code, ErrorCode::kUnavailable);
  own.start();
  commit(*store, [&] { done(show(*store, 1)); });
  EXPECT_EQ(got(reader->from(1, 0, 9)).size(), 2U);
}

// Stands between a client and the server's socket, and can lose what passes.
class Proxy {
 public:
  enum class Loses { kNothing, kQuestions, kAnswers };

  // `server`: the path of its socket. Listens in `folder`.
  Proxy(std::string server, const testing::TemporaryFolder& folder, const std::string& port)
      : server_(std::move(server)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(folder / (".s.PGSQL." + port));
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::thread([this] { run(); });
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  // The next message that is to be lost ends the connection; later connections are sound.
  void lose(Loses what) { loses_ = what; }
  // Loses the questions that have this text, or their answers: the first one as the first of `all`
  // says, and so on.
  void lose_about(std::string text, std::vector<Loses> all) {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
    planned_ = std::move(all);
  }
  [[nodiscard]] std::size_t planned() const {
    const std::lock_guard lock(mutex_);
    return planned_.size();
  }

 private:
  static sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  // True if the connection goes on. `own`: what this one loses; another may still be told that it
  // has ended.
  bool pass(int from, int to, Loses kind, Loses& own) {
    char buffer[65536];
    const ssize_t size = ::read(from, buffer, sizeof buffer);
    if (size <= 0) return false;
    if (kind == Loses::kQuestions) plan({buffer, static_cast<std::size_t>(size)}, own);
    if (own == kind) return false;
    if (Loses lost = kind; loses_.compare_exchange_strong(lost, Loses::kNothing)) return false;
    return ::send(to, buffer, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  }
  void plan(std::string_view question, Loses& own) {
    const std::lock_guard lock(mutex_);
    if (planned_.empty() || question.find(text_) == std::string_view::npos) return;
    own = planned_.front();
    planned_.erase(planned_.begin());
  }
  void run() {
    std::vector<std::thread> connections;
    while (!stop_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 10) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      connections.emplace_back([this, client] { serve(client); });
    }
    for (std::thread& connection : connections) connection.join();
  }
  void serve(int client) {
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(server_);
    bool open = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    Loses own = Loses::kNothing;
    while (open && !stop_) {
      pollfd both[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
      if (::poll(both, 2, 10) <= 0) continue;
      if (both[0].revents != 0) open = pass(client, server, Loses::kQuestions, own);
      if (open && both[1].revents != 0) open = pass(server, client, Loses::kAnswers, own);
    }
    ::close(client);
    ::close(server);
  }

  std::string server_;
  int listener_;
  std::atomic<bool> stop_{false};
  std::atomic<Loses> loses_{Loses::kNothing};
  mutable std::mutex mutex_;
  std::string text_;
  std::vector<Loses> planned_;
  std::thread thread_;
};

TEST_F(Postgres, HostsBehindThoseThatCloseNewConnectionsAreTried) {
  static_cast<void>(open());
  const std::string server =
      PostgresServer::query(url_,
                            "SELECT current_setting('unix_socket_directories') || '/.s.PGSQL.' || "
                            "current_setting('port')")[0][0];
  const testing::TemporaryFolder folders[3];
  // The first two are proxies whose server is gone.
  const Proxy first(folders[0] / "nobody", folders[0], "5432");
  const Proxy second(folders[1] / "nobody", folders[1], "5432");
  const Proxy third(server, folders[2], "5432");
  const std::string gone = folders[0].path().string() + "," + folders[1].path().string() + ",";
  const std::string name = ask("SELECT current_database()");
  const auto read = [&](const std::string& hosts, const std::string& ports) {
    return read_postgres("postgresql:///" + name + "?user=postgres&host=" + hosts + ports +
                         "&target_session_attrs=read-write");
  };
  for (const char* ports : {"", "&port=5432", "&port=5432,,5432", "&port=,,"}) {
    const auto reader = read(gone + folders[2].path().string(), ports);
    ASSERT_TRUE(reader.ok()) << ports << ": " << reader.error().message;
    EXPECT_TRUE((*reader)->models().ok());
    // A failure tells of each.
    const std::string message = read(gone + "/nowhere", ports).error().message;
    for (const testing::TemporaryFolder* one : {&folders[0], &folders[1]}) {
      EXPECT_THAT(message, HasSubstr(one->path().string()));
    }
    EXPECT_THAT(message, HasSubstr("/nowhere"));
  }
}

TEST(Hosts, AreLeftBehindTheOneAtWhichLibpqIs) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = " port=" + std::to_string(ntohs(address.sin_port));
  // Names, addresses and ports; "none" if no host is left.
  const auto left = [](const std::string& options) -> std::string {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connecting(PQconnectStart(options.c_str()),
                                                                  PQfinish);
    const auto hosts = postgres::hosts_left(connecting.get());
    return hosts ? hosts->names + " " + hosts->addresses + " " + hosts->ports : "none";
  };
  EXPECT_EQ(left("host=127.0.0.1,b,c" + port), "b,c  ");
  EXPECT_EQ(left("host=127.0.0.1,b,c" + port + ",,7"), "b,c  5432,7");
  EXPECT_EQ(left("hostaddr=127.0.0.1,127.0.0.2" + port + ",7"), " 127.0.0.2 7");
  EXPECT_EQ(left("host=a,b hostaddr=127.0.0.1,127.0.0.2" + port), "b 127.0.0.2 ");
  // What libpq refuses, and what can't be told.
  EXPECT_EQ(left("host=127.0.0.1,b,c" + port + ",7"), "none");
  EXPECT_EQ(left("host=a,b,c hostaddr=127.0.0.1,127.0.0.2" + port), "none");
  EXPECT_EQ(left("host=a,localhost hostaddr=127.0.0.1," + port), "none");
  EXPECT_EQ(left("host=a, hostaddr=127.0.0.1,127.0.0.2" + port), "none");
  EXPECT_EQ(left("host=127.0.0.1" + port), "none");
  EXPECT_EQ(left("host=127.0.0.1," + port), "none");
  EXPECT_EQ(left("no=option"), "none");
  EXPECT_FALSE(postgres::hosts_left(nullptr));
  ::close(listener);
}

// With a store of one process, and with one of several.
class LostCommit : public Postgres, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Postgres::SetUp();
    if (IsSkipped()) return;
    const std::string folder = PostgresServer::query(url_, "SHOW unix_socket_directories")[0][0];
    const std::string port = PostgresServer::query(url_, "SHOW port")[0][0];
    proxy_ = std::make_unique<Proxy>(folder + "/.s.PGSQL." + port, folder_, port);
    const std::string name = PostgresServer::query(url_, "SELECT current_database()")[0][0];
    through_ = "postgresql:///" + name + "?user=postgres&host=" + folder_.path().string() +
               "&port=" + port;
  }
  [[nodiscard]] std::unique_ptr<Store> open_through() const {
    const bool shared = GetParam();
    auto store = got(open_postgres({.url = through_, .alone = !shared, .shared = shared}));
    if (shared) got(store->shared()->beat("west", {}));
    return store;
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<Proxy> proxy_;
  std::string through_;
};

TEST_P(LostCommit, ACommitWhoseAnswerIsLostIsFoundToHaveSucceeded) {
  const auto store = open_through();
  commit(*store, [&] { done(show(*store, 0)); });
  for (std::uint64_t number = 1; number < 4; ++number) {
    done(store->begin());
    done(show(*store, number));
    proxy_->lose(Proxy::Loses::kAnswers);
    done(store->commit());
    EXPECT_TRUE(has(*store, number));
  }
  commit(*store, [&] { done(show(*store, 9)); });
  EXPECT_EQ(ask("SELECT count(*) FROM impressions"), "5");
}

TEST_P(LostCommit, ACommitThatNeverArrivedIsFoundToHaveFailed) {
  const auto store = open_through();
  commit(*store, [&] { done(show(*store, 0)); });
  done(store->begin());
  done(show(*store, 1));
  proxy_->lose(Proxy::Loses::kQuestions);
  EXPECT_EQ(store->commit().error().code, ErrorCode::kUnavailable);
  store->roll_back();
  commit(*store, [&] { done(show(*store, 2)); });
  EXPECT_FALSE(has(*store, 1));
  EXPECT_TRUE(has(*store, 2));
}

// A new connection replaces the mark of the last transaction by this.
constexpr const char* kNewMark = "UPDATE store_nodes SET committed = $2 WHERE";

TEST_P(LostCommit, AStoreGoesOnIfNewConnectionsAreLostToo) {
  const auto store = open_through();
  commit(*store, [&] { done(show(*store, 0)); });
  using Loses = Proxy::Loses;
  for (const auto& losses : std::vector<std::vector<Loses>>{
           {Loses::kAnswers, Loses::kQuestions},
           {Loses::kAnswers, Loses::kAnswers, Loses::kAnswers},
           {Loses::kQuestions, Loses::kAnswers, Loses::kQuestions, Loses::kQuestions}}) {
    proxy_->lose_about(kNewMark, losses);
    end_connections();
    EXPECT_TRUE(testing::eventually([&] {
      const bool begun = store->begin().ok();
      store->roll_back();
      return begun || !store->beyond_repair().empty();
    }));
    EXPECT_EQ(proxy_->planned(), 0U);
    EXPECT_EQ(store->beyond_repair(), "");
  }
  commit(*store, [&] { done(show(*store, 1)); });
  EXPECT_EQ(ask("SELECT count(*) FROM impressions"), "2");
}

TEST_P(LostCommit, ACommitIsFoundEvenIfNewConnectionsAreLostToo) {
  const auto store = open_through();
  commit(*store, [&] { done(show(*store, 0)); });
  done(store->begin());
  done(show(*store, 1));
  proxy_->lose(Proxy::Loses::kAnswers);
  proxy_->lose_about(kNewMark, {Proxy::Loses::kAnswers, Proxy::Loses::kQuestions});
  done(store->commit());
  EXPECT_EQ(proxy_->planned(), 0U);
  EXPECT_EQ(store->beyond_repair(), "");
  commit(*store, [&] { done(show(*store, 2)); });
  EXPECT_EQ(ask("SELECT count(*) FROM impressions"), "3");
}

INSTANTIATE_TEST_SUITE_P(Stores, LostCommit, ::testing::Bool(),
                         [](const auto& shared) { return shared.param ? "shared" : "alone"; });

// A server whose commits wait for a standby that is not there.
class NoStandby : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << PostgresServer::kMissing;
    server_ = std::make_unique<PostgresServer>(PostgresServer::Options{.fsync = false});
    url_ = server_->database("store");
    store_ = got(open_postgres({.url = url_}));
    wait_for("absent");
  }
  // For the standby of this name; for none if it is empty.
  void wait_for(const std::string& standby) const {
    PostgresServer::query(url_, "ALTER SYSTEM SET synchronous_standby_names = '" + standby + "'");
    PostgresServer::query(url_, "SELECT pg_reload_conf()");
  }
  // The server's processes whose commit waits for the standby.
  [[nodiscard]] std::vector<std::string> waiting() const {
    std::vector<std::string> processes;
    for (const auto& row :
         PostgresServer::query(url_,
                               "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND "
                               "backend_type = 'client backend'")) {
      processes.push_back(row[0]);
    }
    return processes;
  }
  // Ends the wait of a commit as soon as there is one, as an operator would.
  void end_a_wait() const {
    ASSERT_TRUE(testing::eventually([&] { return !waiting().empty(); }));
    const std::string process = waiting()[0];
    PostgresServer::query(url_, "SELECT pg_cancel_backend(" + process + ")");
    EXPECT_TRUE(testing::eventually([&] {
      const auto now = waiting();
      return std::find(now.begin(), now.end(), process) == now.end();
    }));
  }

  std::unique_ptr<PostgresServer> server_;
  std::string url_;
  std::unique_ptr<Store> store_;
};

TEST_F(NoStandby, ACommitThatIsNotWaitedForSucceedsOnceALaterOneWas) {
  std::atomic<bool> is_known{false};  // the server knows that it must wait
  std::atomic<int> succeeded{0};
  std::thread writer([&] {
    for (std::uint64_t number = 0; !is_known; ++number) {
      done(store_->begin());
      done(store_->insert_impression({.id = ImpressionKey{1, number}.id()}));
      done(store_->commit());
      ++succeeded;
    }
  });
  EXPECT_TRUE(testing::eventually([&] { return !waiting().empty(); }));
  is_known = true;
  const int before = succeeded;
  for (int times = 0; times < 3 && succeeded == before; ++times) end_a_wait();
  EXPECT_TRUE(testing::eventually([&] { return succeeded > before || !waiting().empty(); }));
  EXPECT_EQ(succeeded, before) << "no standby has it";
  wait_for("");
  writer.join();
  EXPECT_EQ(succeeded, before + 1);
  EXPECT_EQ(PostgresServer::query(url_, "SELECT count(*) FROM impressions")[0][0],
            std::to_string(succeeded));
}

TEST_F(Postgres, OneProcessServesAStoreUnlessItShares) {
  auto first = open();
  const auto second = open_postgres({.url = url_});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr("another plackett serves this store"));
  first.reset();
  EXPECT_TRUE(testing::eventually([&] { return open_postgres({.url = url_}).ok(); }));
}

TEST_F(Postgres, TwoProcessesThatWriteAsOneNodeAreFoundOut) {
  const auto first = open(1, false);
  commit(*first, [&] { done(show(*first, 0)); });
  const auto second = open(1, false);
  done(first->begin());
  done(show(*first, 1));
  EXPECT_THAT(first->commit().error().message, HasSubstr("as node 1"));
  first->roll_back();
  EXPECT_FALSE(first->begin().ok());
  commit(*second, [&] { done(show(*second, 2)); });
  EXPECT_FALSE(has(*second, 1));
}

TEST_F(Postgres, AStoreThatLacksAllSinceItWasOpenedIsFoundOut) {
  const auto mark = [&] { return ask("SELECT committed FROM store_nodes WHERE node = 1"); };
  for (const bool is_lost : {false, true}) {
    const auto store = open(1, false);
    const std::string opened = mark();
    commit(*store, [&] { done(show(*store, is_lost ? 1 : 0)); });
    ASSERT_NE(mark(), opened);
    if (is_lost) PostgresServer::query(url_, "UPDATE store_nodes SET committed = " + opened);
    end_connections();
    EXPECT_EQ(store->begin().ok(), !is_lost);
    EXPECT_EQ(store->beyond_repair().empty(), !is_lost);
    store->roll_back();
  }
}

TEST_F(Postgres, SeveralProcessesMayStartAtOnceOnAnEmptyDatabase) {
  std::vector<std::thread> threads;
  std::atomic<int> opened{0};
  for (std::int64_t node = 0; node < 4; ++node) {
    threads.emplace_back([&, node] {
      const auto store = open_postgres({.url = url_, .node = node, .alone = false});
      EXPECT_TRUE(store.ok()) << (store ? "" : store.error().message);
      if (store) ++opened;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 4);
  EXPECT_EQ(ask("SELECT count(*) FROM store_format"), "1");
}

TEST_F(Postgres, NodesAddToTheSameSumsAtTheSameTime) {
  constexpr int kTransactions = 50;
  std::vector<std::unique_ptr<Store>> stores;
  for (std::int64_t node = 1; node <= 2; ++node) stores.push_back(open(node, false));
  std::vector<std::thread> threads;
  for (const auto& store : stores) {
    threads.emplace_back([&store = *store] {
      for (int at = 0; at < kTransactions; ++at) {
        commit(store, [&] {
          done(store.add_to_series(1, {.at = at % 3, .impressions = 2, .entropies = 0.5}));
          done(store.add_to_arm(7, 1, {.impressions = 1, .clicks = 1, .units = {.units = 1}}));
          const auto totals = got(store.read().unit_totals(7, 5));
          done(store.set_unit_totals(7, 5, {totals.x + 1, totals.y + 2}));
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Store& store = *stores[0];
  EXPECT_EQ(got(store.read().series_total(1, 0, 10)).impressions, 4U * kTransactions);
  EXPECT_EQ(got(store.read().series(1, 1)).size(), 3U);
  EXPECT_EQ(got(store.read().arm_sums(7))[1].clicks, 2U * kTransactions);
  EXPECT_EQ(got(store.read().unit_totals(7, 5)),
            (UnitTotals{2.0 * kTransactions, 4.0 * kTransactions}));
  EXPECT_EQ(ask("SELECT count(*) || ' ' || sum(impressions) FROM series"), "3 200");
  EXPECT_EQ(ask("SELECT count(*) || ' ' || sum(clicks) FROM experiment_arms"), "1 100");
  EXPECT_EQ(ask("SELECT count(*) FROM series_parts"), "6");
  commit(store, [&] { done(store.coarsen_series(1, 100, 10)); });
  EXPECT_EQ(got(store.read().series_total(1, 0, 10)).impressions, 4U * kTransactions);
  EXPECT_EQ(got(store.read().series(1, 1)).size(), 1U);
}

TEST_F(Postgres, LogNumbersIncreaseOverProcessesOnceReservedOnesAreDiscarded) {
  const auto first = open(1, false);
  const auto second = open(2, false);
  std::int64_t last = 0;
  for (int times = 0; times < 3; ++times) {
    for (Store* store : {first.get(), second.get()}) {
      commit(*store, [&] {
        store->discard_reserved();
        for (int entries = 0; entries < 2; ++entries) {
          const std::int64_t seq = got(store->append_log({.model = 1}, 5)).seq;
          EXPECT_GT(seq, last);
          last = seq;
        }
      });
    }
  }
}

TEST_F(Postgres, AnIdThatIsTakenRefusesOneListAlone) {
  const auto store = open();
  commit(*store, [&] {
    const auto give = [&](std::uint64_t number) {
      return store->insert_impression({.id = ImpressionKey{1, number}.id(), .given = "own"});
    };
    done(give(0));
    EXPECT_EQ(give(1).error().code, ErrorCode::kConflict);
    done(show(*store, 2));
  });
  EXPECT_THAT(got(store->read().from(1, 0, 9)),
              ElementsAre(ImpressionKey{1, 0}.id(), ImpressionKey{1, 2}.id()));
}

TEST_F(Postgres, WhatNodesAddAfterAModelWasDeletedIsDropped) {
  const auto store = got(open_postgres({.url = url_, .shared = true}));
  serving::SharedStore& shared = *store->shared();
  got(shared.beat("west", {}));
  std::int64_t model = 0;
  commit(*store, [&] { model = got(store->insert_model({.name = "m", .spec = "{}"})); });
  commit(*store, [&] { done(store->delete_model(model)); });
  EXPECT_TRUE(got(store->read().deleted_models()).empty());
  const char* tables[] = {"leads", "queued_log", "number_blocks", "removed_items"};
  const auto add = [&](const std::string& table) {
    if (table == "leads") return void(got(shared.lead(model)));
    if (table == "number_blocks") {
      return void(ask("INSERT INTO number_blocks VALUES(1, 1, 0, 64, 0) RETURNING 1"));
    }
    commit(*store, [&] {
      if (table == "queued_log") return done(store->queue_log({.model = model, .argument = 1}, 5));
      got(store->put_item(model, "x", {}, 0));
      got(store->delete_item(model, "x", 0));
    });
  };
  const auto drop = [&] {
    for (bool all = false; !all;) commit(*store, [&] { all = got(store->drop_rows(model, 100)); });
  };
  for (const std::string table : tables) {
    add(table);
    EXPECT_THAT(got(store->read().deleted_models()), ElementsAre(model)) << table;
    drop();
    EXPECT_EQ(ask("SELECT count(*) FROM " + table), "0") << table;
    EXPECT_TRUE(got(store->read().deleted_models()).empty()) << table;
  }
}

TEST_F(Postgres, AProcessIsNoSecondNodeIfTheAnswerToItsJoinWasLost) {
  const auto store = got(open_postgres({.url = url_, .alone = false, .shared = true}));
  const auto other = got(open_postgres({.url = url_, .alone = false, .shared = true}));
  const std::int64_t first = got(store->shared()->beat("west", {})).node;
  got(other->shared()->beat("east", {}));
  // As if it had joined with another number, and had not been told.
  PostgresServer::query(url_, "UPDATE nodes SET id = -1 WHERE name = 'west'");
  EXPECT_GT(got(store->shared()->beat("west", {})).node, first);
  EXPECT_EQ(ask("SELECT string_agg(name, ' ' ORDER BY name) FROM nodes"), "east west");
}

TEST_F(Postgres, AnOlderStateDoesNotReplaceANewerOne) {
  const auto store = got(open_postgres({.url = url_, .shared = true}));
  serving::SharedStore& shared = *store->shared();
  got(shared.beat("west", {}));
  std::int64_t model = 0;
  commit(*store, [&] { model = got(store->insert_model({.name = "m", .spec = "{}"})); });
  const std::int64_t epoch = got(shared.lead(model)).value();
  const auto publish = [&](std::int64_t log) {
    return got(shared.publish({.model = model, .log = log, .version = 1}, epoch));
  };
  EXPECT_TRUE(publish(5));
  EXPECT_TRUE(publish(9));
  EXPECT_FALSE(publish(8));
  EXPECT_EQ(got(shared.published(model, 0))->log, 9);
  EXPECT_TRUE(publish(9));
  EXPECT_FALSE(got(shared.publish({.model = model, .log = 10, .version = 1}, epoch - 1)));
  EXPECT_EQ(got(shared.published(model, 0))->log, 9);
}

TEST_F(Postgres, ANodeHearsOnceWhatItWasToldOften) {
  using serving::ClusterNote;
  const auto west = got(open_postgres({.url = url_, .alone = false, .shared = true}));
  const auto east = got(open_postgres({.url = url_, .alone = false, .shared = true}));
  got(west->shared()->beat("west", {}));
  got(east->shared()->beat("east", {}));
  const ClusterNote published{ClusterNote::Kind::kPublished, 7};
  const ClusterNote queued{ClusterNote::Kind::kQueued, 7};
  const ClusterNote other{ClusterNote::Kind::kPublished, 8};
  for (int times = 0; times < 20; ++times) done(west->shared()->tell({published, queued}));
  done(west->shared()->tell({other}));
  got(east->shared()->beat("east", {}));  // all of them are here
  EXPECT_THAT(got(east->shared()->wait(std::chrono::seconds(5))),
              ElementsAre(published, queued, other));
}

// Two nodes, of which the first leads a model.
class TwoNodes : public Postgres {
 protected:
  void SetUp() override {
    Postgres::SetUp();
    if (IsSkipped()) return;
    west_ = open_node("west");
    east_ = open_node("east");
    commit(*west_, [&] { model_ = got(west_->insert_model({.name = "m", .spec = "{}"})); });
    epoch_ = got(west_->shared()->lead(model_)).value();
    east_->discard_reserved();
  }
  [[nodiscard]] std::unique_ptr<Store> open_node(const std::string& name) const {
    auto store = got(open_postgres({.url = url_, .alone = false, .shared = true}));
    got(store->shared()->beat(name, {}));
    return store;
  }
  // A transaction of the leader, up to its commit.
  void begin_to_log(std::int64_t list) {
    done(west_->begin());
    got(west_->append_log({.model = model_, .argument = list}, 5));
    done(west_->fence(model_, epoch_));
  }
  [[nodiscard]] std::string logged() const {
    return ask("SELECT coalesce(string_agg(argument::text, ' ' ORDER BY seq), '') FROM log");
  }

  std::unique_ptr<Store> west_;
  std::unique_ptr<Store> east_;
  std::int64_t model_ = 0;
  std::int64_t epoch_ = 0;
};

TEST_F(TwoNodes, ALeaderThatWasReplacedCantCommit) {
  begin_to_log(1);
  done(west_->commit());
  begin_to_log(2);
  done(west_->shared()->release(model_));  // as if its connection had ended
  EXPECT_EQ(got(east_->shared()->lead(model_)), epoch_ + 1);
  EXPECT_FALSE(west_->commit().ok());
  EXPECT_EQ(west_->obstacle(), serving::Obstacle::kFenced);
  west_->roll_back();
  EXPECT_EQ(logged(), "1");
  // Nor with a later transaction.
  begin_to_log(3);
  EXPECT_FALSE(west_->commit().ok());
  EXPECT_EQ(west_->obstacle(), serving::Obstacle::kFenced);
  west_->roll_back();
  // It goes on as a node that does not lead.
  commit(*west_, [&] { done(show(*west_, 0)); });
  commit(*east_, [&] {
    got(east_->append_log({.model = model_, .argument = 4}, 5));
    done(east_->fence(model_, epoch_ + 1));
  });
  EXPECT_EQ(logged(), "1 4");
}

TEST_F(TwoNodes, ANewLeaderWaitsForTheCommitOfTheOneBefore) {
  begin_to_log(1);
  got(west_->read().models());  // sends what is queued
  done(west_->shared()->release(model_));
  std::atomic<bool> leads{false};
  std::thread taking([&] {
    EXPECT_EQ(got(east_->shared()->lead(model_)), epoch_ + 1);
    leads = true;
  });
  const bool waits = testing::eventually([&] {
    return ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
  });
  EXPECT_TRUE(waits);
  EXPECT_FALSE(leads);
  done(west_->commit());
  taking.join();
  EXPECT_EQ(logged(), "1");
}

TEST_F(TwoNodes, ANodeThatWasEndedGoesOnOnlyIfItsLastTransactionIsThere) {
  for (const bool is_lost : {false, true}) {
    commit(*west_, [&] { done(show(*west_, is_lost ? 1 : 0)); });
    const std::int64_t node = west_->shared()->node();
    done(east_->shared()->end_node(node));
    if (is_lost) {
      PostgresServer::query(url_, "UPDATE store_nodes SET committed = committed - 1 WHERE node = " +
                                      std::to_string(node));
    }
    EXPECT_TRUE(testing::eventually([&] {
      const auto joined = west_->shared()->beat("west", {});
      return joined.ok() && joined->node != node;
    }));
    EXPECT_TRUE(testing::eventually([&] {
      const bool begun = west_->begin().ok();
      west_->roll_back();
      return is_lost ? !west_->beyond_repair().empty() : begun;
    }));
    EXPECT_EQ(west_->begin().ok(), !is_lost);
    west_->roll_back();
  }
  EXPECT_THAT(west_->beyond_repair(), HasSubstr("restart the service"));
}

TEST_F(TwoNodes, ADeletionDoesNotWaitForALeaderThatWaitsForIt) {
  commit(*east_, [&] { done(east_->queue_log({.model = model_, .argument = 1}, 5)); });
  done(west_->begin());
  EXPECT_EQ(got(west_->take_queued(model_, 10)).size(), 1);
  std::thread deleting([&] { commit(*east_, [&] { done(east_->delete_model(model_)); }); });
  EXPECT_TRUE(testing::eventually([&] {
    return ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "1";
  }));
  done(west_->fence(model_, epoch_));
  done(west_->commit());
  deleting.join();
  EXPECT_EQ(ask("SELECT count(*) FROM leads"), "0");
}

TEST_F(TwoNodes, AReplacedItemCanBeReadWhileListsMayReferToIt) {
  std::int64_t old = 0;
  std::int64_t present = 0;
  serving::NumberBlock block;
  commit(*east_, [&] { block = got(east_->reserve_numbers(model_, 1000)); });
  for (std::int64_t* version : {&old, &present}) {
    commit(*west_, [&] {
      done(west_->change_model(model_));
      *version = got(west_->put_item(model_, "x", std::vector<std::byte>(4), 0));
    });
  }
  commit(*west_, [&] { done(west_->drop_impressions(model_, block.end)); });
  EXPECT_TRUE(got(east_->read().item_version(old)));
  commit(*west_, [&] { done(west_->drop_impressions(model_, block.end + 1'000'000)); });
  EXPECT_FALSE(got(east_->read().item_version(old)));
  EXPECT_TRUE(got(east_->read().item_version(present)));
}

TEST_F(Postgres, ListsThatWereReadAheadAreNotReadAgain) {
  const auto store = open();
  commit(*store, [&] {
    done(show(*store, 0));
    done(store->set_response(ImpressionKey{1, 0}.id(), {.closed = serving::Closed::kLearned}));
  });
  const auto reader = got(store->open_reader());
  const std::int64_t ids[] = {ImpressionKey{1, 0}.id(), ImpressionKey{1, 1}.id()};
  done(reader->read_ahead(ids));
  PostgresServer::query(url_, "DELETE FROM impressions");
  PostgresServer::query(url_, "DELETE FROM responses");
  EXPECT_TRUE(got(reader->impression(ids[0])).has_value());
  EXPECT_EQ(got(reader->response(ids[0]))->closed, serving::Closed::kLearned);
  EXPECT_FALSE(got(reader->impression(ids[1])).has_value());
  done(reader->read_ahead({}));
  EXPECT_FALSE(got(reader->impression(ids[0])).has_value());
}

TEST_F(Postgres, UsedBytesFallWhenListsAreDroppedAndTheFilesWithAVacuum) {
  const auto store = open();
  commit(*store, [&] {
    for (std::uint64_t number = 0; number < 1000; ++number) done(show(*store, number, 8000));
  });
  const std::uint64_t before = got(store->used_bytes());
  const std::uint64_t disk = store->disk_bytes();
  EXPECT_GT(before, 8'000'000U);
  EXPECT_LT(before, disk * 11 / 10);
  commit(*store, [&] { done(store->drop_impressions(1, 900)); });
  EXPECT_LT(got(store->used_bytes()), before / 8);
  EXPECT_GE(store->disk_bytes(), disk);
  done(store->vacuum());
  static_cast<void>(got(store->used_bytes()));
  EXPECT_LT(store->disk_bytes(), disk / 4);
}

TEST_F(Postgres, AVacuumGivesUpIfSomeoneReadsForLong) {
  const auto store = open();
  const auto reading = connect();
  done(reading->begin());
  got(reading->integer("SELECT count(*) FROM impressions"));
  EXPECT_EQ(store->vacuum().error().code, ErrorCode::kConflict);
  done(reading->commit());
  done(store->vacuum());
}

TEST_F(Postgres, StoresOfOtherVersionsAreRefused) {
  EXPECT_THAT(read_postgres(url_).error().message, HasSubstr("not a plackett store"));
  static_cast<void>(open());
  PostgresServer::query(url_, "UPDATE store_format SET version = 99");
  EXPECT_THAT(read_postgres(url_).error().message, HasSubstr("a store of version 99"));
  EXPECT_THAT(open_postgres({.url = url_}).error().message, HasSubstr("reads version 4"));
}

TEST_F(Postgres, TheTablesAreInTheSchemaThatTheUrlNames) {
  PostgresServer::query(url_, "CREATE SCHEMA other");
  const std::string url = url_ + "&options=-csearch_path%3Dother";
  const auto in_other = got(open_postgres({.url = url}));
  const auto in_public = open();
  commit(*in_other, [&] { got(in_other->insert_model({.name = "m", .spec = "{}"})); });
  EXPECT_EQ(ask("SELECT count(*) FROM other.models"), "1");
  EXPECT_EQ(ask("SELECT count(*) FROM models"), "0");
}

TEST_F(Postgres, NamesOfStoresAreFilesOrUrls) {
  for (const char* file : {"plackett.db", "a=b.db", "./host=x", "folder/mysql://x", "localhost.db",
                           "c:store", "://x"}) {
    EXPECT_TRUE(check_name(file).ok()) << file;
    EXPECT_EQ(shown_name(file), file);
    EXPECT_FALSE(is_postgres(file));
  }
  for (const char* url : {"postgresql://h/db", "postgres://h/db", "PostgreSQL://h/db"}) {
    EXPECT_TRUE(check_name(url).ok()) << url;
    EXPECT_TRUE(is_postgres(url)) << url;
  }
  for (const char* other : {"", "mysql://h/db", "postgresql:/h/db", "host=h", "a b dbname =x"}) {
    EXPECT_FALSE(check_name(other).ok()) << other;
  }
  const std::string url = "POSTGRESQL" + url_.substr(url_.find("://"));
  EXPECT_TRUE(open_store(url).ok());
}

TEST_F(Postgres, ReadersCantWrite) {
  static_cast<void>(open());
  const auto connection = got(Connection::open({.url = url_, .read_only = true}));
  const auto written = connection->run("DELETE FROM models");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(connection->state(), "25006");
}

TEST_F(Postgres, MessagesNeverHaveThePassword) {
  const std::string name = PostgresServer::query(url_, "SELECT current_database()")[0][0];
  std::vector<std::string> urls = {
      server().tcp_url(name, "hush1"),
      "postgresql://u:hush@127.0.0.1:1/db",
      "postgresql://u:hu@hush@127.0.0.1:1/db",
      "postgresql://u:hu/hush@127.0.0.1:1/db",
      "postgresql://u:hu?hush@127.0.0.1:1/db",
      "postgresql://u:hu#hush@127.0.0.1:1/db",
      "postgresql://u:hush%zz@127.0.0.1:1/db",
      "postgresql://u:hush@127.0.0.1:x/db",
      "postgresql://127.0.0.1:1/db?user=u&password=hush",
      "postgresql://127.0.0.1:1/db?user=u&pass%77ord=hush",
      "postgresql://127.0.0.1:1/db?user=u&passwort=hush&sslpassword=hush",
      "postgresql://u:hush@no.such.host.invalid/db",
      "postgres://u:hush",
      "POSTGRESQL://u:hush@127.0.0.1:1/db",
      "postgresql:u:hush@127.0.0.1:1/db",
      "mysql://u:hush@127.0.0.1:1/db",
      "jdbc:postgresql://u:hush@127.0.0.1:1/db",
      "host=127.0.0.1 port=1 password=hush",
      "DBNAME = x password = hush"};
  for (const std::string& url : urls) {
    const auto opened = open_store(url);
    ASSERT_FALSE(opened.ok()) << url;
    EXPECT_THAT(opened.error().message, Not(HasSubstr("hush"))) << url;
    EXPECT_THAT(read_store(url).error().message, Not(HasSubstr("hush"))) << url;
    EXPECT_THAT(shown_name(url), Not(HasSubstr("hush"))) << url;
  }
  EXPECT_EQ(shown_name("postgresql://u:hush@h:1/db?sslmode=require"),
            "postgresql://u:***@h:1/db?sslmode=require");
  EXPECT_EQ(shown_name("plackett.db"), "plackett.db");
  EXPECT_TRUE(open_store(server().tcp_url(name, PostgresServer::kPassword)).ok());
}

// What both kinds of stores are filled with.
void fill(Store& store) {
  done(store.begin());
  const std::int64_t model = got(store.insert_model(
      {.name = "m",
       .created_at = 1,
       .spec = R"({"events":{"purchase":5,"save \"it\"":0.25},"open_seconds":1000000000})"}));
  done(store.set_model_marks({.id = model, .next_number = 100, .expired = 2}));
  const std::int64_t experiment =
      got(store.insert_experiment({.model = model, .name = "test", .started_at = 3}));
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
  };
  for (std::uint64_t number = 0; number < 6; ++number) {
    const std::int64_t id = ImpressionKey{model, number}.id();
    done(store.insert_impression(
        {.id = id,
         .shown_at = 1'700'000'000'999 + static_cast<std::int64_t>(number) * 86'400'000,
         .version = number,
         .given = number == 3 ? "own \"3\"" : "",
         .unit = number % 2 == 0 ? "user ä" : "",
         .mode = static_cast<serving::Mode>(number % 4),
         .keep = 0.25,
         .kept = number == 1,
         .shown = number == 5 ? ""
                              : R"([["a",0.1,0.33333333333333331],["b \"2\" é\u00e9",-1e-07,1],)"
                                R"([null,3,0.5,1]])",
         .context = number == 2 ? R"({"q":1})" : "",
         .data = bytes({1}),
         .in = number == 4 ? serving::ArmOfList{experiment, "new", ""} : serving::ArmOfList{}}));
    if (number == 0) continue;
    done(store.set_response(id, {bytes({0, 1, 1}), bytes({1, 0, 1}),
                                 number == 3 ? serving::Closed::kLearned : serving::Closed::kNo}));
    using Kind = serving::EventKind;
    done(store.add_event({id, 1, Kind::kClick, 1'700'000'000'000, "e" + std::to_string(number)}));
    done(store.add_event({id, 0, Kind::kView, 1'700'000'001'000, ""}));
    done(store.add_event({id, {}, Kind::kClose, 1'700'000'002'000, ""}));
    done(store.add_event({id, 1, Kind::kNamed, 1'700'000'003'000, "", "purchase"}));
    done(store.add_event({id, 1, Kind::kNamed, 1'700'000'003'000, "", "purchase"}));
    done(store.add_event({id, 2, Kind::kNamed, 1'700'000'003'000, "", "unknown"}));
  }
  done(store.commit());
}

PostgresServer::Rows rows_of_file(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
  PostgresServer::Rows rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    rows.emplace_back();
    for (int column = 0; column < sqlite3_column_count(statement); ++column) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      rows.back().emplace_back(text == nullptr ? "NULL" : text);
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

// Whether they are the same text, or the same number to 14 digits.
bool is_same(const std::string& one, const std::string& other) {
  if (one == other) return true;
  char* one_end = nullptr;
  char* other_end = nullptr;
  const double a = std::strtod(one.c_str(), &one_end);
  const double b = std::strtod(other.c_str(), &other_end);
  return !one.empty() && !other.empty() && *one_end == 0 && *other_end == 0 &&
         std::abs(a - b) <= 1e-14 * std::abs(a);
}

TEST_F(Postgres, TheViewsShowWhatThoseOfAFileShow) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "store.db";
  fill(*got(open_sqlite({.path = path})));
  fill(*open());
  const std::pair<std::string, std::string> queries[] = {
      {"SELECT * FROM shown_items ORDER BY version, rank", "15"},
      {"SELECT * FROM item_events ORDER BY impression, at, event, rank", "24"}};
  for (const auto& [sql, count] : queries) {
    const auto file = rows_of_file(path, sql);
    const auto server = PostgresServer::query(url_, sql);
    EXPECT_EQ(std::to_string(file.size()), count);
    ASSERT_EQ(file.size(), server.size());
    for (std::size_t row = 0; row < file.size(); ++row) {
      ASSERT_EQ(file[row].size(), server[row].size());
      for (std::size_t column = 0; column < file[row].size(); ++column) {
        EXPECT_TRUE(is_same(file[row][column], server[row][column]))
            << sql << ", row " << row << ", column " << column << ": " << file[row][column]
            << " and " << server[row][column];
      }
    }
  }
}

TEST_F(Postgres, AListWhoseTimeIsUpIsShownAsClosed) {
  fill(*open());
  PostgresServer::query(url_, "UPDATE models SET spec = '{\"open_seconds\":60}'");
  EXPECT_EQ(ask("SELECT min(closed) FROM shown_items"), "1");
}

}  // namespace
}  // namespace plackett::store
