#include "base/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/run_command.h"

namespace plackett {
namespace {

using testing::TemporaryFolder;

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(AvailableMemory, IsTheMachinesShare) {
  const TemporaryFolder root;
  write(root / "proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 750 kB\n");
  EXPECT_EQ(available_memory(root / ""), 0.75);
  write(root / "sys/fs/cgroup/memory.max", "max\n");
  write(root / "sys/fs/cgroup/memory.current", "900\n");
  EXPECT_EQ(available_memory(root / ""), 0.75);
}

TEST(AvailableMemory, IsTheContainersIfThatIsLess) {
  const TemporaryFolder root;
  write(root / "proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 750 kB\n");
  write(root / "sys/fs/cgroup/memory.max", "4000\n");
  write(root / "sys/fs/cgroup/memory.current", "3000\n");
  EXPECT_EQ(available_memory(root / ""), 0.25);
  write(root / "sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(available_memory(root / ""), 0.75);
  write(root / "sys/fs/cgroup/memory.current", "5000\n");
  EXPECT_EQ(available_memory(root / ""), 0);
}

TEST(AvailableMemory, IsNoneWhereItCannotBeKnown) {
  const TemporaryFolder root;
  EXPECT_EQ(available_memory(root / ""), 0);
  write(root / "proc/meminfo", "MemTotal: 0 kB\nMemAvailable: x kB\n");
  EXPECT_EQ(available_memory(root / ""), 0);
  EXPECT_GT(available_memory(), 0);
}

}  // namespace
}  // namespace plackett
