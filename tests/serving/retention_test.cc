// Old impressions are dropped; snapshots, and the log since, are kept.
#include <gmock/gmock.h>

#include <thread>

#include "served.h"
#include "serving/recover.h"
#include "store/sqlite/database.h"
#include "support/eventually.h"

namespace plackett::serving {
namespace {

using testing::eventually;

TEST(Retention, DropsWhatIsOldAndReplaysFromASnapshot) {
  Served served;
  served.close();
  served.options().keep_days = 1;
  served.open();
  ModelSpec spec = small_spec();
  spec.open_seconds = 1;
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 5);
  const auto learn = [&] {
    RankRequest request;
    const auto ranked = served.rank(model, candidates.view(), request);
    served.tell(model, {{ranked->impression, std::to_string(ranked->items[3].item),
                         "e" + ranked->impression, EventKind::kClick},
                        {ranked->impression, "", "", EventKind::kClose}});
    return *ranked;
  };
  const Ranked first = learn();
  for (int round = 0; round < 30; ++round) learn();
  const SnapshotRow asked = served.snapshot(model, "kept");
  served.pass(std::chrono::hours(25));
  EXPECT_TRUE(eventually([&] { return !served->impression(*model, first.impression).ok(); }));
  EXPECT_EQ(served.feedback(model, FeedbackEvent{first.impression, "0", "", EventKind::kClick}),
            FeedbackStatus::kUnknownImpression);
  bool kept = false;
  const auto snapshots = served->snapshots(*model);
  ASSERT_TRUE(snapshots.ok());
  for (const SnapshotRow& snapshot : *snapshots) {
    kept = kept || snapshot.id == asked.id;
  }
  EXPECT_TRUE(kept);
  learn();
  const auto live = served->export_file(*model);
  served.close();
  const auto reader = store::read_sqlite(served.db());
  ASSERT_TRUE(reader.ok());
  ReplayReport report;
  const ModelRow row = (*reader)->models()->front();
  EXPECT_GT(row.dropped_log, 0);
  const auto again = replay(*check(spec), row, **reader, report);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(report.from_snapshot);
  EXPECT_EQ(report.different, 0U);
  EXPECT_EQ(serialise_model(again->saved()), live);

  served.open();
  EXPECT_EQ(served->export_file(*served->find("m")), live);
  const auto next = served.rank(served->find("m"), candidates.view());
  EXPECT_EQ(next->impression, "i-32") << "numbers are never used again";
}

TEST(Retention, KeepsTheStoreBelowItsSize) {
  Served served;
  served.close();
  constexpr std::uint64_t kKept = 2 << 20;
  served.options().keep_bytes = kKept;
  served.open();
  ModelSpec spec = small_spec("m", 136);
  spec.open_seconds = 1;
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 136);
  for (int round = 0; round < 1500; ++round)
    EXPECT_TRUE(served.rank(model, candidates.view()).ok());
  const auto size = [&] {
    std::error_code ignored;
    return std::filesystem::file_size(served.db(), ignored);
  };
  served.pass(std::chrono::seconds(1));
  EXPECT_TRUE(eventually([&] { return !served->impression(*model, "i-100").ok(); }));
  EXPECT_TRUE(served->impression(*model, "i-1499").ok());
  // Down to the limit, and not far below it.
  const auto used = [&] {
    auto database = store::Database::open(served.db(), store::Database::Access::kRead);
    return static_cast<std::uint64_t>(
        *database->integer("SELECT ((SELECT page_count FROM pragma_page_count) - "
                           "(SELECT freelist_count FROM pragma_freelist_count)) * "
                           "(SELECT page_size FROM pragma_page_size)"));
  };
  EXPECT_TRUE(eventually([&] { return used() <= kKept; }));
  EXPECT_GT(used(), kKept / 2);
  served.close();
  EXPECT_LT(size(), 2 * kKept) << "unused space goes back";
}

TEST(Retention, DropsClosedListsThoughTheirTimeIsNotUp) {
  Served served;
  served.close();
  constexpr std::uint64_t kKept = 1 << 20;
  served.options().keep_bytes = kKept;
  served.open();
  ModelSpec spec = small_spec("m", 136);
  spec.open_seconds = 86'400;
  const ModelHandle model = served.make(spec);
  const Candidates candidates(12, 136);
  Ranked last;
  for (int round = 0; round < 600; ++round) {
    last = *served.rank(model, candidates.view());
    if (round != 400) served.tell(model, {{last.impression, "", "", EventKind::kClose}});
  }
  EXPECT_TRUE(eventually([&] { return !served->impression(*model, "i-399").ok(); }));
  EXPECT_TRUE(served->impression(*model, "i-400").ok()) << "open";
  EXPECT_EQ(served.feedback(model, {"i-400", "3", "", EventKind::kClick}),
            FeedbackStatus::kAccepted);
  EXPECT_EQ(served->info(*model).open, 1U);
}

