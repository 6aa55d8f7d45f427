#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "served.h"
#include "serving/model.h"
#include "serving/recover.h"
#include "store/sqlite/sqlite_store.h"
#include "support/eventually.h"

namespace plackett::serving {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kUnit = "unit-of-Mallory";
constexpr const char* kOther = "unit-of-Alice";

class Units : public ::testing::Test {
 protected:
  void SetUp() override {
    ModelSpec spec = small_spec("m", 5);
    spec.logging.candidates = 1;
    model_ = served_.make(spec);
    const Candidates stored(30, 5);
    std::vector<std::string> ids;
    for (int item = 0; item < 30; ++item) ids.push_back(std::to_string(item));
    ASSERT_TRUE(wait_for<std::uint64_t>([&](auto done) {
                  served_->put_items(model_, ids, stored.rows, done);
                }).ok());
    names_ = ids;
    for (int list = 0; list < 40; ++list) show(list, list % 2 == 0 ? kUnit : kOther);
  }

  void show(int list, const char* unit) {
    RankRequest request;
    for (const std::string& name : names_) request.items.push_back(name);
    request.given.assign(names_.size(), 0);
    request.blocked.resize(names_.size());
    const std::string id = std::string("of-") + unit + std::to_string(list);
    const std::string context = std::string("\"context-of-") + unit + "\"";
    request.id = id;
    request.unit = unit;
    request.context = context;
    const auto ranked = served_.rank(model_, request);
    ASSERT_TRUE(ranked.ok()) << ranked.error().message;
    served_.tell(model_, {{id, ranked->items[3].id, "event-of-" + id, EventKind::kClick}});
    if (list < 36) served_.tell(model_, {{id, "", "close-of-" + id, EventKind::kClose}});
  }
  std::uint64_t forget(const std::string& unit, bool drop = false) {
    const auto count =
        wait_for<std::uint64_t>([&](auto done) { served_->forget_unit(model_, unit, drop, done); });
    EXPECT_TRUE(count.ok()) << (count ? "" : count.error().message);
    return count ? *count : 0;
  }
  void vacuum() {
    const auto done = wait_for<void>([&](auto answer) { served_->vacuum(answer); });
    EXPECT_TRUE(done.ok()) << (done ? "" : done.error().message);
  }
  // All bytes of the store's files.
  [[nodiscard]] std::string bytes() const {
    std::string all;
    for (const char* suffix : {"", "-wal"}) {
      std::stringstream text;
      text << std::ifstream(served_.db() + suffix, std::ios::binary).rdbuf();
      all += text.str();
    }
    return all;
  }
  std::vector<std::byte> replayed(ReplayReport& report) {
    auto store = *store::read_sqlite(served_.db());
    const ModelRow row = store->models()->front();
    auto trainer = replay(*parse_spec(row.spec), row, *store, report);
    EXPECT_TRUE(trainer.ok()) << (trainer ? "" : trainer.error().message);
    EXPECT_TRUE(report.missing.empty());
    EXPECT_EQ(report.different, 0U);
    return serialise_model(trainer->saved());
  }

  Served served_;
  ModelHandle model_;
  std::vector<std::string> names_;
};

TEST_F(Units, NothingOfAForgottenUnitIsInTheStoresBytesAfterAVacuum) {
  EXPECT_THAT(bytes(), HasSubstr(kUnit));
  EXPECT_EQ(forget(kUnit), 20U);
  EXPECT_EQ(forget(kUnit), 0U);
  vacuum();
  EXPECT_THAT(bytes(), Not(HasSubstr(kUnit)));
  EXPECT_THAT(bytes(), HasSubstr(kOther));
}

TEST_F(Units, ReplayGivesTheSameModelAfterAUnitIsForgotten) {
  served_.snapshot(model_);
  const auto before = served_->export_file(*model_);
  forget(kUnit);
  vacuum();
  EXPECT_EQ(served_->export_file(*model_), before);
  ReplayReport report;
  EXPECT_EQ(replayed(report), before);
  EXPECT_FALSE(report.from_snapshot);
  EXPECT_GE(report.compared, 1U);
  served_.reopen();
  EXPECT_EQ(served_->export_file(*served_->find("m")), before);
}

TEST_F(Units, AForgottenImpressionKeepsFeaturesAndClicksWithoutIds) {
  forget(kUnit);
  const auto seen = served_->impression(*model_, "i-0");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->kept.unit + seen->kept.given + seen->kept.impression.context, "");
  EXPECT_EQ(seen->response.clicked[3], std::byte{1});
  for (const ShownItem& item : seen->kept.impression.shown) EXPECT_EQ(item.id, "");
  auto reader = *store::read_sqlite(served_.db());
  const auto whole = (*read_impression(*reader, ImpressionKey{1, 0}.id()))->impression;
  ASSERT_EQ(whole.others.size(), 20U);
  for (const OtherItem& other : whole.others) {
    EXPECT_EQ(other.id, "");
    EXPECT_EQ(other.version, 0);
  }
  EXPECT_NE(whole.other_rows, AlignedVector<float>(whole.other_rows.size(), 0.0F));
  // Other units' are as they were.
  EXPECT_EQ(served_->impression(*model_, std::string("of-") + kOther + "1")->kept.unit, kOther);
}

