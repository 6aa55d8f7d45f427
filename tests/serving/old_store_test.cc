// Stores of version 1: tests/golden/store_v1.sql is one.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "plackett/model_file.h"
#include "served.h"
#include "serving/recover.h"
#include "store/sqlite/sqlite_store.h"

namespace plackett::serving {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kChecksum = 0x41f9c7b120b8a166;
constexpr std::int64_t kShownAt = 1794969834500;  // its lists

void run(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(handle);
}

class OldStore : public ::testing::Test {
 protected:
  void SetUp() override {
    std::stringstream text;
    text << std::ifstream(PLACKETT_SOURCE_DIR "/tests/golden/store_v1.sql").rdbuf();
    run(db_, text.str());
  }
  // The checksum of the model that the log gives.
  static std::uint64_t replayed(const std::string& path) {
    auto store = store::read_sqlite(path);
    EXPECT_TRUE(store.ok()) << (store ? "" : store.error().message);
    if (!store) return 0;
    const ModelRow row = (*store)->models()->front();
    ReplayReport report;
    auto trainer = replay(*parse_spec(row.spec), row, **store, report);
    EXPECT_TRUE(trainer.ok()) << (trainer ? "" : trainer.error().message);
    EXPECT_GE(report.compared, 2U);
    EXPECT_EQ(report.different, 0U);
    return trainer ? checksum(serialise_model(trainer->saved())) : 0;
  }

  testing::TemporaryFolder folder_;
  std::string db_ = folder_ / "old.db";
};

TEST_F(OldStore, IsReadWithoutAChange) {
  const auto before = *read_file(db_);
  EXPECT_EQ(replayed(db_), kChecksum);
  auto store = *store::read_sqlite(db_);
  std::vector<std::string> items;
  ASSERT_TRUE(store
                  ->items(1,
                          [&](std::string_view id, std::int64_t version, auto) {
                            items.emplace_back(id);
                            EXPECT_EQ((*store->item_version(version))->id, id);
                            return Result<void>();
                          })
                  .ok());
  EXPECT_EQ(items.size(), 6U);
  EXPECT_TRUE(store->of_unit(1, "u", 0, 9)->empty());
  const auto kept = **read_impression(*store, ImpressionKey{1, 5}.id());
  EXPECT_EQ(kept.impression.mode, Mode::kExploit);
  EXPECT_FALSE(kept.impression.learnable);
  EXPECT_EQ(kept.impression.context, R"({"query": "q2"})");
  EXPECT_FALSE(kept.impression.kept);
  store.reset();
  EXPECT_EQ(*read_file(db_), before);
}

TEST_F(OldStore, IsBroughtUpToDateByTheServiceAndGoesOn) {
  Served served(db_, kShownAt);
  const ModelHandle model = served->find("shop");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(served->info(*model).items, 6U);
  EXPECT_EQ(served->info(*model).spec.logging.candidates, 0);
  EXPECT_EQ(checksum(served->export_file(*model)), kChecksum);
  const auto pinned = served->impression(*model, "i-6");
  ASSERT_TRUE(pinned.ok());
  EXPECT_TRUE(pinned->kept.impression.shown[0].pinned);
  EXPECT_EQ(pinned->kept.impression.shown[0].id, "item-2");
  EXPECT_EQ(served->impression(*model, "own-3")->state, "learned");
  // One that was open goes on.
  const auto open = served->impression(*model, "i-9");
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->state, "open");
  EXPECT_THAT(
      *served.feedback(model,
                       std::vector<FeedbackEvent>{
                           {"i-9", open->kept.impression.shown[2].id, "e1", EventKind::kClick},
                           {"i-9", open->kept.impression.shown[2].id, "", EventKind::kClick},
                           {"i-9", "", "", EventKind::kClose}}),
      ElementsAre(FeedbackStatus::kDuplicate, FeedbackStatus::kAccepted,
                  FeedbackStatus::kAccepted));
  served.close();
  EXPECT_NE(replayed(db_), kChecksum);  // it has learned one more
  served.open();
  EXPECT_EQ(served->info(*served->find("shop")).learned, 9U);
}

TEST_F(OldStore, OneOfALaterVersionIsRefused) {
  run(db_, "PRAGMA user_version=99");
  EXPECT_THAT(store::read_sqlite(db_).error().message, HasSubstr("a store of version 99"));
  EXPECT_THAT(store::open_sqlite({.path = db_}).error().message, HasSubstr("reads versions 1 to"));
}

}  // namespace
}  // namespace plackett::serving