TEST(Retention, StoredItemsDontPushListsOut) {
  constexpr std::uint64_t kKept = 1 << 20;
  constexpr std::uint32_t kItems = 4000;  // 2.4 MB
  Served served;
  served.options().keep_bytes = kKept;
  served.reopen();
  const ModelHandle model = served.make(small_spec("m", 136));
  const Candidates candidates(12, 136);
  const auto show = [&](int lists) {
    std::string last;
    for (int list = 0; list < lists; ++list) {
      last = served.rank(model, candidates.view())->impression;
      served.tell(model, {{last, "", "", EventKind::kClose}});
    }
    return last;
  };
  const Candidates catalogue(kItems, 136);
  std::vector<std::string> ids;
  for (std::uint32_t item = 0; item < kItems; ++item) ids.push_back(std::to_string(item));
  ASSERT_TRUE(wait_for<std::uint64_t>([&](auto done) {
                served->put_items(model, ids, catalogue.rows, done);
              }).ok());
  EXPECT_EQ(show(20), "i-19");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // some upkeep
  EXPECT_TRUE(served->impression(*model, "i-0").ok());
  // Lists still push lists out.
  const std::string last = show(400);
  EXPECT_TRUE(eventually([&] { return !served->impression(*model, "i-0").ok(); }));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_TRUE(served->impression(*model, last).ok());
  EXPECT_TRUE(served->impression(*model, "i-400").ok()) << "20 lists are far below the limit";
}

// Learns by expiry from lists that were shown before, while and after the clock was off by `step`.
void learn_after_a_step(std::chrono::hours step, bool restart) {
  Served served;
  ModelSpec spec = small_spec();
  spec.open_seconds = 60;
  ModelHandle model = served.make(spec);
  const Candidates candidates(12, 5);
  const auto show = [&] {
    const auto ranked = served.rank(model, candidates.view());
    EXPECT_EQ(served.feedback(model, {ranked->impression, std::to_string(ranked->items[3].item), "",
                                      EventKind::kClick}),
              FeedbackStatus::kAccepted);
  };
  show();
  served.step_clock(step);
  show();
  served.step_clock(-step);
  show();
  if (restart) {
    served.reopen();
    model = served->find("m");
  }
  served.pass(std::chrono::seconds(61));
  EXPECT_TRUE(eventually([&] { return served->info(*model).learned == 3; }))
      << served->info(*model).learned << " learned, step " << step.count() << " h";
  EXPECT_EQ(served->info(*model).open, 0U);
}

TEST(ClockSteps, DontHoldUpLearningByExpiry) {
  for (const auto step : {std::chrono::hours(24), std::chrono::hours(-24)}) {
    learn_after_a_step(step, false);
    learn_after_a_step(step, true);
  }
}

// A service that keeps impressions for a day, and its model.
struct KeptForADay {
  explicit KeptForADay(std::uint32_t open_seconds) {
    served.close();
    served.options().keep_days = 1;
    served.open();
    ModelSpec spec = small_spec();
    spec.open_seconds = open_seconds;
    model = served.make(spec);
  }
  // Shows so many lists; the last one's name.
  std::string show(int times = 1) {
    std::string last;
    while (times-- > 0) last = served.rank(model, candidates.view())->impression;
    return last;
  }
  bool has(const std::string& impression) { return served->impression(*model, impression).ok(); }

  Served served;
  ModelHandle model;
  Candidates candidates{12, 5};
};

TEST(ClockSteps, ForwardNeitherClosesNorDropsWhatIsYoung) {
  KeptForADay kept(1800);
  const std::string shown = kept.show();
  kept.served.step_clock(std::chrono::hours(24 * 365));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // some upkeep
  EXPECT_EQ(kept.served.feedback(kept.model, {shown, "3", "", EventKind::kClick}),
            FeedbackStatus::kAccepted);
}

TEST(ClockSteps, DontHoldUpRetention) {
  KeptForADay kept(60);
  kept.served.step_clock(std::chrono::hours(24 * 30));
  const std::string ahead = kept.show();
  kept.served.step_clock(std::chrono::hours(-24 * 30));
  const std::string right = kept.show(5);
  kept.served.pass(std::chrono::hours(26));
  EXPECT_TRUE(eventually([&] { return !kept.has(right); }));
  EXPECT_FALSE(kept.has(ahead));
}

TEST(ClockSteps, BackDropsNothingYoung) {
  KeptForADay kept(1);
  const std::string first = kept.show();
  kept.show(6);
  kept.served.step_clock(std::chrono::hours(-24 * 365));
  kept.show(3);
  kept.served.step_clock(std::chrono::hours(24 * 365));
  kept.show(20);
  kept.served.pass(std::chrono::seconds(2));
  EXPECT_TRUE(eventually([&] { return kept.served->info(*kept.model).open == 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // some upkeep
  EXPECT_TRUE(kept.has(first));
}

TEST(Retention, AnIdleModelWithoutListsIsNotWritten) {
  Served served;
  served.options().keep_days = 1;
  served.reopen();
  ModelSpec spec = small_spec();
  spec.logging.candidates = 1;
  served.make(spec);
  // Upkeep runs five times a second; what there is to do takes it a few runs.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::uint64_t commits = served->meters().commits;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_EQ(served->meters().commits, commits);
}

}  // namespace
}  // namespace plackett::serving
