// Stores of versions 1 and 2, tests/golden/store_v1.sql and store_v2.sql, and of version 3.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "experiment_fixture.h"
#include "plackett/model_file.h"
#include "served.h"
#include "serving/recover.h"
#include "store/sqlite/database.h"
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
  explicit OldStore(std::string file = "store_v1.sql") : file_(std::move(file)) {}
  void SetUp() override {
    std::stringstream text;
    text << std::ifstream(PLACKETT_SOURCE_DIR "/tests/golden/" + file_).rdbuf();
    run(db_, text.str());
  }
  [[nodiscard]] std::int64_t count(const std::string& what) const {
    auto database = store::Database::open(db_, store::Database::Access::kRead);
    const auto number = database->integer("SELECT count(*) FROM " + what);
    EXPECT_TRUE(number.ok()) << number.error().message;
    return number.ok() ? *number : -1;
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

  std::string file_;
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

TEST_F(OldStore, ItsListsAreInNoView) {
  Served served(db_, kShownAt);
  EXPECT_GT(count("events"), 0);
  EXPECT_EQ(count("shown_items"), 0);
  EXPECT_EQ(count("item_events"), 0);
  // What comes later is.
  const ModelHandle model = served->find("shop");
  const Candidates candidates(5, 3);
  const auto ranked = served.rank(model, candidates.view());
  ASSERT_TRUE(ranked.ok()) << ranked.error().message;
  served.tell(model, {{ranked->impression, ranked->items[1].id, "", EventKind::kClick}});
  EXPECT_EQ(count("shown_items"), static_cast<std::int64_t>(ranked->items.size()));
  EXPECT_EQ(count("item_events WHERE item IS NOT NULL"), 1);
  EXPECT_EQ(count("item_events"), 1);
}

TEST_F(OldStore, OneOfALaterVersionIsRefused) {
  run(db_, "PRAGMA user_version=99");
  EXPECT_THAT(store::read_sqlite(db_).error().message, HasSubstr("a store of version 99"));
  EXPECT_THAT(store::open_sqlite({.path = db_}).error().message, HasSubstr("reads versions 1 to"));
}

constexpr std::uint64_t kChecksum2 = 0xb2ee01ee60d23354;
constexpr std::int64_t kShownAt2 = 1794996830327;

class OldStore2 : public OldStore {
 protected:
  OldStore2() : OldStore("store_v2.sql") {}
};

TEST_F(OldStore2, IsReadWithoutAChange) {
  const auto before = *read_file(db_);
  EXPECT_EQ(replayed(db_), kChecksum2);
  auto store = *store::read_sqlite(db_);
  EXPECT_TRUE(store->experiments()->empty());
  EXPECT_TRUE(store->arm_sums(1)->empty());
  EXPECT_TRUE(store->arm_points(1)->empty());
  EXPECT_EQ(store->unit_totals(1, 1)->x, 0);
  EXPECT_EQ(store->of_unit(1, "user-1", 0, 9)->size(), 3U);
  const auto snapshots = *store->snapshots(1);
  for (const SnapshotRow& snapshot : snapshots) EXPECT_EQ(snapshot.serves, Mode::kExplore);
  const auto kept = **read_impression(*store, ImpressionKey{1, 4}.id());
  EXPECT_EQ(kept.impression.mode, Mode::kGiven);
  EXPECT_TRUE(kept.impression.kept);
  EXPECT_EQ(kept.in.experiment, 0);
  store.reset();
  EXPECT_EQ(*read_file(db_), before);
}

TEST_F(OldStore2, IsBroughtUpToDateByTheServiceAndGoesOn) {
  const std::int64_t shown = count("shown_items");
  const std::int64_t events = count("item_events");
  Served served(db_, kShownAt2);
  const ModelHandle model = served->find("shop");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(checksum(served->export_file(*model)), kChecksum2);
  EXPECT_EQ(served->info(*model).items, 6U);
  EXPECT_EQ(served->info(*model).serves, Mode::kExplore);
  EXPECT_TRUE(served->experiments(*model)->empty());
  EXPECT_EQ(count("shown_items"), shown);
  EXPECT_EQ(count("shown_items WHERE experiment IS NULL AND arm = 'given'"), 8);
  EXPECT_EQ(count("item_events"), events);
  // The list that was open goes on.
  const auto open = served->impression(*model, "own-9");
  ASSERT_TRUE(open.ok()) << open.error().message;
  EXPECT_THAT(
      *served.feedback(model, std::vector<FeedbackEvent>{{"own-9", "", "", EventKind::kClose}}),
      ElementsAre(FeedbackStatus::kAccepted));
  served.close();
  replayed(db_);
  EXPECT_EQ(count("item_events"), events + 1);
}

TEST_F(OldStore2, CanTestPoliciesOnceItIsUpToDate) {
  Served served(db_, kShownAt2);
  const ModelHandle model = served->find("shop");
  ExperimentSpec spec;
  spec.name = "e";
  spec.arms = {{"old", "given", 0.5, Mode::kGiven}, {"new", "snapshot:1", 0.5, Mode::kExplore}};
  const auto started =
      wait_for<PutExperiment>([&](auto done) { served->put_experiment(model, spec, done); });
  ASSERT_TRUE(started.ok()) << started.error().message;
  const Candidates candidates(5, 3);
  for (int unit = 0; unit < 20; ++unit) {
    const std::string name = "user-" + std::to_string(unit);
    RankRequest request;
    request.unit = name;
    const auto ranked = served.rank(model, candidates.view(), request);
    ASSERT_TRUE(ranked.ok()) << ranked.error().message;
    served.tell(model, {{ranked->impression, ranked->items[0].id, "", EventKind::kClick},
                        {ranked->impression, "", "", EventKind::kClose}});
  }
  EXPECT_EQ(count("shown_items WHERE experiment = 'e' AND clicked"), 20);
  EXPECT_EQ(count("item_events WHERE event = 'click' AND model = 'shop.e.new'"),
            static_cast<std::int64_t>(served->experiment(*model, "e")->arms[1].clicks));
  ASSERT_TRUE(
      wait_for<ExperimentInfo>([&](auto done) { served->promote(model, "e", "new", done); }).ok());
  const auto file = served->export_file(*model);
  served.close();
  served.open();
  EXPECT_EQ(served->export_file(*served->find("shop")), file);
  served.close();
  EXPECT_EQ(replayed(db_), checksum(file));
}

// A store of version 3, made of one of today: it lacks the columns that version 4 added.
class OldStore3 : public Experiments {
 protected:
  void SetUp() override {
    Experiments::SetUp();
    start(split_test());
    serve(300, {{"old", 0.6}, {"new", 0.6}});
    ASSERT_TRUE(wait([&] { return !info().points.empty(); }));
    served_.close();
    for (const std::string table : {"experiment_arms", "experiment_points"}) {
      run(served_.db(),
          "ALTER TABLE " + table + " DROP COLUMN v; ALTER TABLE " + table + " DROP COLUMN vv;");
    }
    run(served_.db(), "PRAGMA user_version=3");
  }
};

TEST_F(OldStore3, IsReadWithoutAChange) {
  const auto before = *read_file(served_.db());
  auto store = *store::read_sqlite(served_.db());
  const auto arms = *store->arm_sums(1);
  EXPECT_GT(arms[1].units.yy, 0);
  EXPECT_EQ(arms[1].units.v, 0) << "not known";
  EXPECT_FALSE(store->arm_points(1)->empty());
  store.reset();
  EXPECT_EQ(*read_file(served_.db()), before);
}

TEST_F(OldStore3, ItsExperimentsGoOnAndAreNotRefusedForWhatTheyLack) {
  served_.open();
  model_ = served_->find("m");
  EXPECT_TRUE(info().arms[1].lift) << info().arms[1].no_lift;
  serve(100, {{"old", 0.6}, {"new", 0.6}});
  EXPECT_TRUE(info().arms[1].lift) << info().arms[1].no_lift;
  EXPECT_EQ((*store::read_sqlite(served_.db()))->arm_sums(1)->at(1).units.v, 0);
  ASSERT_TRUE(stop().ok());
  // A new one has all sums.
  ExperimentSpec second = split_test();
  second.name = "second";
  start(second);
  serve(100, {{"old", 0.6}, {"new", 0.6}});
  const RatioSums sums = (*store::read_sqlite(served_.db()))->arm_sums(2)->at(1).units;
  EXPECT_EQ(sums.v, sums.yy) << "every unit has one list";
}

}  // namespace
}  // namespace plackett::serving
