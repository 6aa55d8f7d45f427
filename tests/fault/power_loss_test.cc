// Power is lost, or the process dies, at a random write, truncation or sync, again and again.
// PLACKETT_LIVES: the number of stores; default 15.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fault_vfs.h"
#include "plackett/rng.h"
#include "serving/experiment_spec.h"
#include "serving/served.h"
#include "serving/service.h"
#include "store/sqlite/database.h"
#include "store_check.h"
#include "support/run_command.h"
#include "traffic.h"

namespace plackett::testing {
namespace {

using Holds = FaultVfs::Holds;

// A store that goes through many power losses: each round continues with what the last one left.
class Life {
 public:
  explicit Life(std::uint64_t seed) : rng_({seed, 0, 1, Purpose::kTest}), seed_(seed) {}

  struct Faults {
    bool syncs_lie = false;
  };
  bool drops = false;  // TrafficOptions::drops

  // Traffic until the power is lost, or until the service has stopped; then every image is checked.
  void round(const Faults& faults) {
    ++rounds_;
    vfs_ = std::make_unique<FaultVfs>();
    const std::string db = *folder_ / "store.db";
    if (rng_.below(10) == 0) vfs_->lose_power_after(rng_.below(60));  // while it opens
    {
      auto opened = open_service({.path = db, .vfs = vfs_->name(), .checkpoint_pages = 30}, 10);
      ASSERT_TRUE(opened.ok()) << opened.error().message;
      make_models(**opened);
      if (!vfs_->power_lost()) {
        for (const char* name : {"linear", "network"}) story_.models.emplace_back(name);
        vfs_->lose_power_after(rng_.below(4200));
      }
      vfs_->lie_about_syncs(faults.syncs_lie);
      TrafficOptions traffic;
      traffic.seed = seed_ * 1000 + rounds_;
      traffic.name = "r" + std::to_string(rounds_);
      traffic.drops = drops;
      traffic.over = [this] { return vfs_->power_lost(); };
      traffic.between = [&] { checkpoint(db); };
      Story told = run_traffic(**opened, traffic);
      answered_ += told.answered.size();
      acknowledged_ += told.acknowledged.size();
      started_ += told.experiments.started.size();
      promoted_ += told.experiments.promoted.size();
      undone_ += told.experiments.undone.size();
      EXPECT_TRUE(told.refusals.empty()) << told.refusals.front().message;
      story_.add(std::move(told));
      if (!vfs_->power_lost()) {
        ++in_stopping_;
        vfs_->lose_power_after(rng_.below(60));
      }
    }
    if (!vfs_->power_lost()) vfs_->lose_power();
    check(Holds::kWritten, 0);
    EXPECT_TRUE(total_.none()) << "the death of the process needs no syncs\n" << total_.text();
    check(Holds::kSynced, 0);
    for (std::uint64_t disk = 0; disk < 2; ++disk) check(Holds::kSome, rng_.next_u32());
    // Continues with one of the possible images.
    auto next = std::make_unique<TemporaryFolder>();
    vfs_->write_image(next->path(), rng_.below(2) == 0 ? Holds::kSome : Holds::kSynced,
                      rng_.next_u32());
    folder_ = std::move(next);
  }

  [[nodiscard]] const Findings& total() const { return total_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] std::uint64_t started() const { return started_; }
  [[nodiscard]] std::uint64_t promoted() const { return promoted_; }
  [[nodiscard]] std::uint64_t undone() const { return undone_; }
  [[nodiscard]] std::uint64_t images() const { return images_; }
  [[nodiscard]] std::uint64_t in_stopping() const { return in_stopping_; }

 private:
  void checkpoint(const std::string& db) const {
    auto other = store::Database::open(db, store::Database::Access::kWrite, vfs_->name());
    if (!other) return;
    // FULL keeps the writer out. SQLite before 3.51.3 may lose commits if two connections
    // checkpoint and reset the write-ahead log at the same time.
    [[maybe_unused]] const auto moved = other->script("PRAGMA wal_checkpoint(FULL)");
  }

