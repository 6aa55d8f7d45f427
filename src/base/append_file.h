// An append-only file of records. Each record is in the file as a whole or not at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "plackett/result.h"

namespace plackett {

// Appends to an existing file. A record is one write, so a process that is killed leaves whole
// records behind. Records reach the disk within `sync_every` of the next append, so a machine that
// fails loses at most that much and may tear the last records. One thread at a time.
class AppendFile {
 public:
  static Result<AppendFile> open(const std::filesystem::path& path,
                                 std::chrono::milliseconds sync_every);

  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  // If the disk is full or fails, removes what was written of the record.
  Result<void> append(std::string_view record);
  Result<void> sync();

 private:
  AppendFile() = default;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::chrono::milliseconds sync_every_{0};
  std::chrono::steady_clock::time_point synced_;
};

}  // namespace plackett
