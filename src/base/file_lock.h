// A lock on a folder or a file: one process at a time.
#pragma once

#include <filesystem>
#include <string>

#include "plackett/result.h"

namespace plackett {

// Held as long as the object lives. The system releases it however the process ends.
class FileLock {
 public:
  // Takes flock(2) on `file`, which is created if missing and stays. Fails at once, with `busy`, if
  // another process holds it. On file systems without locks nothing is locked.
  static Result<FileLock> take(const std::filesystem::path& file, const std::string& busy);
  // On the file ".lock" in a folder.
  static Result<FileLock> take_folder(const std::filesystem::path& folder);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  FileLock() = default;

  int descriptor_ = -1;
};

}  // namespace plackett
