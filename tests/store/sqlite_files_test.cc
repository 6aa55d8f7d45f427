// The files of the SQLite store: one server at a time whatever name leads to them, and no success
// once they are gone.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite/sqlite_store.h"
#include "support/run_command.h"

namespace plackett::store {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class SqliteFiles : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path(const char* name = "store.db") const { return folder_ / name; }
  static std::unique_ptr<serving::Store> open(const fs::path& path) {
    auto opened = open_sqlite({.path = path});
    EXPECT_TRUE(opened.ok()) << (opened ? "" : opened.error().message);
    return opened ? *std::move(opened) : nullptr;
  }
  static Error refusal(const fs::path& path) {
    auto opened = open_sqlite({.path = path});
    EXPECT_FALSE(opened.ok());
    return opened ? Error{} : opened.error();
  }
  // A transaction that adds a model.
  static Result<void> add_model(serving::Store& store, const char* name) {
    auto done = store.begin();
    if (done) {
      auto added = store.insert_model({.name = name});
      done = added ? store.commit() : added.error();
    }
    if (!done) store.roll_back();
    return done;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(SqliteFiles, LinksLeadToTheSameLock) {
  const auto store = open(path());
  fs::create_hard_link(path(), path("hard.db"));
  fs::create_symlink(path(), path("soft.db"));
  for (const char* name : {"store.db", "hard.db", "soft.db"}) {
    const Error error = refusal(path(name));
    EXPECT_EQ(error.code, ErrorCode::kConflict) << name;
    EXPECT_THAT(error.message, HasSubstr(std::string(name) + ": another plackett serves"));
  }
  EXPECT_TRUE(add_model(*store, "m").ok());
}

TEST_F(SqliteFiles, ASymbolicLinkUsesTheFilesOwnLog) {
  fs::create_symlink(path(), path("soft.db"));
  ASSERT_TRUE(add_model(*open(path("soft.db")), "m").ok());
  EXPECT_EQ(open(path())->read().models()->size(), 1U);
}

// What was committed may be in a log beside the other name only.
TEST_F(SqliteFiles, AHardLinkWithoutALogIsRefused) {
  const auto store = open(path());
  ASSERT_TRUE(add_model(*store, "m").ok());
  fs::copy(path(), path("crashed.db"));
  fs::copy(path("store.db-wal"), path("crashed.db-wal"));
  fs::create_hard_link(path("crashed.db"), path("hard.db"));
  EXPECT_THAT(refusal(path("hard.db")).message, HasSubstr("hard links"));
  EXPECT_EQ(open(path("crashed.db"))->read().models()->size(), 1U);
}

TEST_F(SqliteFiles, NothingIsCommittedOnceAFileIsGone) {
  for (const char* gone : {"store.db", "store.db-wal"}) {
    auto store = open(path());
    fs::rename(path(gone), path("elsewhere"));
    const auto refused = add_model(*store, "lost");
    ASSERT_FALSE(refused.ok()) << gone;
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("removed or replaced"));
    std::ofstream(path(gone)) << "";
    EXPECT_FALSE(add_model(*store, "lost").ok()) << "another file of the same name";
    fs::rename(path("elsewhere"), path(gone));
    EXPECT_TRUE(add_model(*store, gone).ok()) << "it is back";

    // Gone while a transaction is open: whether the commit is there is not known.
    ASSERT_TRUE(store->begin().ok());
    ASSERT_TRUE(store->append_log({.model = 1, .kind = serving::LogKind::kFreeze}, 7).ok());
    fs::rename(path(gone), path("elsewhere"));
    EXPECT_FALSE(store->commit().ok()) << gone;
    store->roll_back();
    fs::rename(path("elsewhere"), path(gone));
    EXPECT_FALSE(store->begin().ok()) << "until it is opened again";
    store.reset();
    store = open(path());
    ASSERT_TRUE(store->begin().ok());
    EXPECT_TRUE(store->append_log({.model = 1, .kind = serving::LogKind::kResume}, 8).ok());
    EXPECT_TRUE(store->commit().ok());
    store.reset();
  }
}

// A vacuum that could not empty the log, since another program read the store.
TEST_F(SqliteFiles, ALogThatACrashLeftIsEmptied) {
  const auto store = open(path());
  ASSERT_TRUE(add_model(*store, "DELETED-WORD").ok());
  ASSERT_TRUE(store->begin().ok());
  ASSERT_TRUE(store->delete_model(1).ok());
  ASSERT_TRUE(store->commit().ok());
  fs::copy(path(), path("crashed.db"));
  fs::copy(path("store.db-wal"), path("crashed.db-wal"));
  const auto word_is_left = [&] {
    return testing::slurp(path("crashed.db-wal")).find("DELETED-WORD") != std::string::npos;
  };
  ASSERT_TRUE(word_is_left());
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path("crashed.db").c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "BEGIN; SELECT * FROM models", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const auto again = open(path("crashed.db"));
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(word_is_left());
  sqlite3_close(reader);
  again->tidy();
  EXPECT_FALSE(word_is_left());
}

TEST_F(SqliteFiles, APipeIsRefused) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(refusal(path()).message, HasSubstr("not a regular file"));
  EXPECT_THAT(read_sqlite(path()).error().message, HasSubstr("not a regular file"));
}

TEST_F(SqliteFiles, ErrorsWhileItIsServedDontNameThePath) {
  const auto store = open(path());
  ASSERT_TRUE(store->begin().ok());
  ASSERT_TRUE(store->insert_model({.name = "m"}).ok());
  const auto again = store->insert_model({.name = "m"});
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, ::testing::Not(HasSubstr(folder_.path().string())));
}

}  // namespace
}  // namespace plackett::store
