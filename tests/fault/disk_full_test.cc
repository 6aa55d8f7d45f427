// A disk without room, and a disk whose syncs fail: what can't be kept is refused, and nothing
// that was promised goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "fault_vfs.h"
#include "serving/served.h"
#include "store/sqlite.h"
#include "store_check.h"
#include "support/run_command.h"
#include "traffic.h"

namespace plackett::testing {
namespace {

using serving::FeedbackEvent;
using serving::FeedbackStatus;
using serving::ModelHandle;
using serving::Refusal;
using serving::Service;
using serving::wait_for;
using ::testing::HasSubstr;
using Holds = FaultVfs::Holds;

class FailingDisk : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    serving::ServiceOptions options;
    options.db = db();
    options.vfs = vfs_.name();
    options.snapshot_every = 10;
    auto opened = Service::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    service_ = std::move(opened).value();
    make_models(*service_);
    story_.models = {"linear", "network"};
  }
  [[nodiscard]] std::string db() const { return folder_ / "store.db"; }

  Story traffic(const std::string& name, std::uint32_t steps = 60) {
    TrafficOptions options;
    options.seed = std::hash<std::string>{}(name);
    options.name = name;
    options.steps = steps;
    return run_traffic(*service_, options);
  }

  // What an image of the disk lacks.
  Findings on_a_disk(Holds holds, bool refused_are_none, std::uint64_t seed = 0) {
    const TemporaryFolder image;
    vfs_.write_image(image.path(), holds, seed);
    const FaultVfs reading;
    Story promised = story_;
    if (holds != Holds::kWritten) promised.answered.clear();
    return check_store({.db = image / "store.db",
                        .vfs = reading.name(),
                        .ranks_survive = holds == Holds::kWritten,
                        .refused_are_none = refused_are_none},
                       promised);
  }
  Findings reopened(bool refused_are_none) {
    service_.reset();
    return check_store({.db = db(),
                        .vfs = vfs_.name(),
                        .ranks_survive = true,
                        .refused_are_none = refused_are_none},
                       story_);
  }

  FaultVfs vfs_;
  TemporaryFolder folder_;
  std::unique_ptr<Service> service_;
  Story story_;
};

void expect_unavailable(const Story& story) {
  for (const serving::Refused& refused : story.refusals) {
    EXPECT_EQ(refused.kind, Refusal::kUnavailable) << refused.message;
    EXPECT_FALSE(refused.message.empty());
  }
}

using DiskFull = FailingDisk;

