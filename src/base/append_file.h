// A log of records: each is in the file completely, or not at all.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "plackett/result.h"

namespace plackett {

// Appends to an existing file. A record is one write, so a process that is killed leaves whole
// records behind; it reaches the disk within `sync_every` of the next append, so a machine that
// fails loses at most that much and may tear the last records. One thread at a time.
class AppendFile {
 public:
  static Result<AppendFile> open(const std::filesystem::path& path,
                                 std::chrono::milliseconds sync_every);

  // If the disk is full or fails, removes the part of the record that was written.
  Result<void> append(std::string_view record);
  Result<void> sync();

 private:
  AppendFile() = default;

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::chrono::milliseconds sync_every_{0};
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace plackett
