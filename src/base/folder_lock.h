// One process at a time in a folder.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace plackett {

// Held as long as it lives; the system lets go of it when the process ends, however it ends.
class FolderLock {
 public:
  // Takes flock(2) on the file ".lock" in `folder`, which is made and stays. Fails at once where
  // another process holds it. On file systems without locks nothing is locked.
  static Result<FolderLock> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  FolderLock() = default;

  int descriptor_ = -1;
};

}  // namespace plackett