  void check(Holds holds, std::uint64_t seed) {
    ++images_;
    const TemporaryFolder image;
    vfs_->write_image(image.path(), holds, seed);
    const FaultVfs reading;
    CheckOptions options;
    options.db = image / "store.db";
    options.vfs = reading.name();
    options.ranks_survive = true;
    options.drops = drops;
    const Findings found = check_store(options, story_);
    total_.lost_feedback += found.lost_feedback;
    total_.lost_ranks += found.lost_ranks;
    total_.lost_snapshots += found.lost_snapshots;
    total_.half += found.half;
    total_.different += found.different;
    total_.experiments += found.experiments;
    total_.said.insert(total_.said.end(), found.said.begin(), found.said.end());
  }

  Rng rng_;
  std::uint64_t seed_;
  std::uint64_t rounds_ = 0;
  std::unique_ptr<TemporaryFolder> folder_ = std::make_unique<TemporaryFolder>();
  std::unique_ptr<FaultVfs> vfs_;
  Story story_;
  Findings total_;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t promoted_ = 0;
  std::uint64_t undone_ = 0;
  std::uint64_t images_ = 0;
  std::uint64_t in_stopping_ = 0;
};

std::uint64_t lives_asked_for() {
  const char* text = std::getenv("PLACKETT_LIVES");
  return text == nullptr ? 15 : static_cast<std::uint64_t>(std::clamp(std::atoi(text), 1, 100'000));
}

TEST(PowerLoss, LosesNothingThatWasAnsweredAndLeavesNothingHalfThere) {
  const std::uint64_t lives = lives_asked_for();
  constexpr int kRounds = 8;
  std::uint64_t acknowledged = 0;
  std::uint64_t answered = 0;
  std::uint64_t images = 0;
  std::uint64_t in_stopping = 0;
  std::uint64_t started = 0;
  std::uint64_t promoted = 0;
  std::uint64_t undone = 0;
  for (std::uint64_t seed = 1; seed <= lives; ++seed) {
    Life life(seed);
    life.drops = seed % 3 == 0;
    for (int round = 0; round < kRounds; ++round) {
      ASSERT_NO_FATAL_FAILURE(life.round({})) << "life " << seed << ", round " << round;
      ASSERT_TRUE(life.total().none()) << "life " << seed << ", round " << round << "\n"
                                       << life.total().text();
    }
    acknowledged += life.acknowledged();
    answered += life.answered();
    images += life.images();
    in_stopping += life.in_stopping();
    started += life.started();
    promoted += life.promoted();
    undone += life.undone();
  }
  std::printf(
      "%llu rounds, %llu disks, %llu requests with feedback and %llu ranks answered, %llu "
      "experiments started, %llu promoted, %llu undone; lost 0\n",
      static_cast<unsigned long long>(lives * kRounds), static_cast<unsigned long long>(images),
      static_cast<unsigned long long>(acknowledged), static_cast<unsigned long long>(answered),
      static_cast<unsigned long long>(started), static_cast<unsigned long long>(promoted),
      static_cast<unsigned long long>(undone));
  EXPECT_GT(started, lives);
  EXPECT_GT(promoted, lives / 2);
  EXPECT_GT(acknowledged, lives * kRounds * 5) << "else the rounds show little";
  EXPECT_GT(answered, lives * kRounds * 10);
  EXPECT_TRUE(in_stopping > 0 || lives < 10) << "none as it stopped";
  EXPECT_LT(in_stopping, lives * kRounds / 2) << "few before it stopped";
}

// With lucky timing a store loses nothing, whatever the fault; that was seen five times in a row on
// a busy machine. A check that finds nothing in this many stores does not work.
constexpr std::uint64_t kPlantedLives = 60;

TEST(PowerLoss, CheckRejectsADiskThatLiesAboutSyncs) {
  std::uint64_t lost_feedback = 0;
  std::uint64_t lost_ranks = 0;
  for (std::uint64_t seed = 1; seed <= kPlantedLives && (lost_feedback == 0 || lost_ranks == 0);
       ++seed) {
    Life life(seed);
    ASSERT_NO_FATAL_FAILURE(life.round({.syncs_lie = true}));
    lost_feedback += life.total().lost_feedback;
    lost_ranks += life.total().lost_ranks;
  }
  EXPECT_GT(lost_feedback, 0U);
  EXPECT_GT(lost_ranks, 0U);
}

// A store after some traffic, to be damaged.
class DamagedStore : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_service({.path = db_, .vfs = vfs_.name()}, 10);
    ASSERT_TRUE(opened.ok());
    make_models(**opened);
    TrafficOptions traffic;
    traffic.name = "t";
    traffic.loads = false;  // what was learned before one makes no difference
    story_ = run_traffic(**opened, traffic);
    leave_experiment(**opened);
  }
  // One that runs, whatever the clients left.
  void leave_experiment(serving::Service& service) {
    const serving::ModelHandle model = service.find("linear");
    const std::string running = service.info(*model).experiment;
    if (!running.empty()) {
      const auto stopped = serving::wait_for<serving::ExperimentInfo>(
          [&](auto done) { service.stop_experiment(model, running, done); });
      ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    }
    serving::ExperimentSpec spec;
    spec.name = "left";
    spec.arms = {{"old", "given", 0.5, serving::Mode::kGiven}, {"new", "model", 0.5}};
    const auto started = serving::wait_for<serving::PutExperiment>(
        [&](auto done) { service.put_experiment(model, spec, done); });
    ASSERT_TRUE(started.ok()) << started.error().message;
    story_.experiments.started.emplace("linear", "left");
  }
  Findings after(const std::string& sql) {
    auto database = store::Database::open(db_, store::Database::Access::kWrite);
    const auto done = database->script(sql);
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_GT(sqlite3_total_changes(database->handle()), 0);
    return check_store({.db = db_, .ranks_survive = true}, story_);
  }

  FaultVfs vfs_;
  TemporaryFolder folder_;
  std::string db_ = folder_ / "store.db";
  Story story_;
};

TEST_F(DamagedStore, UndamagedPasses) {
  const Findings found = check_store({.db = db_, .ranks_survive = true}, story_);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DamagedStore, CheckRejectsAMissingEvent) {
  const Findings found = after("DELETE FROM events WHERE id = (SELECT min(id) FROM events)");
  EXPECT_GT(found.half, 0U);
  EXPECT_GT(found.lost_feedback, 0U);
}

TEST_F(DamagedStore, CheckRejectsAMissingImpression) {
  const Findings found = after(
      "DELETE FROM impressions WHERE id = (SELECT max(id) FROM impressions WHERE given IS NULL)");
  EXPECT_EQ(found.lost_ranks, 1U);
  EXPECT_GT(found.half, 0U) << "the series counted it";
}

TEST_F(DamagedStore, CheckRejectsALogThatLacksAnEntry) {
  const Findings found =
      after("DELETE FROM log WHERE seq = (SELECT min(seq) FROM log WHERE kind = 1)");
  EXPECT_GT(found.half, 0U);
  EXPECT_GT(found.different, 0U);
}

TEST_F(DamagedStore, CheckRejectsSumsThatAreNotThoseOfTheLists) {
  const Findings found = after(
      "INSERT INTO experiment_arms SELECT max(id), 0, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM "
      "experiments WHERE true ON CONFLICT DO UPDATE SET impressions = impressions + 1000");
  EXPECT_EQ(found.experiments, 1U) << found.text();
}

TEST_F(DamagedStore, CheckRejectsTwoExperimentsThatRun) {
  const Findings found = after(
      "INSERT INTO experiments(model, name, spec, state, started_at) SELECT model, 'another', "
      "spec, state, 0 FROM experiments WHERE name = 'left'");
  EXPECT_GT(found.half, 0U) << found.text();
}

TEST_F(DamagedStore, CheckRejectsAMissingExperimentAndALostPromotion) {
  story_.experiments.started.emplace("linear", "never");
  EXPECT_EQ(check_store({.db = db_}, story_).experiments, 1U);
  story_.experiments.started.erase({"linear", "never"});
  for (const ExperimentName& which : story_.experiments.started) {
    story_.experiments.promoted[which] += 1000;
  }
  EXPECT_GT(check_store({.db = db_}, story_).experiments, 0U);
}

TEST_F(DamagedStore, CheckRejectsAMissingSnapshotAndALostLoad) {
  story_.snapshots.emplace_back("linear", 1'000'000);
  story_.loads["linear"] += 1000;
  const Findings found = check_store({.db = db_}, story_);
  EXPECT_EQ(found.lost_snapshots, 2U);
}

TEST_F(DamagedStore, CheckRejectsEventsThatWereReplaced) {
  story_.replaced_kinds.emplace("linear", "purchase");
  EXPECT_EQ(check_store({.db = db_}, story_).lost_models, 1U);
}

}  // namespace
}  // namespace plackett::testing