TEST_F(DiskFull, RefusesWithTheReasonAndGoesOnWhenThereIsRoom) {
  int times_full = 0;
  for (int times = 0; times < 6; ++times) {
    const std::string number = std::to_string(times);
    Story before = traffic("before" + number);
    EXPECT_TRUE(before.refusals.empty());
    story_.add(std::move(before));
    EXPECT_EQ(service_->not_ready(), "");

    vfs_.set_room(static_cast<std::uint64_t>(times) * 7'777);
    Story full = traffic("full" + number);
    expect_unavailable(full);
    for (const serving::Refused& refused : full.refusals) {
      EXPECT_THAT(refused.message, HasSubstr("disk is full"));
    }
    // Where the log of writes has just begun anew, there is room within it for all of them.
    if (!full.refusals.empty()) {
      ++times_full;
      EXPECT_GT(full.refused_ranks.size(), 0U);
      EXPECT_THAT(service_->not_ready(), HasSubstr("disk is full"));
      EXPECT_GT(service_->meters().write_failures, 0U);
    }
    story_.add(std::move(full));

    vfs_.set_room({});
    Story after = traffic("after" + number);
    EXPECT_TRUE(after.refusals.empty());
    EXPECT_EQ(service_->not_ready(), "");
    story_.add(std::move(after));
  }
  EXPECT_GE(times_full, 3);
  vfs_.lose_power();
  for (const Holds holds : {Holds::kWritten, Holds::kSynced, Holds::kSome}) {
    const Findings found = on_a_disk(holds, true);
    EXPECT_TRUE(found.none()) << found.text();
  }
  const Findings found = reopened(true);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, FeedbackThatWasRefusedIsTakenWhenItIsToldAgain) {
  // The disk fills between ranks and clicks, so that feedback is what is refused.
  const ModelHandle model = service_->find("linear");
  serving::Candidates candidates(12, 5);
  Story before = traffic("t", 30);
  story_.add(std::move(before));
  std::vector<FeedbackEvent> closes;
  for (const auto& [name, impression] : story_.answered) {
    if (name != "linear") continue;
    if (service_->impression(*model, impression)->state != "open") continue;
    closes.push_back({impression, "", "again-" + impression + "/1/0", serving::EventKind::kClose});
  }
  ASSERT_GT(closes.size(), 3U);
  const auto tell = [&] {
    return wait_for<std::vector<FeedbackStatus>>(
        [&](auto done) { service_->feedback(model, closes, done); });
  };
  const serving::ModelInfo info = service_->info(*model);
  vfs_.set_room(100);
  const auto refused = tell();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.refused().kind, Refusal::kUnavailable);
  EXPECT_EQ(service_->info(*model).version, info.version) << "nothing was learned";
  vfs_.set_room({});
  const auto taken = tell();
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT(*taken, ::testing::Each(FeedbackStatus::kAccepted));
  EXPECT_EQ(service_->info(*model).version, info.version + closes.size());
  const Findings found = reopened(true);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, GetsReadyByItselfWhenThereIsRoom) {
  story_ = traffic("t", 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // it has nothing left to write
  vfs_.set_room(0);
  Story full = traffic("full", 20);
  ASSERT_NE(service_->not_ready(), "");
  // Still full, and no one asks: it does not claim to be well.
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  EXPECT_NE(service_->not_ready(), "");
  vfs_.set_room({});
  // Who watches it sends nothing until it is ready.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!service_->not_ready().empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(service_->not_ready(), "");
}

TEST_F(DiskFull, AStoreThatWasFullWhenItStoppedOpensAgain) {
  story_ = traffic("t");
  vfs_.set_room(5000);
  story_.add(traffic("full"));
  service_.reset();
  vfs_.set_room({});
  const Findings found = check_store(
      {.db = db(), .vfs = vfs_.name(), .ranks_survive = true, .refused_are_none = true}, story_);
  EXPECT_TRUE(found.none()) << found.text();
}

TEST_F(DiskFull, CheckRejectsARefusalThatWasKept) {
  Story told = traffic("t");
  ASSERT_FALSE(told.acknowledged.empty());
  told.refused.push_back(told.acknowledged.front());
  story_ = told;
  EXPECT_GT(reopened(true).refused_but_there, 0U);
}

using FailingSync = FailingDisk;

TEST_F(FailingSync, RefusesFeedbackAndLaterFeedbackIsDurable) {
  std::uint64_t refusals = 0;
  for (int times = 0; times < 10; ++times) {
    const std::string number = std::to_string(times);
    vfs_.fail_syncs(static_cast<std::uint64_t>(times) + 1);
    Story failing = traffic("failing" + number, 30);
    expect_unavailable(failing);
    refusals += failing.refusals.size();
    vfs_.fail_syncs(0);
    Story after = traffic("after" + number, 20);
    EXPECT_TRUE(after.refusals.empty()) << after.refusals.front().message;
    story_.add(std::move(failing));
    story_.add(std::move(after));
  }
  EXPECT_GT(refusals, 10U);
  EXPECT_GT(vfs_.failed_syncs(), 10U);
  vfs_.lose_power();
  for (const Holds holds : {Holds::kWritten, Holds::kSynced, Holds::kSome}) {
    const Findings found = on_a_disk(holds, false);
    EXPECT_TRUE(found.none()) << found.text();
  }
}

// The power goes while the service makes good what a failed sync left in doubt. Every operation
// on the way is tried.
TEST(FailingSyncThenPowerLoss, LosesNothingAtAnyMoment) {
  std::uint64_t acknowledged = 0;
  for (std::uint64_t operations = 0; operations < 200; operations += operations < 40 ? 1 : 8) {
    FaultVfs vfs;
    const TemporaryFolder folder;
    serving::ServiceOptions options;
    options.db = folder / "store.db";
    options.vfs = vfs.name();
    auto opened = Service::open(options);
    ASSERT_TRUE(opened.ok());
    make_models(**opened);
    TrafficOptions traffic;
    traffic.name = "before";
    traffic.threads = 2;
    traffic.steps = 12;
    traffic.over = [&] { return vfs.power_lost(); };
    Story story = run_traffic(**opened, traffic);
    {
      // The log of writes holds nothing but what is now to come.
      auto other = store::Database::open(options.db, store::Database::Access::kWrite, vfs.name());
      ASSERT_TRUE(other->run("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    }
    traffic.name = "begun";  // by ranks alone: the next commit does not begin it
    traffic.threads = 1;
    traffic.steps = 2;
    story.add(run_traffic(**opened, traffic));
    traffic.name = "failing";
    traffic.seed = 2;
    traffic.threads = 3;
    vfs.fail_syncs(1);
    std::atomic<bool> failed{false};
    traffic.over = [&] {
      if (vfs.failed_syncs() > 0 && !failed.exchange(true)) vfs.lose_power_after(operations);
      return vfs.power_lost();
    };
    traffic.steps = 80;
    story.add(run_traffic(**opened, traffic));
    if (!vfs.power_lost()) vfs.lose_power();
    story.models = {"linear", "network"};
    story.answered.clear();
    acknowledged += story.acknowledged.size();
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const TemporaryFolder image;
      vfs.write_image(image.path(), seed == 0 ? Holds::kSynced : Holds::kSome, seed);
      const FaultVfs reading;
      const Findings found = check_store({.db = image / "store.db", .vfs = reading.name()}, story);
      EXPECT_TRUE(found.none()) << operations << " operations after the failure, disk " << seed
                                << "\n"
                                << found.text();
    }
  }
  EXPECT_GT(acknowledged, 100U);
}

}  // namespace
}  // namespace plackett::testing
