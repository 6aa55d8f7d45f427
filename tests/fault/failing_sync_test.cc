// A disk whose syncs fail: feedback is refused, and what is acknowledged later does not rest on it.
#include <gtest/gtest.h>

#include "failing_disk.h"
#include "store/sqlite.h"

namespace plackett::testing {
namespace {

using serving::Service;
using Holds = FaultVfs::Holds;

using FailingSync = FailingDisk;

TEST_F(FailingSync, RefusesFeedbackAndLaterFeedbackIsDurable) {
  std::uint64_t refusals = 0;
  for (int times = 0; times < 8; ++times) {
    const std::string number = std::to_string(times);
    vfs_.fail_syncs(static_cast<std::uint64_t>(times) + 1);
    Story failing = traffic("failing" + number, 20);
    expect_unavailable(failing);
    refusals += failing.refusals.size();
    vfs_.fail_syncs(0);
    Story after = traffic("after" + number, 10);
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

// One sync fails and the power goes so many operations later.
class FailureThenPowerLoss {
 public:
  // `begun`: the log of writes holds something when the sync fails; else it is the one that SQLite
  // itself makes where the log begins.
  FailureThenPowerLoss(std::uint64_t operations, bool begun) {
    serving::ServiceOptions options;
    options.db = folder_ / "store.db";
    options.vfs = vfs_.name();
    auto opened = Service::open(options);
    EXPECT_TRUE(opened.ok());
    make_models(**opened);
    story_.models = {"linear", "network"};
    run(**opened, "before", 12);
    {
      // The file holds all, and the log nothing that could repair it.
      auto other = store::Database::open(options.db, store::Database::Access::kWrite, vfs_.name());
      EXPECT_TRUE(other->run("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    }
    if (begun) run(**opened, "begun", 2);
    vfs_.fail_syncs(1, operations);
    const std::size_t before = story_.acknowledged.size();
    run(**opened, "failing", 60);
    acknowledged_after_ = story_.acknowledged.size() - before;
    if (!vfs_.power_lost()) vfs_.lose_power();
    story_.answered.clear();
  }

  [[nodiscard]] std::uint64_t acknowledged_after() const { return acknowledged_after_; }

  Findings on_a_disk(Holds holds, std::uint64_t seed) const {
    const TemporaryFolder image;
    vfs_.write_image(image.path(), holds, seed);
    const FaultVfs reading;
    return check_store({.db = image / "store.db", .vfs = reading.name()}, story_);
  }

 private:
  void run(Service& service, const std::string& name, std::uint32_t steps) {
    TrafficOptions traffic;
    traffic.seed = steps;
    traffic.name = name;
    traffic.steps = steps;
    traffic.over = [this] { return vfs_.power_lost(); };
    story_.add(run_traffic(service, traffic));
  }

  FaultVfs vfs_;
  TemporaryFolder folder_;
  Story story_;
  std::uint64_t acknowledged_after_ = 0;
};

TEST(FailingSyncThenPowerLoss, LosesNothingAtAnyMoment) {
  std::uint64_t acknowledged = 0;
  for (const bool begun : {true, false}) {
    for (std::uint64_t operations = 0; operations < 300; operations += operations < 40 ? 1 : 12) {
      const FailureThenPowerLoss lost(operations, begun);
      acknowledged += lost.acknowledged_after();
      for (std::uint64_t disk = 0; disk < 5; ++disk) {
        const Findings found = lost.on_a_disk(disk == 0 ? Holds::kSynced : Holds::kSome, disk);
        ASSERT_TRUE(found.none()) << operations << " operations after the failure, disk " << disk
                                  << "\n"
                                  << found.text();
      }
    }
  }
  EXPECT_GT(acknowledged, 100U) << "it went on";
}

}  // namespace
}  // namespace plackett::testing
