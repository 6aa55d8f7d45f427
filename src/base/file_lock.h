// A lock on a folder or a file: one process at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "plackett/result.h"

namespace plackett {

// What identifies a file, whatever its names; zeros if there is none.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t number = 0;

  static FileId of(const std::filesystem::path& file);
  static FileId of(const Descriptor& file);
  bool operator==(const FileId&) const = default;
};

// Held until it is destroyed; the system releases it when the process ends, however it ends.
class FileLock {
 public:
  // Takes flock(2) on a regular file, which is created if there is none, and stays: whatever name
  // leads to the file, it is the same lock. Fails at once, with kConflict and the message `busy`,
  // if another process holds it. On file systems without locks nothing is locked.
  static Result<FileLock> take(const std::filesystem::path& file, const std::string& busy);
  // On the file ".lock" in a folder. Waits up to `patience` for another process to release it.
  static Result<FileLock> take_folder(const std::filesystem::path& folder,
                                      std::chrono::milliseconds patience);

  [[nodiscard]] FileId file() const { return FileId::of(descriptor_); }
  // False on file systems without locks.
  [[nodiscard]] bool excludes_others() const { return excludes_others_; }

 private:
  FileLock() = default;

  Descriptor descriptor_;
  bool excludes_others_ = true;
};

}  // namespace plackett
