// Results files with any checksums: what is accepted is written as it was read.
#include <cstdlib>
#include <string_view>

#include "experiment/runs_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = plackett::parse_runs(text, {.name = "input", .check = false});
  if (!file) {
    require(!file.error().message.empty());
    return 0;
  }
  require(file->runs.size() == file->line_of_runs.size());
  std::string again = plackett::to_line(file->header);
  for (const auto& run : file->runs) again += plackett::to_line(run);
  const auto second = plackett::parse_runs(again, {.name = "again"});
  require(second.ok() && second->damaged.empty());
  require(second->runs.size() == file->runs.size());
  return 0;
}
