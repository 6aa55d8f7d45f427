#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace plackett {
namespace {

// The number after `name` in a file, or its first word if `name` is empty.
std::optional<double> number_in(const std::filesystem::path& path, const std::string& name) {
  std::ifstream file(path);
  std::string word = name;
  while (!name.empty() && file >> word && word != name) {
  }
  double number = 0;
  if (word == name && file >> number) return number;
  return {};
}

}  // namespace

double available_memory(const std::filesystem::path& root) {
  const std::filesystem::path machine = root / "proc/meminfo";
  const auto total = number_in(machine, "MemTotal:");
  const auto available = number_in(machine, "MemAvailable:");
  if (!total || !available || !(*total > 0)) return 0;
  const double share = *available / *total;
  // No number if there is no limit.
  const auto most = number_in(root / "sys/fs/cgroup/memory.max", "");
  const auto used = number_in(root / "sys/fs/cgroup/memory.current", "");
  if (!most || !used || !(*most > 0)) return share;
  return std::clamp(1 - *used / *most, 0.0, share);
}

}  // namespace plackett
