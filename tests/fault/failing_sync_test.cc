// A disk whose syncs fail: requests are refused, and those answered later are durable.
#include <gtest/gtest.h>

#include "failing_disk.h"
#include "store/sqlite/database.h"

namespace plackett::testing {
namespace {

using serving::Service;
using Holds = FaultVfs::Holds;

using FailingSync = FailingDisk;

TEST_F(FailingSync, RefusesRequestsAndLaterOnesAreDurable) {
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
  const Findings found = reopened(true);
  EXPECT_TRUE(found.none()) << found.text();
}

// One sync fails, and power is lost so many operations later.
class FailureThenPowerLoss {
 public:
  // `begun`: the write-ahead log holds something when the sync fails. `checkpoint_pages`: small,
  // so that checkpoints' syncs fail too.
  FailureThenPowerLoss(std::uint64_t operations, bool begun, int checkpoint_pages) {
    const store::SqliteOptions options{
        .path = folder_ / "store.db", .vfs = vfs_.name(), .checkpoint_pages = checkpoint_pages};
    auto opened = open_service(options);
    EXPECT_TRUE(opened.ok());
    make_models(**opened);
    story_.models = {"linear", "network"};
    run(**opened, "before", 12);
    {
      // The file holds everything, and the log nothing that could repair it.
      auto other =
          store::Database::open(options.path, store::Database::Access::kWrite, vfs_.name());
      EXPECT_TRUE(other->script("PRAGMA wal_checkpoint(TRUNCATE)").ok());
    }
    if (begun) run(**opened, "begun", 2);
    vfs_.fail_syncs(1, operations);
    const std::size_t before = story_.acknowledged.size();
    run(**opened, "failing", 60);
    acknowledged_after_ = story_.acknowledged.size() - before;
    if (!vfs_.power_lost()) vfs_.lose_power();
  }

  [[nodiscard]] std::uint64_t acknowledged_after() const { return acknowledged_after_; }

  Findings on_a_disk(Holds holds, std::uint64_t seed) const {
    const TemporaryFolder image;
    vfs_.write_image(image.path(), holds, seed);
    const FaultVfs reading;
    return check_store({.db = image / "store.db", .vfs = reading.name(), .ranks_survive = true},
                       story_);
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
  const std::pair<bool, int> cases[] = {{true, 1000}, {false, 1000}, {true, 6}};
  for (const auto& [begun, checkpoint_pages] : cases) {
    for (std::uint64_t operations = 0; operations < 300; operations += operations < 40 ? 1 : 12) {
      const FailureThenPowerLoss lost(operations, begun, checkpoint_pages);
      acknowledged += lost.acknowledged_after();
      for (std::uint64_t disk = 0; disk < 5; ++disk) {
        const Findings found = lost.on_a_disk(disk == 0 ? Holds::kSynced : Holds::kSome, disk);
        ASSERT_TRUE(found.none()) << operations << " operations after the failure, disk " << disk
                                  << ", checkpoints of " << checkpoint_pages << "\n"
                                  << found.text();
      }
    }
  }
  EXPECT_GT(acknowledged, 100U) << "the service continued";
}

}  // namespace
}  // namespace plackett::testing
