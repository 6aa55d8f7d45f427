// A lock on a folder or a file: one process at a time.
#pragma once

#include <filesystem>
#include <string>

#include "base/file.h"
#include "plackett/result.h"

namespace plackett {

// Held until it is destroyed; the system releases it when the process ends, however it ends.
class FileLock {
 public:
  // Takes flock(2) on `file`, which is created and stays. Fails at once, with kConflict and the
  // message `busy`, if another process holds it. On file systems without locks nothing is locked.
  static Result<FileLock> take(const std::filesystem::path& file, const std::string& busy);
  // On the file ".lock" in a folder.
  static Result<FileLock> take_folder(const std::filesystem::path& folder);

 private:
  FileLock() = default;

  Descriptor descriptor_;
};

}  // namespace plackett
