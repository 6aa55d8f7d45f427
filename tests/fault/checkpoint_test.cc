// The writer checkpoints the write-ahead log between transactions, in small parts.
#include <gtest/gtest.h>

#include <filesystem>

#include "store_check.h"
#include "support/run_command.h"
#include "traffic.h"

namespace plackett::testing {
namespace {

TEST(Checkpoints, AfterEveryCommitLoseNothing) {
  const TemporaryFolder folder;
  const store::SqliteOptions options{.path = folder / "store.db", .checkpoint_pages = 1};
  Story story;
  {
    auto opened = open_service(options, 50);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    make_models(**opened);
    story.models = {"linear", "network"};
    for (int round = 0; round < 60; ++round) {
      TrafficOptions traffic;
      traffic.seed = static_cast<std::uint64_t>(round) + 1;
      traffic.name = "r" + std::to_string(round);
      traffic.steps = 20;
      story.add(run_traffic(**opened, traffic));
    }
    EXPECT_GT(std::filesystem::file_size(options.path), 1U << 20U) << "no checkpoint was made";
    EXPECT_LT(std::filesystem::file_size(options.path.string() + "-wal"), 4U << 20U)
        << "the write-ahead log was never reset";
  }
  EXPECT_TRUE(story.refusals.empty());
  EXPECT_FALSE(std::filesystem::exists(options.path.string() + "-wal")) << "after a clean stop";
  const Findings found = check_store(
      {.db = options.path, .vfs = "", .ranks_survive = true, .refused_are_none = true}, story);
  EXPECT_TRUE(found.none()) << found.text();
}

}  // namespace
}  // namespace plackett::testing