TEST_F(Units, OpenImpressionsOfAForgottenUnitAreStillLearnedFrom) {
  const std::uint64_t learned = served_->info(*model_).learned;
  forget(kUnit);
  served_.pass(std::chrono::hours(1));
  EXPECT_TRUE(testing::eventually([&] { return served_->info(*model_).learned == learned + 4; }));
  ReplayReport report;
  const auto file = served_->export_file(*model_);
  EXPECT_EQ(replayed(report), file);
}

TEST_F(Units, DroppedImpressionsAreReplacedByASnapshot) {
  const auto before = served_->export_file(*model_);
  EXPECT_EQ(forget(kUnit, true), 20U);
  EXPECT_EQ(served_->export_file(*model_), before);
  EXPECT_FALSE(served_->impression(*model_, "i-0").ok());
  EXPECT_TRUE(served_->impression(*model_, "i-1").ok());
  ReplayReport report;
  EXPECT_EQ(replayed(report), before);
  EXPECT_TRUE(report.from_snapshot);
  // It goes on, and survives a start.
  const std::uint64_t learned = served_->info(*model_).learned;
  show(40, kOther);
  served_.pass(std::chrono::hours(1));
  EXPECT_TRUE(testing::eventually([&] { return served_->info(*model_).learned == learned + 3; }))
      << "lists 37, 39 and 40 were open";
  const auto after = served_->export_file(*model_);
  served_.reopen();
  model_ = served_->find("m");
  EXPECT_EQ(served_->export_file(*model_), after);
  EXPECT_EQ(replayed(report), after);
}

TEST_F(Units, ManyDroppedImpressionsGoInSeveralTransactionsAndLeaveTheRest) {
  for (int list = 100; list < 1200; ++list) show(list, kUnit);
  const auto before = served_->export_file(*model_);
  EXPECT_EQ(forget(kUnit, true), 1120U);
  EXPECT_EQ(forget(kUnit, true), 0U);
  EXPECT_EQ(served_->export_file(*model_), before);
  vacuum();
  EXPECT_THAT(bytes(), Not(HasSubstr(kUnit)));
  ReplayReport report;
  EXPECT_EQ(replayed(report), before);
}

TEST_F(Units, ListsBehindOneThatIsOnItsWayAreDropped) {
  const auto on_its_way = model_->take_number();
  ASSERT_TRUE(on_its_way);
  show(40, kUnit);
  EXPECT_EQ(forget(kUnit, true), 21U);
}

TEST_F(Units, ManyImpressionsAreForgottenInSeveralTransactions) {
  for (int list = 100; list < 1200; ++list) show(list, kUnit);
  const std::uint64_t commits = served_->meters().commits;
  EXPECT_EQ(forget(kUnit), 1120U);
  EXPECT_GE(served_->meters().commits, commits + 3);
}

TEST_F(Units, AnUnknownUnitHasNoImpressions) {
  EXPECT_EQ(forget("nobody"), 0U);
  EXPECT_EQ(forget("nobody", true), 0U);
  EXPECT_TRUE(served_->snapshots(*model_)->empty());
}

TEST_F(Units, ListsThatGoWithTheirUnitAreNotOpen) {
  // Of the fixture's 40 lists, 4 are open, 2 of them the unit's.
  ASSERT_EQ(served_->info(*model_).open, 4U);
  EXPECT_EQ(forget(kUnit, true), 20U);
  EXPECT_EQ(served_->info(*model_).open, 2U);
  // Nor are those counted twice whose time is up later.
  served_.pass(std::chrono::seconds(900));
  for (int list = 100; list < 103; ++list) show(list, kOther);
  EXPECT_EQ(served_->info(*model_).open, 5U);
  served_.pass(std::chrono::seconds(910));
  EXPECT_TRUE(testing::eventually([&] { return served_->info(*model_).open == 3; }))
      << served_->info(*model_).open.value_or(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // some upkeep
  EXPECT_EQ(served_->info(*model_).open, 3U);
}

}  // namespace
}  // namespace plackett::serving
