#include "fault_vfs.h"

#include <gtest/gtest.h>

#include "store/sqlite/database.h"
#include "support/run_command.h"

namespace plackett::testing {
namespace {

using store::Database;
using Holds = FaultVfs::Holds;

Database open(const FaultVfs& vfs, const std::string& path) {
  auto database = Database::open(path, Database::Access::kWrite, vfs.name());
  EXPECT_TRUE(database.ok());
  EXPECT_TRUE(
      database
          ->script("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE IF NOT "
                   "EXISTS t(x)")
          .ok());
  return std::move(database).value();
}

std::int64_t rows_in(const FaultVfs& vfs, Holds holds, std::uint64_t seed = 0) {
  const TemporaryFolder folder;
  vfs.write_image(folder.path(), holds, seed);
  auto database = Database::open(folder / "db", Database::Access::kWrite);
  const auto count = database->integer("SELECT count(*) FROM t");
  return count ? *count : -1;
}

void insert(Database& database, int rows) {
  for (int row = 0; row < rows; ++row) {
    ASSERT_TRUE(database.script("INSERT INTO t VALUES(zeroblob(3000))").ok());
  }
}

TEST(FaultVfs, KeepsWhatWasSyncedAndLosesTheRest) {
  FaultVfs vfs;
  const TemporaryFolder folder;
  Database database = open(vfs, folder / "db");
  insert(database, 3);
  ASSERT_TRUE(database.script("PRAGMA wal_checkpoint").ok());
  insert(database, 4);
  vfs.lose_power();
  insert(database, 5);
  EXPECT_EQ(rows_in(vfs, Holds::kSynced), 3);
  EXPECT_EQ(rows_in(vfs, Holds::kWritten), 7);
}

TEST(FaultVfs, DisksThatHoldSomeDifferBySeedAlone) {
  FaultVfs vfs;
  const TemporaryFolder folder;
  Database database = open(vfs, folder / "db");
  ASSERT_TRUE(database.script("PRAGMA wal_checkpoint").ok());
  insert(database, 6);
  vfs.lose_power();
  std::vector<std::int64_t> counts(7);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::int64_t rows = rows_in(vfs, Holds::kSome, seed);
    ASSERT_GE(rows, 0);
    ++counts[static_cast<std::size_t>(rows)];
    EXPECT_EQ(rows_in(vfs, Holds::kSome, seed), rows);
  }
  for (const std::int64_t count : counts) EXPECT_GT(count, 0) << "every prefix comes up";
}

TEST(FaultVfs, LosesPowerAtTheOperationThatWasNamed) {
  std::int64_t before = 0;
  for (std::uint64_t operations = 0; operations < 30; ++operations) {
    FaultVfs vfs;
    const TemporaryFolder folder;
    Database database = open(vfs, folder / "db");
    ASSERT_TRUE(database.script("PRAGMA wal_checkpoint").ok());
    vfs.lose_power_after(operations);
    insert(database, 12);
    ASSERT_TRUE(vfs.power_lost());
    const std::int64_t rows = rows_in(vfs, Holds::kWritten);
    EXPECT_GE(rows, before);
    before = rows;
  }
  EXPECT_GT(before, 1);
  EXPECT_LT(before, 12);
}

TEST(FaultVfs, AFullDiskRefusesWhatGrowsUntilThereIsRoom) {
  FaultVfs vfs;
  const TemporaryFolder folder;
  Database database = open(vfs, folder / "db");
  insert(database, 1);
  vfs.set_room(1000);
  EXPECT_FALSE(database.script("INSERT INTO t VALUES(zeroblob(30000))").ok());
  EXPECT_GT(vfs.refused_writes(), 0U);
  vfs.set_room({});
  insert(database, 1);
  vfs.lose_power();
  EXPECT_EQ(rows_in(vfs, Holds::kWritten), 2);
}

TEST(FaultVfs, WhatAFailedSyncWasForIsLostThoughTheNextGoesWell) {
  FaultVfs vfs;
  const TemporaryFolder folder;
  Database database = open(vfs, folder / "db");
  ASSERT_TRUE(database.script("PRAGMA wal_checkpoint; PRAGMA synchronous=FULL").ok());
  insert(database, 2);
  vfs.fail_syncs(1);
  EXPECT_FALSE(database.script("INSERT INTO t VALUES(1)").ok());
  EXPECT_EQ(vfs.failed_syncs(), 1U);
  vfs.lose_power();
  EXPECT_EQ(rows_in(vfs, Holds::kSynced), 2);
}

TEST(FaultVfs, ASyncThatLiesKeepsNothing) {
  FaultVfs vfs;
  const TemporaryFolder folder;
  Database database = open(vfs, folder / "db");
  ASSERT_TRUE(database.script("PRAGMA wal_checkpoint; PRAGMA synchronous=FULL").ok());
  vfs.lie_about_syncs(true);
  insert(database, 2);
  vfs.lose_power();
  EXPECT_EQ(rows_in(vfs, Holds::kSynced), 0);
}

}  // namespace
}  // namespace plackett::testing
