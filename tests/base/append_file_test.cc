#include "base/append_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "base/file_lock.h"
#include "support/run_command.h"

namespace plackett {
namespace {

using ::testing::HasSubstr;
using testing::slurp;
using testing::TemporaryFolder;

constexpr std::chrono::milliseconds kEveryTime(0);

TEST(AppendFile, AddsRecordsBehindWhatIsThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "log") << "one\n";
  {
    AppendFile file = AppendFile::open(folder / "log", kEveryTime).value();
    EXPECT_TRUE(file.append("two\n").ok());
    EXPECT_TRUE(file.append("three\n").ok());
    EXPECT_TRUE(file.sync().ok());
  }
  EXPECT_EQ(slurp(folder / "log"), "one\ntwo\nthree\n");
}

TEST(AppendFile, TakesBackARecordThatDoesNotFit) {
  const TemporaryFolder folder;
  std::ofstream(folder / "log") << "one\n";
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 10;
  AppendFile file = AppendFile::open(folder / "log", kEveryTime).value();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto fits = file.append("two\n");
  const auto too_long = file.append("three and more\n");  // 2 bytes of it fit
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(fits.ok());
  ASSERT_FALSE(too_long.ok());
  EXPECT_THAT(too_long.error().message, HasSubstr("log: can't write: File too large"));
  EXPECT_EQ(slurp(folder / "log"), "one\ntwo\n");
}

TEST(AppendFile, SaysSoWhereTheDiskIsFullOrTheFileAbsent) {
  AppendFile full = AppendFile::open("/dev/full", kEveryTime).value();
  EXPECT_THAT(full.append("x").error().message,
              HasSubstr("/dev/full: can't write: No space left on device"));
  EXPECT_THAT(AppendFile::open("/nowhere/log", kEveryTime).error().message,
              HasSubstr("/nowhere/log: can't open"));
}

TEST(FileLock, IsHeldByOneAtATime) {
  constexpr std::chrono::milliseconds kAtOnce(0);
  const TemporaryFolder folder;
  {
    const auto first = FileLock::take_folder(folder.path(), kAtOnce);
    ASSERT_TRUE(first.ok());
    EXPECT_FALSE(FileLock::take_folder(folder.path(), kAtOnce).ok());
  }
  EXPECT_TRUE(FileLock::take_folder(folder.path(), kAtOnce).ok());
  EXPECT_FALSE(FileLock::take_folder("/nowhere", kAtOnce).ok());
}

}  // namespace
}  // namespace plackett
