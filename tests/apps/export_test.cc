// plackett export as a user meets it. What it gives is tested in tests/python/test_log.py too.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>

#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::run_command;
using ::testing::StartsWith;

class ExportCommand : public ::testing::Test {
 protected:
  // A store of version 1, which needs no server to be made.
  void SetUp() override {
    run("PRAGMA page_size=8192");
    run(testing::slurp(std::string(PLACKETT_SOURCE_DIR) + "/tests/golden/store_v1.sql"));
  }
  void run(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(db_.c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(handle);
  }

  testing::TemporaryFolder folder_;
  std::string db_ = folder_ / "old.db";
};

TEST_F(ExportCommand, WritesARowPerShownItem) {
  const auto done = run_command("export --db '" + db_ + "'");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1 + 12 * 3);
  EXPECT_THAT(done.out, StartsWith("model,impression,time,version,arm,experiment,unit,item,"
                                   "rank,score,propensity,pinned,clicked,viewed,reward,keep,kept,"
                                   "context\n"));
  EXPECT_THAT(done.out, HasSubstr("\nshop,own-3,"));
  const auto later = run_command("export --from 11 --db '" + db_ + "' --format jsonl");
  EXPECT_EQ(std::count(later.out.begin(), later.out.end(), '\n'), 3);
  const auto features = run_command("export --features --from 11 --db '" + db_ + "'");
  EXPECT_THAT(features.out, HasSubstr(",context,price,age,stock\n"));
}

TEST_F(ExportCommand, QuotesInCsvAndChangesNothing) {
  run("UPDATE impressions SET given = 'a' || char(9, 1) || 'b' WHERE id & 255 = 3");
  run("UPDATE impressions SET given = 'c' || char(13, 10) || '\"d\",' WHERE id & 255 = 4");
  const auto done = run_command("export --db '" + db_ + "'");
  EXPECT_THAT(done.out, HasSubstr("\nshop,a\t\1b,20"));
  EXPECT_THAT(done.out, HasSubstr("\nshop,\"c\r\n\"\"d\"\",\",20"));
}

TEST_F(ExportCommand, SaysWhereToContinueAndStopsBeforeAListThatMayBeOnItsWay) {
  const std::string command = "export --format jsonl --db '" + db_ + "'";
  const auto lists = [](const std::string& out) {
    return std::count(out.begin(), out.end(), '\n') / 3;
  };
  EXPECT_EQ(run_command(command).err, "");
  EXPECT_EQ(run_command(command + " --from 4").err, "shop: continue with --from i-12\n");
  EXPECT_EQ(run_command(command + " --from 12").err, "shop: continue with --from i-12\n");
  EXPECT_EQ(run_command(command + " --from 40").err,
            "shop: no list was ever shown with a number from i-12 on; is i-40 of another store?\n"
            "shop: continue with --from i-40\n");
  // One is missing, and the next was stored just now.
  run("DELETE FROM impressions WHERE id & 255 = 5");
  run("UPDATE impressions SET shown_at = strftime('%s', 'now') * 1000");
  const auto first = run_command(command);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.err,
            "shop: continue with --from i-5; the lists behind it wait for one that may still be on "
            "its way\n");
  EXPECT_EQ(lists(first.out), 5);
  EXPECT_EQ(lists(run_command(command + " --from i-5").out), 0);
  // Others were stored long after, or a long silence: it never comes.
  run("UPDATE impressions SET shown_at = shown_at - 11000 WHERE id & 255 <= 6");
  const auto second = run_command(command + " --from i-5");
  EXPECT_EQ(second.err, "shop: continue with --from i-12\n");
  EXPECT_EQ(lists(second.out), 6);
  run("UPDATE impressions SET shown_at = (strftime('%s', 'now') - 601) * 1000");
  EXPECT_EQ(lists(run_command(command).out), 11);
}

TEST_F(ExportCommand, WritesToAFileAndNeverOverTheStore) {
  const std::string out = folder_ / "log.csv";
  EXPECT_EQ(run_command("export --db '" + db_ + "' --out '" + out + "'").exit_code, 0);
  EXPECT_EQ(testing::slurp(out), run_command("export --db '" + db_ + "'").out);
  const auto over = run_command("export --db '" + db_ + "' --out '" + db_ + "'");
  EXPECT_EQ(over.exit_code, 2);
  EXPECT_THAT(over.err, HasSubstr("are the same file"));
}

TEST_F(ExportCommand, SaysWhatIsWrong) {
  EXPECT_THAT(run_command("export --db '" + db_ + "' --model none").err,
              HasSubstr("old.db: no model \"none\""));
  EXPECT_THAT(run_command("export --db '" + db_ + "' --from x").err,
              HasSubstr("--from x: expected an impression"));
  EXPECT_THAT(run_command("export --db '" + db_ + "' --format xml").err, HasSubstr("xml"));
  EXPECT_THAT(run_command("export --db '" + (folder_ / "none.db") + "'").err,
              HasSubstr("none.db: can't open"));
}

TEST_F(ExportCommand, LeavesOutWhatIsDamagedAndSaysSo) {
  run("UPDATE impressions SET data = x'0102' WHERE id & 255 = 4");
  const auto done = run_command("export --db '" + db_ + "'");
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.err, HasSubstr("1 impression in"));
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 1 + 11 * 3);
}

TEST_F(ExportCommand, FitNeedsListsThatWereGiven) {
  const auto done =
      run_command("fit --db '" + db_ + "' --save-model '" + (folder_ / "m.plk") + "'");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("has shown no list with \"mode\": \"given\""));
  EXPECT_EQ(run_command("fit --save-model '" + (folder_ / "m.plk") + "'").exit_code, 2);
}

}  // namespace
}  // namespace plackett
