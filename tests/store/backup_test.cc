// Copies of a store. What a served one gives is tested in tests/http/backup_test.cc.
#include "store/sqlite/backup.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "store/sqlite/sqlite_store.h"
#include "support/run_command.h"

namespace plackett::store {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::slurp;

// A store of two models with impressions and items, which hold the model's word; the second model
// is deleted, and its rows are still there.
void make_store(const fs::path& path) {
  auto opened = open_sqlite({.path = path});
  ASSERT_TRUE(opened.ok());
  serving::Store& store = **opened;
  for (const std::string word : {"KEPT-WORD", "DELETED-WORD"}) {
    ASSERT_TRUE(store.begin().ok());
    const std::int64_t model = store.insert_model({.name = word}).value();
    for (std::uint64_t number = 0; number < 50; ++number) {
      const std::string id = word + std::to_string(number);
      const auto bytes = std::as_bytes(std::span(id.data(), id.size()));
      ASSERT_TRUE(store
                      .insert_impression({.id = serving::ImpressionKey{model, number}.id(),
                                          .given = id,
                                          .data = {bytes.begin(), bytes.end()}})
                      .ok());
      ASSERT_TRUE(store.put_item(model, id, bytes, 0).ok());
    }
    if (word == "DELETED-WORD") {
      ASSERT_TRUE(store.delete_model(model).ok());
    }
    ASSERT_TRUE(store.commit().ok());
  }
  ASSERT_FALSE(store.read().deleted_models()->empty());
  store.close();
}

TEST(SqliteBackup, FinishesTheDeletionOfModels) {
  const testing::TemporaryFolder folder;
  make_store(folder / "store.db");
  EXPECT_THAT(slurp(folder / "store.db"), HasSubstr("DELETED-WORD"));
  const auto made = back_up_sqlite({.from = folder / "store.db", .to = folder / "copy.db"});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->models, 1);
  EXPECT_EQ(made->impressions, 50);
  EXPECT_EQ(made->bytes, fs::file_size(folder / "copy.db"));
  EXPECT_THAT(slurp(folder / "copy.db"), HasSubstr("KEPT-WORD"));
  EXPECT_THAT(slurp(folder / "copy.db"), Not(HasSubstr("DELETED-WORD")));
  for (const char* ending : {"-wal", "-shm", "-journal"}) {
    EXPECT_FALSE(fs::exists(folder / (std::string("copy.db") + ending))) << ending;
  }
  const auto copy = open_sqlite({.path = folder / "copy.db"});
  ASSERT_TRUE(copy.ok());
  EXPECT_TRUE((*copy)->read().deleted_models()->empty());
  // Ids of deleted models are not used again.
  EXPECT_EQ((*copy)->insert_model({.name = "next"}).value(), 3);
}

TEST(SqliteBackup, LeavesOutNumbersOfListsAsLongAsThereAreEnough) {
  constexpr std::uint64_t kHalf = serving::ImpressionKey::kNumbers / 2;
  const testing::TemporaryFolder folder;
  make_store(folder / "store.db");
  for (const auto& [used, next] :
       {std::pair<std::uint64_t, std::uint64_t>(50, (1ULL << 32) + 50), {kHalf, kHalf}}) {
    {
      const auto store = *open_sqlite({.path = folder / "store.db"});
      ASSERT_TRUE(store->begin().ok());
      ASSERT_TRUE(store->set_model_marks({.id = 1, .next_number = used}).ok());
      ASSERT_TRUE(store->commit().ok());
    }
    const fs::path copy = folder / "copy.db";
    ASSERT_TRUE(back_up_sqlite({.from = folder / "store.db", .to = copy, .replace = true}).ok());
    EXPECT_EQ((*read_sqlite(copy))->models()->front().next_number, next);
    EXPECT_EQ((*read_sqlite(folder / "store.db"))->models()->front().next_number, used);
  }
}

TEST(SqliteBackup, CanBeStopped) {
  const testing::TemporaryFolder folder;
  make_store(folder / "store.db");
  int polls = 0;
  const auto stopped =
      back_up_sqlite({.from = folder / "store.db", .to = folder / "copy.db", .stop_requested = [&] {
                        ++polls;
                        return true;
                      }});
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kStopped);
  EXPECT_GT(polls, 0);
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    EXPECT_THAT(entry.path().filename().string(), ::testing::StartsWith("store.db"));
  }
}

}  // namespace
}  // namespace plackett::store
